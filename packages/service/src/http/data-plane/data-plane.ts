import type { AppProfiles } from '#developers/apps/profile.ts';
import type { Caller } from '#developers/keys/directory.ts';
import type { Links } from '#connections/link.ts';
import { admit, parseUser } from '#gateway/request/admission.ts';
import { DEPTH_MAX, isDeeperThan } from '#gateway/body/parse-body.ts';
import type { Gateway } from '#gateway/pipeline.ts';
import type { CellRoute } from '#http/cells/questions/question.ts';
import type { EndCall } from '#http/data-plane/call-end.ts';
import type { Forwarding } from '#http/forwarding/forwarding.ts';
import type { FrameWriters } from '#http/data-plane/frame-writer.ts';
import { afterBody, declaredRefusal, readBody, knownCallers } from '#http/requests/read-body.ts';
import { type Exchange, sendRefusal, setRateLimit } from '#http/answers/respond.ts';
import type { Clock } from '#kernel/time/clock.ts';
import type { EndUserId } from '#kernel/values/ids.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { headerOf } from '#kernel/text/header-text.ts';
import type { Wallets } from '#ledger/wallet/wallet.ts';
import type { UsageReader } from '#calls/usage/usage.ts';

/** What the routes with an API key need. */
export interface DataPlane {
  readonly apps: AppProfiles;
  readonly gateway: Gateway;
  readonly writers: FrameWriters;
  /** The largest body of the wires that take more than the seed's 1 MiB. */
  readonly bodyBytesMax: number;
  readonly wallets: Wallets;
  readonly usage: UsageReader;
  readonly links: Links;
  readonly currency: string;
  readonly clock: Clock;
  /** It is called once for each chat call, when it has ended, also by a refusal (CC-19). */
  readonly endCall: EndCall;
  /** The way to gateways of other cells. It is undefined if there are none. */
  readonly forwarding: Forwarding | undefined;
  /** What gateways of other cells may ask. */
  readonly cellRoutes: readonly CellRoute[];
}

/**
 * Admits a call to a route that reads no body: size of the body, key, app and rate limit, in this order (CC-06, CC-07, CC-10).
 * The body is checked all the same, so that a request is refused in the same way on every route.
 */
export async function admitBare(plane: DataPlane, exchange: Exchange): Promise<Caller | Refusal> {
  const admitted = await admitWithBody(plane, exchange);
  if (admitted instanceof Refusal) return admitted;
  return tooDeep(admitted.body) ?? admitted.caller;
}

interface UserCall {
  readonly caller: Caller;
  readonly userId: EndUserId;
  /** The raw body. Only its size and depth have been checked. */
  readonly body: Buffer;
}

/** Admits a call to a route about one end user, named by `x-service-user` or by the key (AU-03, CP-08). */
export async function admitForUser(plane: DataPlane, exchange: Exchange): Promise<UserCall | Refusal> {
  const admitted = await admitWithBody(plane, exchange);
  if (admitted instanceof Refusal) return admitted;
  const userId = parseUser(admitted.caller, headerOf(exchange.request.headers, 'x-service-user'));
  if (userId instanceof Refusal) return userId;
  return tooDeep(admitted.body) ?? { ...admitted, userId };
}

/**
 * Admits the caller and then reads the body, so that nobody without a key makes the process hold one. The rate headers are
 * set before the outcome is known, because a refusal for the rate needs them most.
 */
async function admitWithBody(
  { gateway }: DataPlane,
  exchange: Exchange,
): Promise<{ readonly caller: Caller; readonly body: Buffer } | Refusal> {
  const { request, response } = exchange;
  const declared = declaredRefusal(request);
  if (declared !== undefined) return declared;
  const caller = await admit(gateway, request, {
    onRate: (limits, rate) => setRateLimit(response, limits, rate),
  });
  if (caller instanceof Refusal) return afterBody(exchange, caller);
  const body = await readBody(exchange, { arriving: knownCallers, caller: caller.app.accountId });
  if (body === undefined) return refuse('BAD_REQUEST', 'The body ended early.');
  return body instanceof Refusal ? body : { caller, body };
}

/** Answers a caller whose key or app was refused, once it is known that the body is not refused first. */
export async function refuseAfterBody(exchange: Exchange, refusal: Refusal, most?: number): Promise<void> {
  sendRefusal(exchange, await afterBody(exchange, refusal, most));
}

/** The depth is checked on the bytes, before any parser could recurse into them. */
function tooDeep(body: Buffer): Refusal<'BAD_REQUEST'> | undefined {
  if (!isDeeperThan(body, DEPTH_MAX)) return undefined;
  return refuse('BAD_REQUEST', `The body is nested deeper than ${DEPTH_MAX} levels.`);
}
