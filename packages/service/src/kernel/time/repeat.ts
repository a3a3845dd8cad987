/**
 * Runs work every `periodMs`, never twice at once: a run that is due while the previous one is still going is skipped. The
 * work must catch its own faults. `stop` ends the repetition and waits for the run in progress.
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
