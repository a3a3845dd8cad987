import assert from 'node:assert/strict';

const POLL_MS = 20;
/** No test measures how long this takes. The limit allows for a busy machine. */
const WAIT_MS_MAX = 60_000;

/** Looks repeatedly until the result is something other than undefined or false, and returns that. Fails if it never is. */
export async function waitUntil<Found>(
  what: string,
  look: () => Promise<Found | false | undefined> | Found | false | undefined,
  waitMsMax = WAIT_MS_MAX,
): Promise<Found> {
  const limit = AbortSignal.timeout(waitMsMax);
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (limit.aborted) assert.fail(`Not within ${waitMsMax} ms: ${what}.`);
    await new Promise((resolve) => {
      setTimeout(resolve, POLL_MS);
    });
  }
}

/** Waits for something that must happen soon, because a hanging test says less than one that names what it waited for. */
export async function soon(what: string, happening: Promise<unknown>): Promise<void> {
  let isOver = false;
  const ended = happening.finally(() => (isOver = true));
  ended.catch(() => {}); // The await below reports it.
  await waitUntil(what, () => isOver);
  await ended;
}
