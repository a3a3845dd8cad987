import type { Echo } from '#gateway/wires/messages/conversation/echo.ts';
import { callBlock, calledIn } from '#gateway/wires/messages/blocks/calls.ts';
import { citationOf } from '#gateway/wires/messages/blocks/citations.ts';
import { type Block, type BlockQueue, createBlockQueue } from '#gateway/wires/messages/blocks/queue.ts';
import type { BlockSink } from '#gateway/wires/messages/blocks/sink.ts';
import { packed } from '#gateway/wires/messages/conversation/thought-signatures.ts';
import { createThoughts } from '#gateway/wires/messages/blocks/thoughts.ts';
import type { OutputPart, OutputCall } from '#gateway/output/output-parts.ts';
import type { JsonObject } from '#kernel/text/json.ts';

/** The blocks of an answer, made from what a model says. */
export interface Blocks {
  readonly take: (said: OutputPart) => string;
  /** The block that this makes longer by `text`. Undefined if that is not all that it does. */
  readonly blockFor: (said: OutputPart, text: string) => Block | undefined;
  /** Ends all blocks that are open. */
  readonly end: () => string;
  readonly hasCalls: () => boolean;
  readonly hasRefused: () => boolean;
}

export function createBlocks(sink: BlockSink, { thinking, toolNames }: Echo): Blocks {
  const queue = createBlockQueue(sink);
  const thoughts = createThoughts(queue, thinking);
  const calls = createCalls(queue, thoughts.beforeCall, toolNames);
  let hasRefused = false;

  function takeText(text: string): string {
    const begun = thoughts.beforeText();
    const last = queue.last();
    const isOpen = last?.kind === 'text';
    const frames = begun + (isOpen ? '' : queue.begin('text', { type: 'text', text: '', citations: null }));
    return frames + queue.text(queue.last(), text);
  }

  return {
    take: (said) => {
      switch (said.kind) {
        case 'thought':
          return thoughts.take(said);
        case 'citation': {
          const citation = citationOf(said.annotation);
          const last = queue.last();
          return last?.kind === 'text' && citation !== undefined ? queue.cite(last, citation) : '';
        }
        case 'picture':
          // This wire has no block for a picture of an answer, and it is paid for.
          return takeText(`![image](${said.address})`);
        case 'call':
          return calls.take(said);
        case 'refusal':
        case 'text':
          hasRefused ||= said.kind === 'refusal';
          return takeText(said.text);
      }
    },
    blockFor: (said, text) => {
      const only = queue.only();
      if (only === undefined) return undefined;
      switch (said.kind) {
        case 'thought':
          return thoughts.isMore(said, text) ? only : undefined;
        case 'text':
          return said.text === text && only.kind === 'text' ? only : undefined;
        case 'call':
          return calls.isMore(said, text, only) ? only : undefined;
        case 'citation':
        case 'picture':
        case 'refusal':
          return undefined;
      }
    },
    end: () => {
      const frames = thoughts.beforeText() + calls.end() + queue.end();
      thoughts.end();
      return frames;
    },
    hasCalls: calls.hasAny,
    hasRefused: () => hasRefused,
  };
}

/** The calls of an answer. */
function createCalls(queue: BlockQueue, before: () => string, toolNames: Echo['toolNames']) {
  const blocks = new Map<unknown, { readonly block: Block; readonly id: string }>();
  /** What vendors want back with a call, as JSON, and what of it came too late to stand before the call. */
  const extras = new Set<string>();
  const late: JsonObject[] = [];
  let hasAny = false;

  function begin(key: unknown, block: JsonObject & { readonly id: string }): string {
    hasAny = true;
    const frames = queue.begin('tool_use', block);
    const last = queue.last();
    if (last !== undefined) blocks.set(key, { block: last, id: block.id });
    return frames;
  }

  /** The extra of a call, if it has not come before. This wire has no place for it in the call. */
  function extraOf(id: string, extra: JsonObject | undefined): JsonObject | undefined {
    if (extra === undefined) return undefined;
    const detail = { type: 'tool_call.extra_content', id, extra_content: extra };
    const json = JSON.stringify(detail);
    if (extras.has(json)) return undefined;
    extras.add(json);
    return detail;
  }

  return {
    take: (said: OutputCall): string => {
      const called = calledIn(said);
      const { key, words, extra } = called;
      const known = blocks.get(key);
      if (known !== undefined) {
        const detail = extraOf(known.id, extra);
        if (detail !== undefined) late.push(detail);
        return words === '' ? '' : queue.text(known.block, words);
      }
      const block = callBlock(called, toolNames);
      const detail = extraOf(block.id, extra);
      const thoughts = before() + (detail === undefined ? '' : queue.signed(packed([detail])));
      const begun = thoughts + begin(key, block);
      return words === '' ? begun : begun + queue.text(queue.last(), words);
    },
    isMore: (said: OutputCall, text: string, only: Block): boolean => {
      const { key, words, extra } = calledIn(said);
      return words === text && extra === undefined && blocks.get(key)?.block === only;
    },
    end: (): string => {
      blocks.clear();
      return late.length === 0 ? '' : queue.signed(packed(late.splice(0)));
    },
    hasAny: () => hasAny,
  };
}
