const POLL_MS = 20;
/** No test is about how long it takes: this is for a machine with much else to do. */
const WAIT_MS_MAX = 60_000;

/** Looks again and again until there is something other than undefined or false, and gives that. */
export async function waitUntil<Found>(
  what: string,
  look: () => Promise<Found | false | undefined> | Found | false | undefined,
  waitMsMax = WAIT_MS_MAX,
): Promise<Found> {
  const limit = AbortSignal.timeout(waitMsMax);
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (limit.aborted) throw new Error(`Not within ${waitMsMax} ms: ${what}.`);
    await new Promise((resolve) => {
      setTimeout(resolve, POLL_MS);
    });
  }
}

/** Waits for what must happen soon: a test that hangs tells less than one that says for what it waited. */
export async function soon(what: string, happening: Promise<unknown>): Promise<void> {
  let isOver = false;
  const ended = happening.finally(() => (isOver = true));
  ended.catch(() => {}); // Told below, once it is waited for.
  await waitUntil(what, () => isOver);
  await ended;
}
