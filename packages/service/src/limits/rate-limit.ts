import { createBatcher } from '#db/batcher.ts';
import type { Pool } from '#db/pool.ts';
import type { Clock } from '#kernel/clock.ts';
import type { AppId } from '#kernel/ids.ts';
import { takeTokens } from '#limits/queries.ts';

export interface RateLimits {
  readonly ratePerMinute: number;
  readonly rateBurst: number;
}

export interface RateAnswer {
  /** A token was there, and is taken: go on. */
  readonly isTaken: boolean;
  /** Whole tokens that are left for the next calls. */
  readonly tokensLeft: number;
  /** Until the next token; 0 where this one was taken. */
  readonly waitMs: number;
}

export interface RateLimiter {
  /** Takes one token from the app's bucket, which all its keys, both modes and every process share (LI-01). */
  readonly take: (appId: AppId, limits: RateLimits) => RateAnswer | Promise<RateAnswer>;
}

interface Asked {
  readonly appId: AppId;
  readonly limits: RateLimits;
}

const BATCH_MAX = 1_024;
const RETRIES_MAX = 5; // Half a second without a database. A token that was taken twice for that only delays the app.

/**
 * The bucket lies in the database; one statement takes tokens for all calls that wait in this process. What an empty
 * bucket answered is remembered until its next token, so that a caller who hammers costs no statement.
 */
export function createRateLimiter(pool: Pool, clock: Clock): RateLimiter {
  const empty = new Map<AppId, { readonly limits: RateLimits; readonly untilMs: number }>();
  const taking = createBatcher<Asked, RateAnswer>({
    run: (asked) => takeForAll(pool, asked),
    itemsMax: BATCH_MAX,
    retriesMax: RETRIES_MAX,
  });

  async function ask(asked: Asked): Promise<RateAnswer> {
    const answer = await taking.submit(asked);
    if (!answer.isTaken) {
      empty.set(asked.appId, { limits: asked.limits, untilMs: clock.nowMs() + answer.waitMs });
    }
    return answer;
  }

  return {
    take: (appId, limits) => {
      const known = empty.get(appId);
      if (known === undefined) return ask({ appId, limits });
      const waitMs = known.untilMs - clock.nowMs();
      // Other limits than those it was empty under: an operator's change holds at once.
      if (waitMs > 0 && isSame(known.limits, limits)) return refused(waitMs);
      empty.delete(appId);
      return ask({ appId, limits });
    },
  };
}

function refused(waitMs: number): RateAnswer {
  return { isTaken: false, tokensLeft: 0, waitMs };
}

function isSame(left: RateLimits, right: RateLimits): boolean {
  return left.rateBurst === right.rateBurst && left.ratePerMinute === right.ratePerMinute;
}

/** Takes what each app's calls want, and hands it out in the order in which they came. */
async function takeForAll(pool: Pool, asked: readonly Asked[]): Promise<readonly RateAnswer[]> {
  const byApp = new Map<AppId, { wanted: number; limits: RateLimits }>();
  for (const { appId, limits } of asked) byApp.set(appId, { wanted: (byApp.get(appId)?.wanted ?? 0) + 1, limits });
  const rows = await takeTokens(
    pool,
    [...byApp].map(([appId, { wanted, limits }]) => {
      return { bucket: appId, wanted, perMinute: limits.ratePerMinute, burst: limits.rateBurst };
    }),
  );
  const buckets = new Map(rows.map((row) => [row.app_id, { row, handedOut: 0 }]));
  return asked.map(({ appId }) => {
    const bucket = buckets.get(appId);
    if (bucket === undefined) throw new Error('The rate limit was not answered.');
    const { granted, tokens_left: tokensLeft, wait_ms: waitMs } = bucket.row;
    bucket.handedOut += 1;
    if (bucket.handedOut > granted) return refused(waitMs);
    // As if they had come one by one: the first of them leaves what the others take.
    return { isTaken: true, tokensLeft: tokensLeft + granted - bucket.handedOut, waitMs: 0 };
  });
}
