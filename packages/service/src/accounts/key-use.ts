import { touchKeys } from '#accounts/queries.ts';
import type { Queryable } from '#db/pool.ts';
import type { Clock } from '#kernel/clock.ts';
import type { KeyId } from '#kernel/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/repeat.ts';

const PERIOD_MS = 60_000;
const KEYS_AT_ONCE_MAX = 1_000;

/** When keys were last used, for their owners to see which are idle (CP-03). */
interface KeyUse {
  /** A key was used now. Costs no more than a note in memory. */
  readonly note: (keyId: KeyId) => void;
  readonly stop: () => Promise<void>;
}

interface KeyUseOptions {
  readonly db: Queryable;
  readonly clock: Clock;
  readonly log: Log;
}

/** Writes down once a minute when the keys were used that have been, and once more at the end. */
export function startKeyUse({ db, clock, log }: KeyUseOptions): KeyUse {
  const used = new Map<KeyId, number>();

  async function writeDown(): Promise<void> {
    const noted = [...used];
    for (let from = 0; from < noted.length; from += KEYS_AT_ONCE_MAX) {
      const part = noted.slice(from, from + KEYS_AT_ONCE_MAX);
      const nowMs = clock.nowMs();
      const uses = part.map(([keyId, usedAtMs]) => ({ keyId, agoMs: nowMs - usedAtMs }));
      await touchKeys(db, uses);
      for (const [keyId, usedAtMs] of part) if (used.get(keyId) === usedAtMs) used.delete(keyId);
    }
  }

  /** What a fault has kept from being written down is still noted, for the next time. */
  async function pass(): Promise<void> {
    try {
      await writeDown();
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'the use of keys could not be written down');
    }
  }

  const passes = repeat(pass, PERIOD_MS);
  return {
    note: (keyId) => void used.set(keyId, clock.nowMs()),
    stop: async () => {
      await passes.stop();
      await pass();
    },
  };
}
