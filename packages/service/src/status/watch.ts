import type { Queryable } from '#db/pool.ts';
import type { SteadyClock } from '#kernel/clock.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/repeat.ts';
import { observe } from '#status/queries.ts';
import type { Trouble } from '#status/trouble.ts';

/** Notes what this process sees, for the status page of all. */
interface StatusWatch {
  /** The database takes nothing. */
  readonly isAway: () => boolean;
  readonly stop: () => Promise<void>;
}

interface WatchOptions {
  readonly db: Queryable;
  readonly look: () => Trouble;
  readonly clock: SteadyClock;
  readonly log: Log;
}

/** `observe.sql` counts on it. */
const PERIOD_MS = 10_000;
/** A statement that takes so long is noticed: each call waits for two. */
const SLOW_MS = 1_000;
/** One slow statement, or one that failed, may have waited for a checkpoint or a lock. */
const SLOW_MIN = 2;
const FAILURES_MIN = 2;

/** Notes every ten seconds, from the start on. */
export function startStatusWatch({ db, look, clock, log }: WatchOptions): StatusWatch {
  let notedMs: number | undefined;
  let failures = 0;
  let slow = 0;

  async function pass(): Promise<void> {
    const begunMs = clock.nowMs();
    try {
      const silentMs = notedMs === undefined ? undefined : begunMs - notedMs;
      await observe(db, { ...look(), silentMs, isSlow: slow >= SLOW_MIN });
      notedMs = clock.nowMs();
      failures = 0;
      slow = notedMs - begunMs >= SLOW_MS ? slow + 1 : 0;
    } catch (fault) {
      failures += 1;
      if (failures === 1) log.warn({ fault: describeFault(fault) }, 'the status of the service could not be noted');
    }
  }

  const first = pass();
  const passes = repeat(pass, PERIOD_MS);
  return {
    isAway: () => failures >= FAILURES_MIN,
    stop: async () => {
      await first;
      await passes.stop();
    },
  };
}
