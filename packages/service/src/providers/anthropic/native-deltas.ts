import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { BLOCKS, fieldsIn } from '#providers/anthropic/fit.ts';

/** The deltas of blocks that are counted: the member that has their text, and what it is in chat completions. */
const TEXTS: ReadonlyMap<unknown, readonly [member: string, field: string]> = new Map([
  ['text_delta', ['text', 'content']],
  ['thinking_delta', ['thinking', 'reasoning_content']],
]);

/** What the events of one stream say, as deltas of chat completions. They are counted, and nobody is shown them. */
export interface MessageDeltas {
  /** Undefined if the event says nothing that is counted. */
  readonly take: (event: JsonObject) => JsonObject | undefined;
  /** Whether it is about a block that the translation knows. What others have is not counted: nobody asked for them. */
  readonly isKnown: (event: JsonObject) => boolean;
  readonly hasCalls: () => boolean;
}

export function createMessageDeltas(): MessageDeltas {
  /** The numbers of calls by the index of their block. Most answers have none. */
  let calls: Map<unknown, number> | undefined;
  let others: Set<unknown> | undefined;

  function begun({ index, content_block: block }: JsonObject): JsonObject | undefined {
    const { type, text, thinking, id, name, input } = isJsonObject(block) ? block : {};
    others?.delete(index);
    if (type === 'text') return filled('content', text);
    if (type === 'thinking') return filled('reasoning_content', thinking);
    if (!BLOCKS.has(type)) (others ??= new Set()).add(index);
    if (type !== 'tool_use') return undefined;
    calls ??= new Map();
    const place = calls.size;
    calls.set(index, place);
    const called = { name, arguments: wordsOf(input) };
    return { tool_calls: [{ index: place, id, type: 'function', function: called }] };
  }

  function goneOn(event: JsonObject): JsonObject | undefined {
    const delta = fieldsIn(event, 'delta');
    const text = TEXTS.get(delta['type']);
    if (text !== undefined) return filled(text[1], delta[text[0]]);
    const { index } = event;
    const { partial_json: words } = delta;
    const place = calls?.get(index);
    if (delta['type'] !== 'input_json_delta' || place === undefined || others?.has(index)) return undefined;
    return typeof words === 'string' ? { tool_calls: [{ index: place, function: { arguments: words } }] } : undefined;
  }

  return {
    take: (event) => (event['type'] === 'content_block_start' ? begun(event) : goneOn(event)),
    isKnown: ({ index }) => others?.has(index) !== true,
    hasCalls: () => calls !== undefined,
  };
}

function filled(field: string, text: unknown): JsonObject | undefined {
  return typeof text === 'string' && text !== '' ? { [field]: text } : undefined;
}

/** Some servers send the whole input with the beginning of its block. */
function wordsOf(input: unknown): string {
  if (typeof input === 'string') return input;
  return isJsonObject(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : '';
}
