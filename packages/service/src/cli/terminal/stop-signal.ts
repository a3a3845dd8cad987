import { steadyClock } from '#kernel/time/clock.ts';

/** Signals within this time count as one. */
const SAME_SIGNAL_MS = 1_000;

/**
 * Resolves with the first SIGINT or SIGTERM. One that comes a second later exits at once, for people who do not want to
 * wait. A sooner one does not, because npm hands on what the terminal or systemd has already sent to every process, and
 * so does our first process to its workers.
 */
export function untilStopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let toldAtMs: number | undefined;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.removeAllListeners(signal); // In a container, the launcher's, which ends a start at once.
      process.on(signal, () => {
        toldAtMs ??= steadyClock.nowMs();
        if (steadyClock.nowMs() - toldAtMs > SAME_SIGNAL_MS) process.exit(1);
        resolve();
      });
    }
  });
}
