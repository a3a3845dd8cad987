import { type CallId, secondOf } from '#kernel/values/ids.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import { visibleAnswer, visibleAnswerWith } from '#providers/answers/visible-fields.ts';

/**
 * The caller's form of a provider's answer: with `ours`, and with the `id`, `object` and `created` that clients of the format need.
 * The provider's own `id` and `created` are taken if it sent any; `object` is always ours, because it says which format follows.
 * Fields that callers may not see are gone (CC-21).
 */
export function answerSeen(answer: JsonObject, callId: CallId, ours: JsonObject): JsonObject {
  return visibleAnswerWith(answer, Object.assign(headOf(answer, callId, 'chat.completion'), ours));
}

/** Gives the chunks of one stream such a head. The head of the first one is on all, as clients expect. */
export function createChunkHead(callId: CallId): (chunk: JsonObject) => JsonObject {
  let head: JsonObject | undefined;
  return (chunk) => {
    head ??= headOf(chunk, callId, 'chat.completion.chunk');
    return fixed(visibleAnswer(chunk), head);
  };
}

function headOf({ id, created }: JsonObject, callId: CallId, object: string): JsonObject {
  return {
    id: typeof id === 'string' && id !== '' ? id : `chatcmpl-${callId}`,
    object,
    created: Number.isInteger(created) ? created : secondOf(callId),
  };
}

/** The object itself if it has these fields, so that they keep their order. */
function fixed(object: JsonObject, fields: JsonObject): JsonObject {
  for (const name of Object.keys(fields)) {
    if (object[name] !== fields[name]) return { ...object, ...fields };
  }
  return object;
}
