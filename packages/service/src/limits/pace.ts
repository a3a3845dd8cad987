import type { SteadyClock } from '#kernel/time/clock.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

export interface PaceRate {
  readonly ratePerMinute: number;
  readonly rateBurst: number;
}

/**
 * Token buckets by name in the memory of this process. They keep a caller from slowing the process down, so they cost no
 * statement: refusing must be cheaper than anything that could be refused. Guessing is limited by `Throttle`, over all
 * processes.
 */
export interface Pace {
  /** Takes one request from the bucket of this name. Undefined means go on. */
  readonly take: (name: string) => Refusal<'TOO_MANY_REQUESTS'> | undefined;
}

interface Bucket {
  tokens: number;
  refilledAtMs: number;
}

/** Some 100 bytes each. Beyond it the bucket that began first is forgotten, and its owner gets a full one. */
const BUCKETS_MAX = 50_000;
const RETRY_SECONDS_MAX = 60;

export function createPace({ ratePerMinute, rateBurst }: PaceRate, clock: SteadyClock): Pace {
  const buckets = new Map<string, Bucket>();
  const perMs = ratePerMinute / 60_000;

  function bucketOf(name: string, nowMs: number): Bucket {
    const known = buckets.get(name);
    if (known !== undefined) {
      known.tokens = Math.min(rateBurst, known.tokens + (nowMs - known.refilledAtMs) * perMs);
      known.refilledAtMs = nowMs;
      return known;
    }
    if (buckets.size >= BUCKETS_MAX) {
      const [oldest] = buckets.keys();
      if (oldest !== undefined) buckets.delete(oldest);
    }
    const fresh = { tokens: rateBurst, refilledAtMs: nowMs };
    buckets.set(name, fresh);
    return fresh;
  }

  return {
    take: (name) => {
      const bucket = bucketOf(name, clock.nowMs());
      if (bucket.tokens < 1) return tooFast((1 - bucket.tokens) / perMs);
      bucket.tokens -= 1;
      return undefined;
    },
  };
}

function tooFast(waitMs: number): Refusal<'TOO_MANY_REQUESTS'> {
  const retryAfterMs = Math.max(1, Math.ceil(waitMs));
  return refuse('TOO_MANY_REQUESTS', 'You send requests faster than this service accepts. Wait before you send more.', {
    retryAfterSeconds: Math.min(RETRY_SECONDS_MAX, Math.ceil(retryAfterMs / 1_000)),
    retryAfterMs,
  });
}
