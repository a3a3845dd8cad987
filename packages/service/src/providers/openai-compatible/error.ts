import type { JsonObject } from '#kernel/json.ts';
import { UpstreamError } from '#providers/provider.ts';

const TOO_MANY_REQUESTS = 429;
/** Some providers say so when they are overloaded. */
const OVERLOADED = 529;

/** What it says of the request itself; any other 4xx is about us (CC-15). */
const REJECTIONS = new Set([400, 404, 422]);

/** What a status other than 200 means. */
export function errorOfStatus(status: number): UpstreamError {
  if (status === TOO_MANY_REQUESTS || status === OVERLOADED) {
    return new UpstreamError('throttled', `The provider throttled the call (${status}).`);
  }
  if (status >= 500) return new UpstreamError('outage', `The provider failed (${status}).`);
  const kind = REJECTIONS.has(status) ? 'rejected' : 'refused';
  return new UpstreamError(kind, `The provider ${kind} the call (${status}).`);
}

const THROTTLE_CODES = new Set<unknown>([
  TOO_MANY_REQUESTS,
  String(TOO_MANY_REQUESTS),
  'rate_limit_exceeded',
  OVERLOADED,
]);

/** What an error object inside a 200 or a stream means. Its text is not read. */
export function errorOfFrame(error: JsonObject): UpstreamError {
  if (THROTTLE_CODES.has(error['code']) || error['type'] === 'rate_limit_error') {
    return new UpstreamError('throttled', 'The provider throttled the call.');
  }
  return new UpstreamError('refused', 'The provider answered with an error.');
}

/** Reasons to finish that providers give for an answer that they broke off. */
const FAILURES = new Set<unknown>([
  'error',
  'abort',
  'aborted',
  'cancelled',
  'canceled',
  'failed',
  'network_error',
  'timeout',
  'insufficient_system_resource',
]);

/** Whether an answer that finishes for this reason is none, and so costs nothing (CC-11). */
export function isFailure(finishReason: unknown): boolean {
  return FAILURES.has(typeof finishReason === 'string' ? finishReason.toLowerCase() : finishReason);
}
