/**
 * Does work every so often, never twice at once: a turn that is due while the one before still runs is left out. The work
 * catches its own faults. `stop` ends the turns and waits for the one under way.
 */
export function repeat(work: () => Promise<unknown>, periodMs: number): { readonly stop: () => Promise<void> } {
  let working: Promise<unknown> | undefined;
  const timer = setInterval(() => {
    working ??= work().finally(() => {
      working = undefined;
    });
  }, periodMs);
  return {
    stop: async () => {
      clearInterval(timer);
      await working;
    },
  };
}
