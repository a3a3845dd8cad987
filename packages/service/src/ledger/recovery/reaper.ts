import { LEASE_MS } from '#db/instance.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/repeat.ts';
import { holdsReaped } from '#ledger/recovery/metrics.ts';

const PERIOD_MS = 1_000;
const HOLDS_PER_PASS = 500;

interface Reaper {
  readonly stop: () => Promise<void>;
}

/** Holds of one kind. */
interface ReaperPass {
  /** Releases at most so many orphaned holds and gives how many it released. */
  readonly release: (holdsMax: number) => Promise<number>;
  /** Comes before it once the database has been reached; false when nothing may be released yet. */
  readonly prepare?: () => Promise<boolean>;
}

interface ReaperOptions {
  readonly passes: readonly ReaperPass[];
  readonly log: Log;
  /** Of every process on this database. */
  readonly leaseMs?: number;
}

/**
 * Gives back the holds of processes that died (WA-10). After an outage of the database every lease has run out, so it
 * waits until it has itself been connected for a whole lease: by then each process that lives has renewed its own. What
 * the dead have left on disk is settled first, so that only what nobody knows the end of is released.
 */
export function startReaper({ passes, log, leaseMs = LEASE_MS }: ReaperOptions): Reaper {
  /** Passes that must have reached the database in a row before anything is released: a whole lease of them. */
  const passesBeforeRelease = leaseMs / PERIOD_MS;
  // One count each: while one kind of money cannot be reached, the holds of the other still come back.
  const reached = passes.map(() => 0);

  async function pass({ release, prepare }: ReaperPass, index: number): Promise<void> {
    const passes = reached[index] ?? 0;
    try {
      const isPrepared = passes > 0 && prepare !== undefined ? await prepare() : true;
      const mayRelease = passes >= passesBeforeRelease && isPrepared;
      const released = await release(mayRelease ? HOLDS_PER_PASS : 0);
      reached[index] = passes + 1;
      holdsReaped.add(released);
      if (released > 0) log.warn({ released }, 'holds that no call has were released');
    } catch (fault) {
      reached[index] = 0;
      log.warn({ fault: describeFault(fault) }, 'the reaper did not get through its pass');
    }
  }

  return repeat(() => Promise.all(passes.map(pass)), PERIOD_MS);
}
