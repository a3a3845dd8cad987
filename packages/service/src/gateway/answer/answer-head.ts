import { type CallId, secondOf } from '#kernel/ids.ts';
import type { JsonObject } from '#kernel/json.ts';

/**
 * Gives an answer the `id`, `object` and `created` that clients of the format need. The provider's own are taken if it sent
 * any; `object` is always ours, because it says which format follows.
 */
export function withHead(answer: JsonObject, callId: CallId): JsonObject {
  return fixed(answer, headOf(answer, callId, 'chat.completion'));
}

/** The same for the chunks of one stream. The head of the first one is on all, as clients expect. */
export function createChunkHead(callId: CallId): (chunk: JsonObject) => JsonObject {
  let head: JsonObject | undefined;
  return (chunk) => {
    head ??= headOf(chunk, callId, 'chat.completion.chunk');
    return fixed(chunk, head);
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
