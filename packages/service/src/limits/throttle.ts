import type { Pool } from '#db/pool.ts';
import { forgetTries, takeTokens } from '#limits/queries.ts';

export interface ThrottleRate {
  readonly ratePerMinute: number;
  readonly rateBurst: number;
  /** Tokens that one try costs: so a try can be rarer than one a minute. */
  readonly cost: number;
}

/** Buckets of tries, by name, shared by every process. Meant for rare acts: each one is a statement of its own. */
export interface Throttle {
  /** Takes a try. Undefined: go on. Otherwise the milliseconds until the next. */
  readonly take: (bucket: string, rate: ThrottleRate) => Promise<{ readonly waitMs: number } | undefined>;
  /** Gives a try back that did no harm. */
  readonly giveBack: (bucket: string, rate: ThrottleRate) => Promise<void>;
}

interface ForgetfulThrottle extends Throttle {
  /** Removes buckets that were not used for a day: they would be full again. */
  readonly forget: () => Promise<void>;
}

const BUCKETS_FORGOTTEN_MAX = 10_000;

export function createThrottle(pool: Pool): ForgetfulThrottle {
  async function move(bucket: string, { ratePerMinute, rateBurst }: ThrottleRate, wanted: number) {
    const [row] = await takeTokens(pool, [{ bucket, wanted, perMinute: ratePerMinute, burst: rateBurst }]);
    if (row === undefined) throw new Error('The throttle was not answered.');
    return row;
  }

  return {
    take: async (bucket, rate) => {
      const { granted, wait_ms: waitMs } = await move(bucket, rate, rate.cost);
      if (granted === rate.cost) return undefined;
      if (granted > 0) await move(bucket, rate, -granted); // Part of a try is none.
      return { waitMs };
    },
    giveBack: async (bucket, rate) => {
      await move(bucket, rate, -rate.cost);
    },
    forget: () => forgetTries(pool, BUCKETS_FORGOTTEN_MAX),
  };
}
