import type { ValueFault } from '#gateway/parameters/values.ts';
import { pathOf, type Place } from '#gateway/wires/messages/conversation/places.ts';
import { detailsOf } from '#gateway/wires/messages/conversation/thought-signatures.ts';
import type { JsonObject } from '#kernel/text/json.ts';

const TEXTS = ['thinking', 'signature', 'data'];

/**
 * Reads a block "thinking" or "redacted_thinking" as `reasoning_details` of its message. `index` is its place in the answer. A block
 * that no vendor has sealed goes back to nobody.
 */
export function readThought(block: JsonObject, place: Place, index: number): readonly JsonObject[] | ValueFault {
  const wrong = TEXTS.find((name) => (block[name] ?? null) !== null && typeof block[name] !== 'string');
  if (wrong !== undefined) return { path: `${pathOf(place)}.${wrong}`, expects: 'a string, as it was in the answer' };
  return detailsOf(block, index);
}

/** Puts thoughts back to where their vendors want them: beside the text, in a field of their own, or in the calls. */
export function withThoughts(
  message: JsonObject,
  calls: readonly JsonObject[],
  details: readonly JsonObject[],
): JsonObject {
  const extras = new Map<unknown, unknown>();
  const thoughts: JsonObject[] = [];
  const fields: Record<string, string> = {};
  for (const detail of details) {
    const field = FIELDS.get(detail['type']);
    if (detail['type'] === 'tool_call.extra_content') extras.set(detail['id'], detail['extra_content']);
    else if (field === undefined) thoughts.push(detail);
    else if (typeof detail['text'] === 'string') fields[field] = (fields[field] ?? '') + detail['text'];
  }
  const whole = calls.map((call) =>
    extras.has(call['id']) ? { ...call, extra_content: extras.get(call['id']) } : call,
  );
  return {
    ...message,
    // Some models go on thinking only with what led to their calls, and some vendors refuse calls without it.
    ...(calls.length === 0 ? {} : { tool_calls: whole, ...fields }),
    ...(thoughts.length === 0 ? {} : { reasoning_details: thoughts }),
  };
}

/** The fields of a message in which vendors want thoughts back that have no seal. */
const FIELDS: ReadonlyMap<unknown, string> = new Map([
  ['message.reasoning', 'reasoning'],
  ['message.reasoning_content', 'reasoning_content'],
]);
