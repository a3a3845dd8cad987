import type { Pool } from '#db/pool/pool.ts';
import { observeClock } from '#db/clock/queries.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/time/repeat.ts';

/** This is far below the minute by which the database tells a clock that has run on from one that made a step. */
const PERIOD_MS = 5_000;

/** Looks at the database's clock every five seconds, so that a step of it begins no month (`observe_clock.sql`). */
export function startClockWatch(pool: Pool, log: Log, isKeeper: () => boolean): { readonly stop: () => Promise<void> } {
  async function look(): Promise<void> {
    if (!isKeeper()) return;
    try {
      await observeClock(pool);
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, "the database's clock could not be looked at");
    }
  }
  return repeat(look, PERIOD_MS);
}
