const POLL_MS = 20;
const WAIT_MS_MAX = 20_000;

type Look<Found> = () => Promise<Found | false | undefined> | Found | false | undefined;

/**
 * Waits until a condition holds, or until `look` gives something other than undefined or false, and gives that. The limit
 * only gives a condition that never comes true a message: no test is decided by how long it takes.
 */
export function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void>;
export function eventually<Found>(what: string, look: Look<Found>): Promise<Found>;
export async function eventually(what: string, look: Look<unknown>): Promise<unknown> {
  for (let waitedMs = 0; waitedMs < WAIT_MS_MAX; waitedMs += POLL_MS) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => {
      setTimeout(resolve, POLL_MS);
    });
  }
  throw new Error(`Waited in vain until ${what}.`);
}
