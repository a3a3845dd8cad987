import type { Waiter } from '#db/batcher.ts';
import { isServerFault } from '#db/pool.ts';
import { steadyClock } from '#kernel/clock.ts';

/** How long a statement that has not failed may take before those who wait for it go on without it. */
const PATIENCE_MS = 1_000;

/** What one lane of statements tells of the server, for those who cannot wait until it is back. */
interface OutageWatch {
  /** Runs one statement of the lane and learns from how it ends. */
  readonly run: <Result>(statement: () => Promise<Result>) => Promise<Result>;
  /** True from a fault of the server to the next statement that succeeds. */
  readonly isAway: () => boolean;
  /**
   * Begins the work and gives what it comes to; or what `late` makes of it, as soon as it can no longer be waited for: the
   * server is away, or it has taken a second.
   */
  readonly orLate: <Result>(
    begin: (waiter: Waiter<Result>) => void,
    late: (work: Promise<Result>) => Promise<Result>,
  ) => Promise<Result>;
}

export function createOutageWatch(): OutageWatch {
  let isAway = false;
  /** Those who wait, the one who began first first, and until when. */
  const waiting = new Map<() => void, number>();
  let timer: NodeJS.Timeout | undefined;

  /** One timer for all, which runs on when nobody waits any more: begun and ended for each, it would cost each as much as its wait. */
  function giveUpOverdue(): void {
    timer = undefined;
    const nowMs = steadyClock.nowMs();
    for (const [giveUp, untilMs] of waiting) {
      if (untilMs > nowMs) return lookIn(untilMs - nowMs);
      waiting.delete(giveUp);
      giveUp();
    }
  }

  function lookIn(ms: number): void {
    timer ??= setTimeout(giveUpOverdue, ms).unref();
  }

  return {
    run: async (statement) => {
      try {
        const result = await statement();
        isAway = false;
        return result;
      } catch (fault) {
        if (isServerFault(fault)) {
          isAway = true;
          for (const giveUp of waiting.keys()) giveUp();
          waiting.clear();
        }
        throw fault;
      }
    },
    isAway: () => isAway,
    orLate: <Result>(begin: (waiter: Waiter<Result>) => void, late: (work: Promise<Result>) => Promise<Result>) =>
      new Promise<Result>((resolve, reject) => {
        let work: PromiseWithResolvers<Result> | undefined;
        const giveUp = (): void => {
          work = Promise.withResolvers();
          resolve(late(work.promise));
        };
        begin({
          resolve: (result) => {
            if (work !== undefined) return work.resolve(result);
            waiting.delete(giveUp);
            resolve(result);
          },
          reject: (fault) => {
            if (work !== undefined) return work.reject(fault);
            waiting.delete(giveUp);
            reject(fault); // Failed in time is in time: whoever waits hears of it.
          },
        });
        if (isAway) return giveUp();
        waiting.set(giveUp, steadyClock.nowMs() + PATIENCE_MS);
        lookIn(PATIENCE_MS);
      }),
  };
}
