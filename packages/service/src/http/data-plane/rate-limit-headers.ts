import type { ServerResponse } from 'node:http';
import type { RateAnswer, RateLimits } from '#gateway/admission.ts';

/**
 * What an app may call and what it has left: as the draft of the IETF has it (draft-ietf-httpapi-ratelimit-headers-09), and
 * by the names that clients of the compatible format have read so far.
 */
export function setRateLimit(response: ServerResponse, limits: RateLimits, answer: RateAnswer): void {
  const { rateBurst } = limits;
  const { tokensLeft } = answer;
  const resetSeconds = resetSecondsOf(limits, answer);
  response.setHeader('ratelimit-policy', `"app";q=${rateBurst};w=${secondsFor(rateBurst, limits)}`);
  response.setHeader('ratelimit', `"app";r=${tokensLeft};t=${resetSeconds}`);
  response.setHeader('x-ratelimit-limit-requests', String(rateBurst));
  response.setHeader('x-ratelimit-remaining-requests', String(tokensLeft));
  response.setHeader('x-ratelimit-reset-requests', `${resetSeconds}s`);
}

/** Until the bucket is full again; for a call that was refused, until a token is there: the same as `retry-after`. */
function resetSecondsOf(limits: RateLimits, { isTaken, tokensLeft, waitMs }: RateAnswer): number {
  if (!isTaken) return Math.max(1, Math.ceil(waitMs / 1_000));
  return secondsFor(limits.rateBurst - tokensLeft, limits);
}

function secondsFor(tokens: number, { ratePerMinute }: RateLimits): number {
  return Math.ceil((tokens * 60) / ratePerMinute);
}
