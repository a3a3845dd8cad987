import type { Queryable } from '#db/pool/pool.ts';
import type { SteadyClock } from '#kernel/time/clock.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/time/repeat.ts';
import { observe } from '#status/queries.ts';
import type { Trouble } from '#status/trouble.ts';

interface WatchOptions {
  readonly db: Queryable;
  readonly look: () => Trouble;
  readonly clock: SteadyClock;
  readonly log: Log;
}

/** The period between two observations. `observe.sql` counts on it. */
const PERIOD_MS = 10_000;
/** The time from which a statement counts as slow: each call waits for two statements. */
const SLOW_MS = 1_000;
/** One slow statement may have waited for a checkpoint or a lock. */
const SLOW_MIN = 2;

/** Notes every ten seconds what this process sees, from the start on, for the status page of all. */
export function startStatusWatch({ db, look, clock, log }: WatchOptions): { readonly stop: () => Promise<void> } {
  let notedMs: number | undefined;
  let slow = 0;

  async function pass(): Promise<void> {
    const begunMs = clock.nowMs();
    try {
      const silentMs = notedMs === undefined ? undefined : begunMs - notedMs;
      await observe(db, { ...look(), silentMs, isSlow: slow >= SLOW_MIN });
      notedMs = clock.nowMs();
      slow = notedMs - begunMs >= SLOW_MS ? slow + 1 : 0;
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'the status of the service could not be noted');
    }
  }

  const first = pass();
  const passes = repeat(pass, PERIOD_MS);
  return {
    stop: async () => {
      await first;
      await passes.stop();
    },
  };
}
