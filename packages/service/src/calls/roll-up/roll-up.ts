import type { Pool } from '#db/pool/pool.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/time/repeat.ts';
import { declareLastPass, statsPasses } from '#calls/roll-up/metrics.ts';
import { beginPass, endPass, mergeDay, type RolledUp, rollUp, selectPassFrom } from '#calls/roll-up/queries.ts';
import { HOURS_KEPT_DAYS } from '#calls/stats/range.ts';

/** How long a charge takes to appear, while passes are short. */
const PERIOD_MS = 1_000;
/** Passes take a thirtieth of the time: one that takes long is followed by a long pause. */
const PAUSE_SHARE = 30;
const PAUSE_MS_MAX = 60_000;
/** The sizes of one statement, so that rows of sums are locked for a tenth of a second at most. */
export const PAGE = { walletsMax: 1_000, entriesMax: 3_000 } as const;
const MERGE_PERIOD_MS = 600_000;
/** Days that one pass merges. A table of years is merged in an hour. */
const DAYS_PER_MERGE = 100;

interface RollUpOptions {
  /** One connection, on which no call waits. */
  readonly pool: Pool;
  readonly log: Log;
  readonly periodMs?: number;
  /** Returns false while another process does this. */
  readonly isKeeper: () => boolean;
}

/**
 * Adds the charges of new receipts to the sums, every second. One process on a database does so at a time. Nothing is lost or
 * counted twice if it dies, because the sums change in one statement with the watermarks.
 */
export function startRollUp({ pool, log, isKeeper, periodMs = PERIOD_MS }: RollUpOptions): {
  readonly stop: () => Promise<unknown>;
} {
  let isStopping = false;
  let lastSeconds = 0;
  declareLastPass(() => lastSeconds);

  async function pass(): Promise<void> {
    if (!isKeeper()) return;
    try {
      const { begun, ended_seconds: endedSeconds } = await beginPass(pool, periodMs);
      lastSeconds = endedSeconds;
      if (!begun) return;
      await rollUpAll(pool, periodMs, () => isStopping);
      statsPasses.of({ result: 'done' }).add();
    } catch (fault) {
      statsPasses.of({ result: 'failed' }).add();
      log.warn({ fault: describeFault(fault) }, 'receipts could not be added to the statistics');
    }
  }

  async function merge(): Promise<void> {
    if (!isKeeper()) return;
    try {
      for (let days = 0; days < DAYS_PER_MERGE; days += 1) {
        if (isStopping || !(await mergeDay(pool, HOURS_KEPT_DAYS))) return;
      }
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'old hours of the statistics could not be merged');
    }
  }

  const passes = repeat(pass, periodMs);
  const merges = repeat(merge, MERGE_PERIOD_MS);
  return {
    stop: () => {
      isStopping = true;
      return Promise.all([passes.stop(), merges.stop()]);
    },
  };
}

/**
 * Adds all that is new, page by page. Returns the number of calls; fewer than all if another process adds or rebuilds, or on a
 * stop.
 */
export async function rollUpAll(pool: Pool, periodMs: number, isStopping = (): boolean => false): Promise<number> {
  const begunMs = steadyClock.nowMs();
  const from = await selectPassFrom(pool);
  let calls = 0;
  for (let after: bigint | null = 0n; after !== null; ) {
    const page: RolledUp | undefined = isStopping() ? undefined : await rollUp(pool, after, PAGE);
    if (page === undefined) return calls;
    calls += Number(page.calls);
    after = page.last_wallet;
  }
  const pauseMs = PAUSE_SHARE * (steadyClock.nowMs() - begunMs);
  // A little less than the period, because timers drift.
  await endPass(pool, Math.round(Math.min(PAUSE_MS_MAX, Math.max(pauseMs, 0.9 * periodMs))), from);
  return calls;
}
