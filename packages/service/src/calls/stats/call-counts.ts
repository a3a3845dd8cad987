import type { Queryable } from '#db/pool/pool.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/time/repeat.ts';
import { createCallSums, type EndedCall } from '#calls/stats/call-sums.ts';
import { addSums } from '#calls/stats/queries.ts';

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

/** The time is longer than for traces, because every process writes the same few rows. */
const FLUSH_MS = 1_000;
/** Sums of one statement, of either kind. */
const SUMS_PER_STATEMENT = 500;

/**
 * Adds sums to the database every second, on connections that no call waits for. A process that dies loses those of its
 * last second. Live charges are not among them: those come from receipts (`roll-up.ts`).
 *
 * If a connection is lost while it adds sums, they are sent again, and may then count twice.
 */
export function startCallCounts({ db, log, clock = steadyClock }: CallCountsOptions): CallCounts {
  const sums = createCallSums(clock);
  let leaving: ReturnType<typeof sums.takeOldest>;

  async function flush(): Promise<void> {
    for (leaving ??= sums.takeOldest(); leaving !== undefined; leaving = sums.takeOldest()) {
      const { begunMs, calls, keys } = leaving;
      // What the database did not take stays for the next pass.
      while (calls.length + keys.length > 0) {
        const part = { calls: calls.slice(0, SUMS_PER_STATEMENT), keys: keys.slice(0, SUMS_PER_STATEMENT) };
        await addSums(db, part, Math.round(clock.nowMs() - begunMs));
        calls.splice(0, SUMS_PER_STATEMENT);
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
