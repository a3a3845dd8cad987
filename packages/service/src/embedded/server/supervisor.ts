import { setTimeout as sleep } from 'node:timers/promises';
import type { Postmaster } from '#embedded/server/postmaster.ts';
import { describeFault, type Log } from '#kernel/log.ts';

// The first restart is immediate. A server that does not stay up is then restarted at growing intervals, but never given up.
const RESTART_DELAY_MIN_MS = 100;
const RESTART_DELAY_MAX_MS = 5_000;
const STEADY_AFTER_MS = 30_000; // After running this long, a server that dies is restarted at once again.

interface Supervised {
  readonly postmaster: Postmaster;
  /** Restarts the server. Throws when that fails, and soon after the signal is aborted. */
  readonly relaunch: (ending: AbortSignal) => Promise<Postmaster>;
  readonly log: Log;
}

/** Restarts the server whenever it ends, until `stop`, which ends the server and resolves when it is gone. */
export function supervise(supervised: Supervised): { readonly stop: () => Promise<void> } {
  const ending = new AbortController();
  const over = keepRunning(supervised, ending.signal);
  return {
    stop: async () => {
      ending.abort();
      await over;
    },
  };
}

/** Loops until `ending`. After each start it waits for the server's death, then pauses and starts it again. */
async function keepRunning({ postmaster: first, relaunch, log }: Supervised, ending: AbortSignal): Promise<void> {
  const asked = new Promise<void>((resolve) => ending.addEventListener('abort', () => resolve(), { once: true }));
  let postmaster: Postmaster | undefined = first;
  let steady = AbortSignal.timeout(STEADY_AFTER_MS);
  let delayMs = 0;
  while (!ending.aborted) {
    if (postmaster !== undefined) {
      const how = await Promise.race([postmaster.exited, asked]);
      if (ending.aborted) break;
      if (steady.aborted) delayMs = 0;
      log.error({ pid: postmaster.pid, how, delayMs }, 'PostgreSQL ended unexpectedly and is restarted');
    }
    await pause(delayMs, ending);
    delayMs = Math.min(Math.max(delayMs * 2, RESTART_DELAY_MIN_MS), RESTART_DELAY_MAX_MS);
    postmaster = await relaunch(ending).catch((fault: unknown) => {
      log.warn({ fault: describeFault(fault), delayMs }, 'PostgreSQL could not be restarted; trying again');
      return undefined;
    });
    steady = AbortSignal.timeout(STEADY_AFTER_MS);
    if (postmaster !== undefined) log.info({ pid: postmaster.pid }, 'PostgreSQL answers again');
  }
  await postmaster?.stop();
}

async function pause(delayMs: number, ending: AbortSignal): Promise<void> {
  if (delayMs > 0) await sleep(delayMs, undefined, { signal: ending }).catch(() => undefined);
}
