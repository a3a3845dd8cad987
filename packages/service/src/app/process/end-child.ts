import type { ChildProcess } from 'node:child_process';

/**
 * Asks a process to stop and waits for its end. Kills it if it has not ended by itself within `msMax`: one that hangs hears no
 * signal, and must not hold up all others. False if it had to be killed.
 */
export async function endChild(child: ChildProcess, msMax: number): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) return true;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  let isKilled = false;
  const timer = setTimeout(() => {
    isKilled = true;
    child.kill('SIGKILL');
  }, msMax);
  child.kill('SIGTERM');
  await ended;
  clearTimeout(timer);
  return !isKilled;
}
