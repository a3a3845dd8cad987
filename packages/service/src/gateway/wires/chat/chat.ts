import type { Wire, WireRequest } from '#gateway/call/wire.ts';
import { withoutEmptyLists } from '#gateway/parameters/parameters.ts';
import { checkShape } from '#gateway/request/validate-call.ts';
import { chatReply } from '#gateway/wires/chat/reply.ts';
import type { JsonObject } from '#kernel/text/json.ts';

/** Chat completions: the form that all wires are read into, so there is nothing to translate (CC-01). */
export const chatWire: Wire = {
  name: 'chat',
  path: '/v1/chat/completions',
  takesLargeBodies: false,
  read: (body) => checkShape(body) ?? requestOf(withoutEmptyLists(body)),
  worded: (refusal) => refusal,
};

function requestOf(request: JsonObject): WireRequest {
  return {
    model: String(request['model']),
    isStream: request['stream'] === true,
    fit: () => ({ request, leftOut: NOTHING }),
    nameOf: itself,
    reply: chatReply,
  };
}

const NOTHING: readonly string[] = [];

function itself(path: string): string {
  return path;
}
