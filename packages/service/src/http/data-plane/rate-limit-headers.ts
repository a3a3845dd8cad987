import type { RateAnswer, RateLimits } from '#gateway/request/admission.ts';

/**
 * The app's rate limit and what is left of it, under two sets of names: those of the IETF draft
 * (draft-ietf-httpapi-ratelimit-headers-09), and the `x-ratelimit-*` names that clients of the compatible format read.
 * Returned as a flat list of names and values, which costs no object per call.
 */
export function rateLimitHeaders(limits: RateLimits, answer: RateAnswer): readonly string[] {
  const { rateBurst } = limits;
  const { tokensLeft } = answer;
  const resetSeconds = resetSecondsOf(limits, answer);
  return [
    'ratelimit-policy',
    `"app";q=${rateBurst};w=${secondsFor(rateBurst, limits)}`,
    'ratelimit',
    `"app";r=${tokensLeft};t=${resetSeconds}`,
    'x-ratelimit-limit-requests',
    String(rateBurst),
    'x-ratelimit-remaining-requests',
    String(tokensLeft),
    'x-ratelimit-reset-requests',
    `${resetSeconds}s`,
  ];
}

/** Seconds until the bucket is full again. For a refused call: until it has a token, the same as `retry-after`. */
function resetSecondsOf(limits: RateLimits, { isTaken, tokensLeft, waitMs }: RateAnswer): number {
  if (!isTaken) return Math.max(1, Math.ceil(waitMs / 1_000));
  return secondsFor(limits.rateBurst - tokensLeft, limits);
}

function secondsFor(tokens: number, { ratePerMinute }: RateLimits): number {
  return Math.ceil((tokens * 60) / ratePerMinute);
}
