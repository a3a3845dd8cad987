const POLL_MS = 20;
const WAIT_MS_MAX = 20_000;

/** Polls until `look` returns something other than undefined or false, and returns that. */
export async function waitUntil<Found>(what: string, look: () => Found | false | undefined): Promise<Found> {
  const limit = AbortSignal.timeout(WAIT_MS_MAX);
  for (;;) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    if (limit.aborted) throw new Error(`Not within ${WAIT_MS_MAX} ms: ${what}.`);
    await new Promise((resolve) => {
      setTimeout(resolve, POLL_MS);
    });
  }
}
