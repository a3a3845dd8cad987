import { isJsonObject, type JsonObject } from '#kernel/json.ts';
import { UpstreamError } from '#providers/provider.ts';

const TOO_MANY_REQUESTS = 429;
/** Some providers send this status when they are overloaded. */
const OVERLOADED = 529;

/** Statuses that concern the request itself. Any other 4xx concerns us, such as our key (CC-15). */
const REJECTIONS = new Set([400, 404, 422]);

/** The failure that a status other than 200 means. The body is not read: it may hold anything (ER-03). */
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

/** Reasons to finish that providers give when they broke an answer off. */
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

/** True if a reason to finish means that the provider broke the answer off. Such an answer is free (CC-11). */
function isFailure(finishReason: unknown): boolean {
  return FAILURES.has(typeof finishReason === 'string' ? finishReason.toLowerCase() : finishReason);
}

/** Throws the error that a choice holds: some providers answer 200 and put it there. Such an answer is free (CC-11). */
export function checkChoices(choices: readonly unknown[]): asserts choices is readonly JsonObject[] {
  for (const choice of choices) {
    if (!isJsonObject(choice))
      throw new UpstreamError('malformed', 'The provider sent a choice that is not an object.');
    if (isJsonObject(choice['error'])) throw errorOfFrame(choice['error']);
    if (isFailure(choice['finish_reason'])) throw new UpstreamError('cut', 'The provider broke off its response.');
  }
}
