import assert from 'node:assert/strict';
import type { Fitted, Reply, ModelSupport, WireRequest } from '../../packages/service/src/gateway/call/wire.ts';
import type { Echo } from '../../packages/service/src/gateway/wires/messages/conversation/echo.ts';
import { createRead } from '../../packages/service/src/gateway/wires/messages/request/read.ts';
import type { JsonObject } from '../../packages/service/src/kernel/text/json.ts';
import { Refusal } from '../../packages/service/src/kernel/faults/refusal.ts';
import { byOf } from './read-responses.ts';

/** Bodies of the Messages wire, read without a service. */

const REPLY = {} as Reply;
let told: Echo | undefined;
const reading = {
  replyOf: (echo: Echo) => {
    told = echo;
    return REPLY;
  },
};
const read = createRead(reading);
export const readForCount = createRead({ ...reading, isCounting: true });

const HELLO = { model: 'm', max_tokens: 1_000, messages: [{ role: 'user', content: 'Hello.' }] };

export function readBody(fields: JsonObject): WireRequest | Refusal<'BAD_REQUEST'> {
  return read({ ...HELLO, ...fields }, byOf());
}

/** What the answer would know of the request. */
export function toldOf(fields: JsonObject): Echo {
  const request = readBody(fields);
  if (request instanceof Refusal) throw new Error(request.message);
  assert.ok(told !== undefined);
  return told;
}

const ALL: ModelSupport = {
  parameter: () => true,
  ownForm: false,
  hasOwnForm: false,
  webSearch: false,
  contextTokens: 200_000,
};

/** The same for a model that takes these. */
export function fit(fields: JsonObject, supports: Partial<ModelSupport> = {}): Fitted | Refusal<'BAD_REQUEST'> {
  const request = readBody(fields);
  return request instanceof Refusal ? request : request.fit({ ...ALL, ...supports });
}

export function fittedOf(fields: JsonObject, supports: Partial<ModelSupport> = {}): Fitted {
  const fitted = fit(fields, supports);
  if (fitted instanceof Refusal) throw new Error(fitted.message);
  return fitted;
}

export function messagesOf(messages: unknown): unknown {
  return fittedOf({ messages }, {}).request['messages'];
}

/** The field that a refusal names, and its words. */
export function refusalOf(fields: JsonObject, supports: Partial<ModelSupport> = {}): readonly [unknown, string] {
  const refusal = fit(fields, supports);
  assert.ok(refusal instanceof Refusal, JSON.stringify(fields).slice(0, 200));
  return [refusal.detail.param, refusal.message];
}
