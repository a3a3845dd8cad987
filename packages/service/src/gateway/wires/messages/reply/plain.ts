import type { ReplyCall, ToldUsage } from '#gateway/call/wire.ts';
import type { Echo } from '#gateway/wires/messages/conversation/echo.ts';
import { createBlocks } from '#gateway/wires/messages/blocks/blocks.ts';
import { messageHead, NO_STOP, stopOf, wholeUsage } from '#gateway/wires/messages/reply/message.ts';
import { type BlockSink, DELTAS } from '#gateway/wires/messages/blocks/sink.ts';
import { createOutputReader, type OutputPart, type Thought } from '#gateway/output/output-parts.ts';
import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';
import type { Completion } from '#providers/port/completion.ts';
import { closeTruncatedJson } from '#providers/answers/truncated-json.ts';

/** A whole Message. */
export function plainReply(call: ReplyCall, { choices, native }: Completion, usage: ToldUsage, echo: Echo): JsonObject {
  if (native !== undefined) return { ...messageHead(call), ...NO_STOP, ...native, usage: wholeUsage(usage) };
  const [choice] = choices;
  const { sink, content } = createContent();
  const blocks = createBlocks(sink, echo);
  for (const said of inPlaces(createOutputReader()(choice?.message ?? {}))) blocks.take(said);
  blocks.end();
  const stop = stopOf(
    {
      reason: choice?.finish_reason ?? null,
      sequence: choice?.['stop_reason'],
      hasCalls: blocks.hasCalls(),
      hasRefused: blocks.hasRefused(),
    },
    echo,
  );
  return { ...messageHead(call), content: content(), ...stop, usage: wholeUsage(usage) };
}

/**
 * What was said, with each thought in its place: a message has its thoughts, texts and calls apart, and only thoughts know where they
 * stood among the blocks of the answer.
 */
function inPlaces(said: readonly OutputPart[]): readonly OutputPart[] {
  const others = said.filter((one) => one.kind !== 'thought');
  const placed: OutputPart[] = [];
  let [next, blocks] = [0, 0];
  let newest: Thought | undefined;

  /** Citations go with the text before them. */
  function placeOthers(upTo: number): void {
    for (let other = others[next]; other !== undefined; other = others[next]) {
      const isBlock = other.kind !== 'citation';
      if (isBlock && blocks >= upTo) return;
      if (isBlock) blocks += 1;
      placed.push(other);
      next += 1;
    }
  }

  for (const thought of said) {
    if (thought.kind !== 'thought') continue;
    const { key } = thought;
    if (newest === undefined || newest.key !== key) {
      placeOthers(typeof key === 'number' ? key : 0);
      blocks += 1;
    }
    newest = thought;
    placed.push(thought);
  }
  placeOthers(Number.POSITIVE_INFINITY);
  return placed;
}

/** Puts blocks together that say nothing until they are whole. */
function createContent(): { readonly sink: BlockSink; readonly content: () => readonly JsonObject[] } {
  const blocks: { head: JsonObject; readonly text: string[]; readonly citations: JsonObject[] }[] = [];
  return {
    sink: {
      begin: (index, head) => {
        blocks[index] = { head, text: [], citations: [] };
        return '';
      },
      text: (index, _, text) => {
        blocks[index]?.text.push(text);
        return '';
      },
      sign: (index, signature) => {
        const block = blocks[index];
        if (block !== undefined) block.head = { ...block.head, signature };
        return '';
      },
      cite: (index, citation) => {
        blocks[index]?.citations.push(citation);
        return '';
      },
      end: () => '',
    },
    content: () =>
      blocks.map(({ head, text, citations }) => {
        const { type } = head;
        if (type === 'tool_use') return { ...head, input: inputOf(text.join('')) };
        if (type === 'redacted_thinking') return head;
        const member = DELTAS[type === 'text' ? 'text' : 'thinking'].member;
        return { ...head, [member]: text.join(''), ...(citations.length > 0 && { citations }) };
      }),
  };
}

/** The arguments of a call as an object. Those of an answer that was cut are what there is of them. */
function inputOf(words: string): JsonObject {
  const input = parseJson(words) ?? parseJson(closeTruncatedJson(words));
  return isJsonObject(input) ? input : {};
}
