import { type Refusal, refuse } from '#kernel/refusal.ts';

/** Does work when its turn comes. Refuses it, undone, where too much waits already. */
export type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result | Refusal<'TOO_MANY_REQUESTS'>>;

interface TurnsOptions {
  readonly atOnceMax: number;
  readonly waitingMax: number;
}

/** Turns for work that takes much memory and a thread of few: some pieces at once, some more in order behind them. */
export function createTurns({ atOnceMax, waitingMax }: TurnsOptions): InTurn {
  const waiting: (() => void)[] = [];
  let running = 0;

  return async (work) => {
    if (running < atOnceMax) running += 1;
    else if (waiting.length < waitingMax) await new Promise<void>((resolve) => waiting.push(resolve));
    else return refuse('TOO_MANY_REQUESTS', 'Too many are signing in just now. Try again.', { retryAfterSeconds: 1 });
    try {
      return await work();
    } finally {
      const next = waiting.shift(); // It takes over the place of the one that has ended.
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
