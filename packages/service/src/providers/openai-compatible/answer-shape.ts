import { isJsonObject, type JsonObject } from '#kernel/json.ts';
import { type ChunkChoice, type CompletionChoice, FINISH_REASONS, type FinishReason } from '#providers/completion.ts';
import { missingReason } from '#providers/openai-compatible/missing-reasons.ts';
import { withoutParts } from '#providers/openai-compatible/content-parts.ts';
import { createToolCallOrder, wholeToolCalls } from '#providers/openai-compatible/tool-calls.ts';

/** The reason for each word that providers use, in small letters. */
const OTHER_WORDS: ReadonlyMap<string, FinishReason> = new Map([
  ...FINISH_REASONS.map((reason) => [reason, reason] as const),
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
 * Completes the choices of each chunk of one stream: clients of the format need fields that providers leave out. A field that
 * is there and right stays as it is, and so does one that the format does not know.
 */
export function createChoiceShape(): (choices: readonly JsonObject[]) => readonly ChunkChoice[] {
  const orders = new Map<number, ReturnType<typeof createToolCallOrder>>();

  function deltaOf(value: unknown, index: number): JsonObject {
    const delta = isJsonObject(value) ? withoutParts(value) : {};
    const calls = delta['tool_calls'];
    if (!Array.isArray(calls)) return delta;
    const order = orders.get(index) ?? createToolCallOrder();
    orders.set(index, order);
    return fixed(delta, { tool_calls: sameOr(calls, order(calls)) });
  }

  return (choices) =>
    choices.map((choice, place) => {
      const index = indexOf(choice, place);
      const delta = deltaOf(choice['delta'], index);
      return fixed(choice, { index, delta, finish_reason: finishReasonOf(choice['finish_reason']) });
    });
}

/** Completes a choice of a whole answer in the same way. `place`: its index if it has none. `isAtLimit`: of the output. */
export function wholeChoice(
  choice: JsonObject,
  given: JsonObject,
  { place, isAtLimit }: { readonly place: number; readonly isAtLimit: boolean },
): CompletionChoice {
  const { logprobs = null } = choice;
  const message = withoutParts(given);
  const { content = null, refusal = null, tool_calls: calls } = message;
  const toolCalls = Array.isArray(calls) ? { tool_calls: sameOr(calls, wholeToolCalls(calls)) } : {};
  return fixed(choice, {
    index: indexOf(choice, place),
    message: fixed(message, { role: 'assistant', content, refusal, ...toolCalls }),
    logprobs,
    finish_reason: finishReasonOf(choice['finish_reason']) ?? missingReason(message, isAtLimit),
  });
}

function indexOf({ index }: JsonObject, place: number): number {
  return typeof index === 'number' && Number.isInteger(index) ? index : place;
}

/** The reason in the words of the format; null while a choice goes on. An unknown word means at least that it has ended. */
function finishReasonOf(reason: unknown): FinishReason | null {
  if (typeof reason !== 'string' || reason === '') return null;
  return OTHER_WORDS.get(reason) ?? OTHER_WORDS.get(reason.toLowerCase()) ?? 'stop';
}

/** The object with these fields; the object itself if it has them, so that its fields keep their order. */
function fixed<Fields extends JsonObject>(object: JsonObject, fields: Fields): JsonObject & Fields {
  return hasAll(object, fields) ? object : { ...object, ...fields };
}

function hasAll<Fields extends JsonObject>(object: JsonObject, fields: Fields): object is JsonObject & Fields {
  for (const name of Object.keys(fields)) if (object[name] !== fields[name]) return false;
  return true;
}

/** The first list if the second one holds the same. */
function sameOr(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  return after.length === before.length && after.every((item, index) => item === before[index]) ? before : after;
}
