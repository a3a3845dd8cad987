import type { Pool } from '#db/pool/pool.ts';
import { deleteIdleBuckets, takeTokens } from '#limits/queries.ts';

export interface ThrottleRate {
  readonly ratePerMinute: number;
  readonly rateBurst: number;
  /** Tokens that one attempt costs. A cost above 1 makes attempts rarer than the slowest rate, one token a minute. */
  readonly cost: number;
}

/**
 * Attempt buckets by name, shared by every process. They are for rare actions such as sign-ins: each one is a statement
 * of its own, without the batching and leasing that calls need.
 */
export interface Throttle {
  /** Takes one attempt. Undefined means go on; otherwise the milliseconds until the next attempt. */
  readonly take: (bucket: string, rate: ThrottleRate) => Promise<{ readonly waitMs: number } | undefined>;
  /** Gives back an attempt that did no harm, such as a sign-in with the right password. */
  readonly giveBack: (bucket: string, rate: ThrottleRate) => Promise<void>;
}

export interface ForgetfulThrottle extends Throttle {
  /** Deletes buckets that have not been used for a day. They would be full again, so nothing is forgiven. */
  readonly forget: () => Promise<void>;
}

const BUCKETS_FORGOTTEN_MAX = 10_000;

export function createThrottle(pool: Pool): ForgetfulThrottle {
  async function move(bucket: string, { ratePerMinute, rateBurst }: ThrottleRate, wanted: number) {
    const [row] = await takeTokens(pool, [{ bucket, wanted, perMinute: ratePerMinute, burst: rateBurst }]);
    if (row === undefined) throw new Error('The database returned no row for a throttle bucket.');
    return row;
  }

  return {
    take: async (bucket, rate) => {
      const { granted, wait_ms: waitMs } = await move(bucket, rate, rate.cost);
      if (granted === rate.cost) return undefined;
      // The statement grants what there is. An attempt that is only partly paid for is refused, and its tokens go back.
      if (granted > 0) await move(bucket, rate, -granted);
      return { waitMs };
    },
    giveBack: async (bucket, rate) => {
      await move(bucket, rate, -rate.cost);
    },
    forget: () => deleteIdleBuckets(pool, BUCKETS_FORGOTTEN_MAX),
  };
}
