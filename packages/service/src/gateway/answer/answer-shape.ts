import { createToolCallOrder, wholeToolCalls } from '#gateway/answer/tool-calls.ts';
import { type CallId, secondOf } from '#kernel/ids.ts';
import { isJsonObject, type JsonObject } from '#kernel/json.ts';

/** The reasons to finish that the format knows. */
const FINISH_REASONS = new Set<unknown>(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);
/** What providers call them that have their own words, in small letters. */
const OTHER_WORDS: ReadonlyMap<string, string> = new Map([
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['max_output_tokens', 'length'],
  ['tool_use', 'tool_calls'],
  ['tool_call', 'tool_calls'],
  ['safety', 'content_filter'],
  ['recitation', 'content_filter'],
  ['sensitive', 'content_filter'],
  ['refusal', 'content_filter'],
]);

/**
 * Gives each chunk of one stream what clients of the format need and providers leave out. A field that is there and right
 * stays as it is, and so does one that the format does not know.
 */
export function createChunkShape(callId: CallId): (chunk: JsonObject) => JsonObject {
  let head: JsonObject | undefined;
  const orders = new Map<unknown, ReturnType<typeof createToolCallOrder>>();

  function deltaOf(value: unknown, index: unknown): JsonObject {
    const delta = isJsonObject(value) ? value : {};
    const calls = delta['tool_calls'];
    if (!Array.isArray(calls)) return delta;
    const order = orders.get(index) ?? createToolCallOrder();
    orders.set(index, order);
    return fixed(delta, { tool_calls: sameOr(calls, order(calls)) });
  }

  function choiceOf(choice: unknown, place: number): unknown {
    if (!isJsonObject(choice)) return choice;
    const index = placeOf(choice, place);
    const delta = deltaOf(choice['delta'], index);
    return fixed(choice, { index, delta, finish_reason: finishReasonOf(choice['finish_reason']) });
  }

  return (chunk) => {
    // The same on all chunks, so the first one has the word.
    head ??= headOf(chunk, callId, 'chat.completion.chunk');
    const { choices } = chunk;
    return fixed(chunk, Array.isArray(choices) ? { ...head, choices: sameOr(choices, choices.map(choiceOf)) } : head);
  };
}

/** The same for a plain answer. */
export function shapeCompletion(completion: JsonObject, callId: CallId): JsonObject {
  const head = headOf(completion, callId, 'chat.completion');
  const choices: readonly unknown[] = Array.isArray(completion['choices']) ? completion['choices'] : [];
  return fixed(completion, { ...head, choices: sameOr(choices, choices.map(wholeChoice)) });
}

function wholeChoice(choice: unknown, place: number): unknown {
  if (!isJsonObject(choice) || !isJsonObject(choice['message'])) return choice;
  const { message, logprobs = null } = choice;
  const { content = null, refusal = null, tool_calls: calls } = message;
  const toolCalls = Array.isArray(calls) ? { tool_calls: sameOr(calls, wholeToolCalls(calls)) } : {};
  return fixed(choice, {
    index: placeOf(choice, place),
    message: fixed(message, { role: 'assistant', content, refusal, ...toolCalls }),
    logprobs,
    finish_reason: finishReasonOf(choice['finish_reason']),
  });
}

function headOf(answer: JsonObject, callId: CallId, object: string): JsonObject {
  const { id, created } = answer;
  return {
    id: typeof id === 'string' && id !== '' ? id : `chatcmpl-${callId}`,
    object,
    created: Number.isInteger(created) ? created : secondOf(callId),
  };
}

function placeOf(choice: JsonObject, place: number): unknown {
  return Number.isInteger(choice['index']) ? choice['index'] : place;
}

/** In the words of the format; null while a choice goes on. What nobody knows has at least come to its end. */
function finishReasonOf(reason: unknown): unknown {
  if (FINISH_REASONS.has(reason)) return reason;
  if (typeof reason !== 'string' || reason === '') return null;
  const word = reason.toLowerCase();
  return FINISH_REASONS.has(word) ? word : (OTHER_WORDS.get(word) ?? 'stop');
}

/** The object with these fields; itself where it has them so, in the order in which they came. */
function fixed(object: JsonObject, fields: JsonObject): JsonObject {
  for (const name of Object.keys(fields)) {
    if (object[name] !== fields[name]) return { ...object, ...fields };
  }
  return object;
}

/** The first list where the second holds the same. */
function sameOr(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  return after.length === before.length && after.every((item, index) => item === before[index]) ? before : after;
}
