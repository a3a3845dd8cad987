import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';
import { createUsage, saysAnything, usageOfWhole } from '#providers/anthropic/usage.ts';
import { isFinished } from '#providers/answers/choice-shape.ts';
import type { AnswerFit } from '#providers/dialect/fit-answer.ts';

/**
 * The events, blocks, deltas and citations that the translation knows. Anthropic adds others without notice and says that clients must
 * ignore them, but its library fails at them. Blocks of tools that run at the vendor are among those: nobody asked for them.
 */
export const EVENTS: ReadonlySet<unknown> = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
  'error',
]);
export const BLOCKS: ReadonlySet<unknown> = new Set(['text', 'thinking', 'redacted_thinking', 'tool_use']);
export const DELTAS: ReadonlySet<unknown> = new Set([
  'text_delta',
  'thinking_delta',
  'signature_delta',
  'input_json_delta',
]);
const CITATIONS: ReadonlySet<unknown> = new Set([
  'web_search_result_location',
  'page_location',
  'char_location',
  'content_block_location',
  'search_result_location',
]);

/** Makes what Anthropic sends readable for its library, and its usage that of the larger report. */
export function createClaudeFit(): AnswerFit {
  const leftOut = new Set<unknown>();
  const usage = createUsage();
  let hasReason = false;
  let hasStopped = false;

  function blockEvents(event: JsonObject): readonly JsonObject[] {
    const { index } = event;
    const block = fieldsIn(event, 'content_block');
    if (!BLOCKS.has(block['type'])) {
      leftOut.add(index);
      return [];
    }
    leftOut.delete(index);
    usage.followText(block);
    return begunBlock(event, block);
  }

  function eventsOf(event: JsonObject): readonly JsonObject[] {
    const { type, index } = event;
    switch (type) {
      case 'message_start': {
        const { id, model, role, usage: told } = fieldsIn(event, 'message');
        return [{ type, message: { id, model, role, usage: usage.first(told) } }];
      }
      case 'content_block_start':
        return blockEvents(event);
      case 'content_block_delta': {
        const delta = fieldsIn(event, 'delta');
        if (leftOut.has(index) || !(DELTAS.has(delta['type']) || isKnownCitation(delta['citation']))) return [];
        usage.followText(delta);
        return [event];
      }
      case 'content_block_stop':
        return leftOut.has(index) ? [] : [event];
      case 'message_delta': {
        const { stop_reason, stop_sequence } = fieldsIn(event, 'delta');
        hasReason ||= isFinished({ finish_reason: stop_reason });
        return [{ type, delta: { stop_reason, stop_sequence }, usage: usage.later(event['usage'], stop_reason) }];
      }
      case 'message_stop':
        hasStopped = true;
        return [event];
      default:
        // Behind a reason and its usage, an error takes nothing back (CC-11).
        return hasReason && usage.isCounted() ? [] : [event];
    }
  }

  return {
    names: EVENTS,
    event: (event) => (hasStopped || isOther(event) ? [] : eventsOf(event)),
    rest: () => {
      if (hasStopped) return [];
      return hasReason ? [{ type: 'message_stop' }] : undefined;
    },
    whole: wholeAnswer,
  };
}

export function wholeAnswer(answer: JsonObject): JsonObject {
  const { type, id, model, role, content, stop_reason, stop_sequence, usage: told } = answer;
  if (!Array.isArray(content)) return answer;
  const blocks = content
    .filter((block) => isJsonObject(block) && BLOCKS.has(block['type']))
    .map(withKnownCitations)
    .map(withInput);
  const isSilent = !blocks.some(saysAnything);
  // An answer that says something and not why it ended is whole all the same: it was billed (CC-11).
  const reason = isSilent || isFinished({ finish_reason: stop_reason }) ? stop_reason : reasonFor(blocks);
  const counted = usageOfWhole(told, reason === 'refusal' && isSilent);
  return { type, id, model, role, content: blocks, stop_reason: reason, stop_sequence, usage: counted };
}

function reasonFor(blocks: readonly JsonObject[]): string {
  return blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
}

/** The library reads no text of a block's beginning, and no arguments that are not an object. */
function begunBlock(event: JsonObject, block: JsonObject): readonly JsonObject[] {
  const { index } = event;
  const { type, text, thinking } = block;
  if (type === 'tool_use') return [{ ...event, content_block: withInput(block) }];
  const delta =
    type === 'text' && text !== ''
      ? { type: 'text_delta', text }
      : type === 'thinking' && thinking !== ''
        ? { type: 'thinking_delta', thinking }
        : undefined;
  if (delta === undefined || !saysAnything(delta)) return [event];
  const empty = type === 'text' ? { text: '' } : { thinking: '' };
  return [
    { ...event, content_block: { ...block, ...empty } },
    { type: 'content_block_delta', index, delta },
  ];
}

/** A call with its arguments as an object. Some servers write them as a text, null or nothing. */
function withInput(block: JsonObject): JsonObject {
  const { type, input } = block;
  if (type !== 'tool_use' || isJsonObject(input)) return block;
  const parsed = typeof input === 'string' ? parseJson(input) : input;
  return { ...block, input: parsed ?? {} };
}

/** Objects without a type are others too, unless they tell of an error. */
export function isOther({ type, error }: JsonObject): boolean {
  return typeof type === 'string' ? !EVENTS.has(type) : error === undefined;
}

function isKnownCitation(citation: unknown): boolean {
  return isJsonObject(citation) && CITATIONS.has(citation['type']);
}

function withKnownCitations(block: JsonObject): JsonObject {
  const { citations } = block;
  return Array.isArray(citations) ? { ...block, citations: citations.filter(isKnownCitation) } : block;
}

export function fieldsIn(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return isJsonObject(value) ? value : {};
}
