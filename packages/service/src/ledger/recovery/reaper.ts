import { LEASE_MS } from '#db/processes/instance.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/time/repeat.ts';
import { holdsReaped } from '#ledger/recovery/metrics.ts';

const PERIOD_MS = 1_000;
/** Keeps one statement short. A pass a second still returns 30,000 holds a minute. */
const HOLDS_PER_PASS = 500;

interface Reaper {
  readonly stop: () => Promise<void>;
}

/** How holds of one kind are released: those of dead processes, live or sandbox, or the orphaned ones of this process. */
interface ReaperPass {
  /**
   * Releases holds and returns how many. Of dead processes it may release up to `holdsMax`; with 0 it only finds out
   * whether the database answers.
   */
  readonly release: (holdsMax: number) => Promise<number>;
  /** Runs before each release once the database has been reached. False if nothing may be released yet. */
  readonly prepare?: () => Promise<boolean>;
}

interface ReaperOptions {
  readonly passes: readonly ReaperPass[];
  readonly log: Log;
  /** The lease of the processes on this database. All must use the same. */
  readonly leaseMs?: number;
}

/**
 * Releases the holds of dead processes without a charge (WA-10). After an outage of the database every lease has run out,
 * also those of live processes. So the reaper waits until it has itself reached the database for a whole lease: by then
 * every live process has renewed its own. It also settles first what dead processes left on disk. A hold that is released
 * has lost its charge for good, so only holds of calls whose end is unknown may be released.
 */
export function startReaper({ passes, log, leaseMs = LEASE_MS }: ReaperOptions): Reaper {
  /** How many passes in a row must reach the database before anything is released: a whole lease. */
  const passesBeforeRelease = leaseMs / PERIOD_MS;
  // One count for each kind: while sandbox holds cannot be reached, live ones are still released.
  const reached = passes.map(() => 0);

  async function pass({ release, prepare }: ReaperPass, index: number): Promise<void> {
    const passes = reached[index] ?? 0;
    try {
      const isPrepared = passes > 0 && prepare !== undefined ? await prepare() : true;
      const mayRelease = passes >= passesBeforeRelease && isPrepared;
      const released = await release(mayRelease ? HOLDS_PER_PASS : 0);
      reached[index] = passes + 1;
      holdsReaped.add(released);
      if (released > 0) log.warn({ released }, 'holds of dead processes, or orphaned holds, were released');
    } catch (fault) {
      reached[index] = 0; // An outage: live processes may not have renewed their leases either.
      log.warn({ fault: describeFault(fault) }, 'a pass of the reaper failed');
    }
  }

  return repeat(() => Promise.all(passes.map(pass)), PERIOD_MS);
}
