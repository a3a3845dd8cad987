import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 10;

/** True as soon as `holds` does; false when it still does not after `timeoutMs`. */
export async function waitUntil(holds: () => boolean | Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const limit = AbortSignal.timeout(timeoutMs);
  while (!(await holds())) {
    if (limit.aborted) return false;
    await sleep(POLL_MS);
  }
  return true;
}

// 60 s for the orderly way, which writes everything down first; then PostgreSQL's own emergency stop, which gives its
// children 5 s; last the kernel's.
const STOP_STEPS = [
  { signal: 'SIGINT', waitMs: 60_000 },
  { signal: 'SIGQUIT', waitMs: 10_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
] as const;

/** Stops a postmaster, politely first. False when it is still there after the last step (75 s). */
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
