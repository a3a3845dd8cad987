import type { IncomingMessage } from 'node:http';
import type { Caller, KeyDirectory } from '#developers/keys/directory.ts';
import { bearerTokenOf } from '#kernel/text/header-text.ts';
import { type EndUserId, parseEndUserId } from '#kernel/values/ids.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { RateAnswer, RateLimiter, RateLimits } from '#limits/rate-limit.ts';

const RETRY_SECONDS_MAX = 60;
const APP_TOO_FAST = 'This app calls faster than its rate limit allows.';

interface Admission {
  readonly keys: KeyDirectory;
  readonly rateLimiter: RateLimiter;
  /** The address that a request came from, past the operator's own proxies. */
  readonly addressOf: (request: CallerRequest) => string;
}

type CallerRequest = Pick<IncomingMessage, 'headers' | 'socket'>;

/**
 * These functions are called with what is learned of a caller as soon as it is known, even if the call is refused
 * later.
 */
interface AdmissionListener {
  /** The key's app and mode (SB-02). */
  readonly onCaller?: (caller: Caller) => void;
  /** The rate limits of the app, or of the key if it has less left of its own, and what is left of them (LI-01, CP-08). */
  readonly onRate?: (limits: RateLimits, answer: RateAnswer) => void;
}

export type { RateAnswer, RateLimits };

type AdmissionRefusalCode = 'UNAUTHORIZED' | 'APP_SUSPENDED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS';

type Admitted = Caller | Refusal<AdmissionRefusalCode>;

/**
 * Checks key, app, address and rate buckets, as every data-plane route does first (AU-01, AU-02, CP-08, LI-01). Answers without
 * a promise if this process knows the key and holds a token of the bucket: nearly every call does.
 */
export function admit(
  admission: Admission,
  request: CallerRequest,
  listener: AdmissionListener,
  takesKeyHeader = false,
): Admitted | Promise<Admitted> {
  const apiKey = bearerTokenOf(request.headers.authorization);
  const named = takesKeyHeader ? request.headers['x-api-key'] : undefined;
  if (typeof named === 'string' && named !== apiKey)
    return admitByEither(admission, { named, apiKey, request }, listener);
  const found = apiKey === undefined ? undefined : admission.keys.find(apiKey);
  if (found instanceof Promise) return found.then((caller) => admitCaller(admission, request, caller, listener));
  return admitCaller(admission, request, found, listener);
}

interface TwoKeys {
  /** That of `x-api-key`. */
  readonly named: string;
  /** That of `authorization`. */
  readonly apiKey: string | undefined;
  readonly request: CallerRequest;
}

/** Some clients send two keys, of which one is for somebody else (WI-10). The one that is a key of ours decides. */
async function admitByEither(
  admission: Admission,
  { named, apiKey, request }: TwoKeys,
  listener: AdmissionListener,
): Promise<Admitted> {
  const byName = await admission.keys.find(named);
  const byToken = await admission.keys.find(apiKey ?? '');
  if (byName !== undefined && byToken !== undefined) {
    return refuse('UNAUTHORIZED', '`x-api-key` and `authorization` have two different API keys. Send one of them.');
  }
  return admitCaller(admission, request, byName ?? byToken, listener);
}

function admitCaller(
  { rateLimiter, addressOf }: Admission,
  request: CallerRequest,
  caller: Caller | undefined,
  listener: AdmissionListener,
): Admitted | Promise<Admitted> {
  if (caller === undefined) {
    return refuse(
      'UNAUTHORIZED',
      'A valid API key is needed: `authorization: Bearer <API key>`. It must not be revoked or expired.',
    );
  }
  listener.onCaller?.(caller);
  const { appId, isSuspended, limits } = caller.app;
  if (isSuspended) {
    return refuse('APP_SUSPENDED', 'This app is suspended. Its owner must contact the operator of this service.');
  }
  const { allowsAddress, rate } = caller.key;
  if (allowsAddress !== undefined && !allowsAddress(addressOf(request))) return wrongAddress(addressOf(request));
  if (rate !== null) return admitByKey({ rateLimiter, caller, rate }, listener);
  const taken = rateLimiter.take(appId, limits);
  if (taken instanceof Promise) return taken.then((answer) => judged(caller, answer, listener));
  return judged(caller, taken, listener);
}

function judged(caller: Caller, answer: RateAnswer, listener: AdmissionListener): Admitted {
  listener.onRate?.(caller.app.limits, answer);
  return answer.isTaken ? caller : tooFast(APP_TOO_FAST, answer);
}

/**
 * Admits a call with a key that has a rate of its own. The key's bucket comes first, so that a key which calls too fast takes
 * nothing from the other keys of its app (CP-08).
 */
async function admitByKey(
  { rateLimiter, caller, rate }: { rateLimiter: RateLimiter; caller: Caller; rate: RateLimits },
  listener: AdmissionListener,
): Promise<Admitted> {
  const { app, key } = caller;
  const ofKey = await rateLimiter.take(key.line, rate);
  if (!ofKey.isTaken) {
    listener.onRate?.(rate, ofKey);
    const own = `This API key calls faster than its own limit of ${rate.ratePerMinute} calls a minute.`;
    return tooFast(own, ofKey);
  }
  const ofApp = await rateLimiter.take(app.appId, app.limits);
  if (!ofApp.isTaken || ofKey.tokensLeft >= ofApp.tokensLeft) return judged(caller, ofApp, listener);
  listener.onRate?.(rate, ofKey);
  return caller;
}

function wrongAddress(address: string): Refusal<'FORBIDDEN'> {
  return refuse(
    'FORBIDDEN',
    `This API key may not be used from the address \`${address}\`. The owner of the app sets the addresses that it may be used from.`,
  );
}

function tooFast(message: string, { waitMs }: RateAnswer): Refusal<'TOO_MANY_REQUESTS'> {
  const retryAfterMs = Math.max(1, Math.ceil(waitMs)); // At most a minute, because no rate is below one a minute.
  return refuse('TOO_MANY_REQUESTS', message, {
    retryAfterSeconds: Math.min(RETRY_SECONDS_MAX, Math.ceil(retryAfterMs / 1_000)),
    retryAfterMs,
  });
}

/**
 * The end user that a call is for: the one that its key is bound to, or the one that it names (AU-03, AU-04, CP-08). A bound key is
 * never used for anybody else.
 */
export function parseUser({ boundUser }: Caller, header: string | undefined): EndUserId | Refusal<'BAD_REQUEST'> {
  if (boundUser === null) return parseNamed(header);
  if (header === undefined || header === boundUser) return boundUser;
  return refuse(
    'BAD_REQUEST',
    'This API key is bound to one end user, and the header `x-service-user` names another. Leave the header out, or use a key that is not bound.',
    { param: 'x-service-user' },
  );
}

function parseNamed(header: string | undefined): EndUserId | Refusal<'BAD_REQUEST'> {
  const userId = header === undefined ? undefined : parseEndUserId(header);
  if (userId !== undefined) return userId;
  return refuse(
    'BAD_REQUEST',
    'The header `x-service-user` must name the end user: 1 to 256 visible ASCII characters, without spaces.',
    { param: 'x-service-user' },
  );
}
