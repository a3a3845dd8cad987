import { isServerFault } from '#db/pool.ts';

/** How long a statement that has not failed may take before those who wait for it go on without it. */
const PATIENCE_MS = 1_000;

/** What one lane of statements tells of the server, for those who cannot wait until it is back. */
interface OutageWatch {
  /** Runs one statement of the lane and learns from how it ends. */
  readonly run: <Result>(statement: () => Promise<Result>) => Promise<Result>;
  /** True from a fault of the server to the next statement that succeeds. */
  readonly isAway: () => boolean;
  /** False as soon as the work can no longer be waited for: the server is away, or it has taken a second. */
  readonly isInTime: (work: Promise<unknown>) => Promise<boolean>;
}

export function createOutageWatch(): OutageWatch {
  let isAway = false;
  const waiting = new Set<() => void>();

  return {
    run: async (statement) => {
      try {
        const result = await statement();
        isAway = false;
        return result;
      } catch (fault) {
        if (isServerFault(fault)) {
          isAway = true;
          for (const giveUp of waiting) giveUp();
        }
        throw fault;
      }
    },
    isAway: () => isAway,
    isInTime: async (work) => {
      if (isAway) return false;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const giveUp = () => resolve(false);
      const timer = setTimeout(giveUp, PATIENCE_MS);
      waiting.add(giveUp);
      const inTime = () => resolve(true); // Failed in time is in time: whoever waits hears of it.
      work.then(inTime, inTime);
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        waiting.delete(giveUp);
      }
    },
  };
}
