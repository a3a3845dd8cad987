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
  // One count each: while one kind of money cannot be reached, the holds of the other still come back.
  const reached = passes.map(() => 0);

  async function pass(release: (holdsMax: number) => Promise<number>, index: number): Promise<void> {
    const isSteady = (reached[index] ?? 0) >= PASSES_BEFORE_RELEASE;
    try {
      const released = await release(isSteady ? HOLDS_PER_PASS : 0);
      reached[index] = (reached[index] ?? 0) + 1;
      if (released > 0) log.warn({ released }, 'holds of a process that died were released');
    } catch (fault) {
      reached[index] = 0;
      log.warn({ fault: describeFault(fault) }, 'the reaper could not reach the database');
    }
  }

  let passing: Promise<unknown> | undefined;
  const timer = setInterval(() => {
    passing ??= Promise.all(passes.map(pass)).finally(() => {
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
