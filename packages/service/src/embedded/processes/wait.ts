import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 10;

/** Waits until `holds` returns true. False when it still does not after `timeoutMs`. */
export async function waitUntil(holds: () => boolean | Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const limit = AbortSignal.timeout(timeoutMs);
  while (!(await holds())) {
    if (limit.aborted) return false;
    await sleep(POLL_MS);
  }
  return true;
}

// First PostgreSQL's fast shutdown, which writes a checkpoint: 60 s. Then its immediate shutdown, which gives its children
// 5 s. Last the kernel's kill.
const STOP_STEPS = [
  { signal: 'SIGINT', waitMs: 60_000 },
  { signal: 'SIGQUIT', waitMs: 10_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
] as const;

/** Stops a postmaster, gently first. False when it still runs after the last step (75 s). */
export async function stopInSteps(postmaster: {
  readonly isRunning: () => boolean | Promise<boolean>;
  readonly send: (signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL') => void;
}): Promise<boolean> {
  const isGone = async (): Promise<boolean> => !(await postmaster.isRunning());
  for (const { signal, waitMs } of STOP_STEPS) {
    if (await isGone()) return true;
    postmaster.send(signal);
    if (await waitUntil(isGone, waitMs)) return true;
  }
  return false;
}
