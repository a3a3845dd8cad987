import type { JsonObject } from '#kernel/text/json.ts';
import { type Fields, VALUE, visibleObject, WHOLE } from '#providers/answers/visible-fields.ts';

/**
 * What callers of Messages get of a vendor's own message and events (CC-21). What the model says is whole, with blocks and deltas that are new.
 * Ids, model, usage and container are ours to tell: they say who served the call, and what it was billed.
 */

const MESSAGE: Fields = {
  type: VALUE,
  role: VALUE,
  content: WHOLE,
  stop_reason: VALUE,
  stop_sequence: VALUE,
  stop_details: WHOLE,
  context_management: WHOLE,
};
const EVENT: Fields = { type: VALUE, index: VALUE, content_block: WHOLE, delta: WHOLE, context_management: WHOLE };

/** The lists, for the documents. */
export const VISIBLE_MESSAGE_FIELDS = { message: MESSAGE, event: EVENT } as const;

export function visibleMessage(message: JsonObject): JsonObject {
  return visibleObject(message, MESSAGE);
}

export function visibleEvent(event: JsonObject): JsonObject {
  return visibleObject(event, EVENT);
}
