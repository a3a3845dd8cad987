import assert from 'node:assert/strict';
import type {
  AskedBy,
  Fitted,
  Reply,
  ModelSupport,
  WireRequest,
} from '../../packages/service/src/gateway/call/wire.ts';
import type { Echo, Sealing } from '../../packages/service/src/gateway/wires/responses/conversation/echo.ts';
import { createRead } from '../../packages/service/src/gateway/wires/responses/request/read.ts';
import { createSealedIds } from '../../packages/service/src/gateway/wires/responses/conversation/sealed-ids.ts';
import { appIdFrom, type Mode, parseEndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import type { JsonObject } from '../../packages/service/src/kernel/text/json.ts';
import { createKeys, keptKeysBy } from '../../packages/service/src/kernel/crypto/keys.ts';
import { Refusal } from '../../packages/service/src/kernel/faults/refusal.ts';

/** Bodies of the Responses wire, read without a service. */

export const SEALED_IDS = createSealedIds(
  createKeys(
    { secret: Buffer.alloc(32, 1) },
    keptKeysBy(() => Buffer.alloc(32, 1)),
  ),
);
const REPLY = {} as Reply;
let told: { readonly echo: Echo; readonly sealing: Sealing } | undefined;
const read = createRead({
  sealedIds: SEALED_IDS,
  replyOf: (echo, sealing) => {
    told = { echo, sealing };
    return REPLY;
  },
});

interface Asking {
  readonly app?: string;
  readonly user?: string;
  readonly mode?: Mode;
  readonly userAgent?: string;
}

export function byOf({ app = 'notes', user = 'anna', mode = 'live', userAgent = '' }: Asking = {}): AskedBy {
  const userId = parseEndUserId(user);
  assert.ok(userId !== undefined);
  return { appId: appIdFrom(app), mode, userId, userAgent };
}

const HELLO = { model: 'm', input: 'Hello.' };

export function readBody(fields: JsonObject, by = byOf()): WireRequest | Refusal<'BAD_REQUEST'> {
  return read({ ...HELLO, ...fields }, by);
}

/** What the answer would know of the request. */
export function toldOf(fields: JsonObject, by = byOf()): { readonly echo: Echo; readonly sealing: Sealing } {
  const request = readBody(fields, by);
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
export function fit(
  fields: JsonObject,
  supports: Partial<ModelSupport> = {},
  by = byOf(),
): Fitted | Refusal<'BAD_REQUEST'> {
  const request = readBody(fields, by);
  return request instanceof Refusal ? request : request.fit({ ...ALL, ...supports });
}

export function fittedOf(fields: JsonObject, supports: Partial<ModelSupport> = {}, by = byOf()): Fitted {
  const fitted = fit(fields, supports, by);
  if (fitted instanceof Refusal) throw new Error(fitted.message);
  return fitted;
}

export function messagesOf(input: unknown, by = byOf()): unknown {
  return fittedOf({ input }, {}, by).request['messages'];
}

/** The field that a refusal names, and its words. */
export function refusalOf(
  fields: JsonObject,
  supports: Partial<ModelSupport> = {},
  by = byOf(),
): readonly [unknown, string] {
  const refusal = fit(fields, supports, by);
  assert.ok(refusal instanceof Refusal, JSON.stringify(fields).slice(0, 200));
  return [refusal.detail.param, refusal.message];
}
