/** Waits for `ms`. With `{ ref: false }` the wait does not keep the process from ending. */
export function sleep(ms: number, { ref = true }: { readonly ref?: boolean } = {}): Promise<void> {
  // Not the one of node:timers/promises: the test runner's mock timers do not reach a name that was imported from there.
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    if (!ref) timer.unref();
  });
}
