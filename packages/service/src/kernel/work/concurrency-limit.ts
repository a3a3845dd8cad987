/** Bounds one kind of work: what runs at once, and what waits in order. The rest is turned away. */
interface ConcurrencyLimit {
  /**
   * Runs the work when a slot is free. Resolves to undefined, having run nothing, when too much work waits already: the
   * caller answers 429 instead of letting the queue grow.
   */
  readonly run: <Result>(work: () => Promise<Result>) => Promise<Result | undefined>;
}

export function createConcurrencyLimit({
  runningMax,
  waitingMax,
}: Record<'runningMax' | 'waitingMax', number>): ConcurrencyLimit {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    run: async (work) => {
      if (running >= runningMax) {
        if (waiting.length >= waitingMax) return undefined;
        // Work that ends passes its slot on directly, so `running` stays as it is and newcomers cannot overtake.
        await new Promise<void>((resolve) => waiting.push(resolve));
      } else running += 1;
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next === undefined) running -= 1;
        else next();
      }
    },
  };
}
