import type { KeyDirectory } from '#accounts/key-directory.ts';
import { describeFault, type Log } from '#kernel/log.ts';

const PERIOD_MS = 60_000;

interface KeyUse {
  readonly stop: () => Promise<void>;
}

/** Writes down once a minute which keys were used (CP-03), and once more at the end. */
export function startKeyUse({ noteUse }: Pick<KeyDirectory, 'noteUse'>, log: Log): KeyUse {
  const note = (): Promise<void> =>
    noteUse().catch((fault: unknown) => {
      log.warn({ fault: describeFault(fault) }, 'the use of keys could not be written down');
    });
  const timer = setInterval(() => void note(), PERIOD_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return note();
    },
  };
}
