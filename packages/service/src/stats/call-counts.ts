import type { Queryable } from '#db/pool.ts';
import { steadyClock } from '#kernel/clock.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/repeat.ts';
import { createCallSums, type EndedCall } from '#stats/call-sums.ts';
import { addCallSums, addKeySums } from '#stats/queries.ts';

/** Counts calls in memory and adds the sums to the database. */
export interface CallCounts {
  /** Runs for every call, so it only adds to sums in memory. */
  readonly note: (call: EndedCall) => void;
  readonly stop: () => Promise<void>;
}

interface CallCountsOptions {
  readonly db: Queryable;
  readonly log: Log;
  readonly clock?: typeof steadyClock;
}

const FLUSH_MS = 250;
/** Sums of one statement. */
const SUMS_PER_STATEMENT = 500;

/**
 * Adds sums to the database four times a second, on connections that no call waits for. A process that dies loses those of
 * its last quarter of a second. Live charges are not among them: those come from receipts (`roll-up.ts`).
 *
 * If a connection is lost while it adds sums, they are sent again, and may then count twice.
 */
export function startCallCounts({ db, log, clock = steadyClock }: CallCountsOptions): CallCounts {
  const sums = createCallSums(clock);
  let leaving: ReturnType<typeof sums.takeOldest>;

  async function flush(): Promise<void> {
    for (leaving ??= sums.takeOldest(); leaving !== undefined; leaving = sums.takeOldest()) {
      const { begunMs, calls, keys } = leaving;
      const agoMs = (): number => Math.round(clock.nowMs() - begunMs);
      // What the database did not take stays for the next pass.
      while (calls.length > 0) {
        await addCallSums(db, calls.slice(0, SUMS_PER_STATEMENT), agoMs());
        calls.splice(0, SUMS_PER_STATEMENT);
      }
      while (keys.length > 0) {
        await addKeySums(db, keys.slice(0, SUMS_PER_STATEMENT), agoMs());
        keys.splice(0, SUMS_PER_STATEMENT);
      }
    }
  }

  async function pass(): Promise<void> {
    try {
      await flush();
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'sums of calls could not be added to the statistics');
    }
  }

  const flushes = repeat(pass, FLUSH_MS);
  return {
    note: sums.note,
    stop: async () => {
      await flushes.stop();
      await pass();
    },
  };
}
