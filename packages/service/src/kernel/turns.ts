/** Work of one kind, so much of it at a time. */
interface Turns {
  /** Does the work when its turn comes; undefined, having done nothing, when too much waits already. */
  readonly take: <Result>(work: () => Promise<Result>) => Promise<Result | undefined>;
}

export function createTurns({ runningMax, waitingMax }: Record<'runningMax' | 'waitingMax', number>): Turns {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    take: async (work) => {
      if (running >= runningMax) {
        if (waiting.length >= waitingMax) return undefined;
        await new Promise<void>((resolve) => waiting.push(resolve)); // Whoever ends hands its turn on.
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
