import { LEASE_MS } from '#db/instance.ts';
import { describeFault, type Log } from '#kernel/log.ts';

const PERIOD_MS = 1_000;
const HOLDS_PER_PASS = 500;
/** Passes that must have reached the database in a row before anything is released: a whole lease of them. */
const PASSES_BEFORE_RELEASE = LEASE_MS / PERIOD_MS;

interface Reaper {
  readonly stop: () => Promise<void>;
}

interface ReaperOptions {
  /** Releases at most so many orphaned holds and gives how many it released: the ledger's, then the sandbox's. */
  readonly passes: readonly ((holdsMax: number) => Promise<number>)[];
  readonly log: Log;
}

/**
 * Gives back the holds of processes that died (WA-10). After an outage of the database every lease has run out, so it
 * waits until it has itself been connected for a whole lease: by then each process that lives has renewed its own.
 */
export function startReaper({ passes, log }: ReaperOptions): Reaper {
  let reached = 0;

  async function pass(): Promise<void> {
    try {
      for (const release of passes) {
        const released = await release(reached < PASSES_BEFORE_RELEASE ? 0 : HOLDS_PER_PASS);
        if (released > 0) log.warn({ released }, 'holds of a process that died were released');
      }
      reached += 1;
    } catch (fault) {
      reached = 0;
      log.warn({ fault: describeFault(fault) }, 'the reaper could not reach the database');
    }
  }

  let passing: Promise<void> | undefined;
  const timer = setInterval(() => {
    passing ??= pass().finally(() => {
      passing = undefined;
    });
  }, PERIOD_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      await passing;
    },
  };
}
