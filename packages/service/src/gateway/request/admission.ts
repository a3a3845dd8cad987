import type { Caller, KeyDirectory } from '#accounts/key-directory.ts';
import { bearerTokenOf } from '#kernel/header-text.ts';
import { type EndUserId, parseEndUserId } from '#kernel/ids.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';
import type { RateAnswer, RateLimiter, RateLimits } from '#limits/rate-limit.ts';

const RETRY_SECONDS_MAX = 60;

interface Admission {
  readonly keys: KeyDirectory;
  readonly rateLimiter: RateLimiter;
}

/** Called with what is learned of a caller as soon as it is known, even if the call is refused later. */
interface AdmissionListener {
  /** The key's app and mode (SB-02). */
  readonly onCaller?: (caller: Caller) => void;
  /** The app's rate limits and what it has left of them (LI-01). */
  readonly onRate?: (limits: RateLimits, answer: RateAnswer) => void;
}

export type { RateAnswer, RateLimits };

type AdmissionRefusalCode = 'UNAUTHORIZED' | 'APP_SUSPENDED' | 'TOO_MANY_REQUESTS';

type Admitted = Caller | Refusal<AdmissionRefusalCode>;

/**
 * Checks key, app and rate bucket, as every data-plane route does first (AU-01, AU-02, LI-01). Answers without a promise if
 * this process knows the key and holds a token of the bucket: nearly every call does.
 */
export function admit(
  admission: Admission,
  authorization: string | undefined,
  listener: AdmissionListener,
): Admitted | Promise<Admitted> {
  const apiKey = bearerTokenOf(authorization);
  const found = apiKey === undefined ? undefined : admission.keys.find(apiKey);
  if (found instanceof Promise) return found.then((caller) => admitCaller(admission, caller, listener));
  return admitCaller(admission, found, listener);
}

function admitCaller(
  { rateLimiter }: Admission,
  caller: Caller | undefined,
  { onCaller, onRate }: AdmissionListener,
): Admitted | Promise<Admitted> {
  if (caller === undefined) {
    return refuse('UNAUTHORIZED', 'A valid API key is needed: `authorization: Bearer <API key>`.');
  }
  onCaller?.(caller);
  const { appId, isSuspended, limits } = caller.app;
  if (isSuspended) {
    return refuse('APP_SUSPENDED', 'This app is suspended. Its owner must contact the operator of this service.');
  }
  const judge = (answer: RateAnswer): Admitted => {
    onRate?.(limits, answer);
    return answer.isTaken ? caller : tooFast(answer);
  };
  const taken = rateLimiter.take(appId, limits);
  return taken instanceof Promise ? taken.then(judge) : judge(taken);
}

function tooFast({ waitMs }: RateAnswer): Refusal<'TOO_MANY_REQUESTS'> {
  const retryAfterMs = Math.max(1, Math.ceil(waitMs)); // At most a minute, because no rate is below one a minute.
  return refuse('TOO_MANY_REQUESTS', 'This app calls faster than its rate limit allows.', {
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
