import type { RateAnswer, RateLimits } from '#gateway/request/admission.ts';

/**
 * What an app may call and what it has left: as the draft of the IETF has it (draft-ietf-httpapi-ratelimit-headers-09), and
 * by the names that clients of the compatible format have read so far. Names and values in turn.
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

/** Until the bucket is full again; for a call that was refused, until a token is there: the same as `retry-after`. */
function resetSecondsOf(limits: RateLimits, { isTaken, tokensLeft, waitMs }: RateAnswer): number {
  if (!isTaken) return Math.max(1, Math.ceil(waitMs / 1_000));
  return secondsFor(limits.rateBurst - tokensLeft, limits);
}

function secondsFor(tokens: number, { ratePerMinute }: RateLimits): number {
  return Math.ceil((tokens * 60) / ratePerMinute);
}
