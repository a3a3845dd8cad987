import { isJsonObject, type JsonObject } from '#kernel/json.ts';
import { UpstreamError } from '#providers/provider.ts';

const TOO_MANY_REQUESTS = 429;
/** Not standard; some providers send it when they are overloaded. */
const OVERLOADED = 529;

/** Statuses about the request itself. Any other 4xx is about us, such as our key (CC-15). */
const REJECTIONS = new Set([400, 404, 422]);

/** The failure that a status other than 200 means. */
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

/** The failure that an error object in a 200 or in a stream means. Its text is not read (ER-03). */
export function errorOfFrame(error: JsonObject): UpstreamError {
  if (THROTTLE_CODES.has(error['code']) || error['type'] === 'rate_limit_error') {
    return new UpstreamError('throttled', 'The provider throttled the call.');
  }
  return new UpstreamError('refused', 'The provider responded with an error.');
}

/** Values of `finish_reason` that providers send for a response that they broke off. */
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

/** Whether a response with this `finish_reason` failed, and so costs nothing (CC-11). */
function isFailure(finishReason: unknown): boolean {
  return FAILURES.has(typeof finishReason === 'string' ? finishReason.toLowerCase() : finishReason);
}

/** Throws the first error that a choice holds: some providers report errors there. */
export function checkChoices(choices: readonly unknown[]): asserts choices is readonly JsonObject[] {
  for (const choice of choices) {
    if (!isJsonObject(choice))
      throw new UpstreamError('malformed', 'The provider sent a choice that is not an object.');
    if (isJsonObject(choice['error'])) throw errorOfFrame(choice['error']);
    if (isFailure(choice['finish_reason'])) throw new UpstreamError('cut', 'The provider broke off its response.');
  }
}
