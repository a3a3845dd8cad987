import { touchKeys } from '#developers/keys/queries.ts';
import type { Queryable } from '#db/pool/pool.ts';
import type { Clock } from '#kernel/time/clock.ts';
import type { KeyId } from '#kernel/values/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/time/repeat.ts';

const PERIOD_MS = 60_000;
const KEYS_AT_ONCE_MAX = 1_000;

/** Records when keys were last used, so that owners see which keys are idle (CP-03). */
interface KeyUse {
  /** Notes in memory that a key was used now. Runs for every call, so it does nothing else. */
  readonly note: (keyId: KeyId) => void;
  readonly stop: () => Promise<void>;
}

interface KeyUseOptions {
  readonly db: Queryable;
  readonly clock: Clock;
  readonly log: Log;
}

/** Writes the last use of each key to the database once a minute, and once more at the end. */
export function startKeyUse({ db, clock, log }: KeyUseOptions): KeyUse {
  const used = new Map<KeyId, number>();

  async function flush(): Promise<void> {
    const noted = [...used];
    for (let from = 0; from < noted.length; from += KEYS_AT_ONCE_MAX) {
      const part = noted.slice(from, from + KEYS_AT_ONCE_MAX);
      // Sent as how long ago, not as a time: the database's clock may differ from ours.
      const nowMs = clock.nowMs();
      const uses = part.map(([keyId, usedAtMs]) => ({ keyId, agoMs: nowMs - usedAtMs }));
      await touchKeys(db, uses);
      // A key that was used again meanwhile stays noted.
      for (const [keyId, usedAtMs] of part) if (used.get(keyId) === usedAtMs) used.delete(keyId);
    }
  }

  /** After a fault the uses stay noted and are written by the next pass. */
  async function pass(): Promise<void> {
    try {
      await flush();
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'the last use of keys could not be recorded');
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
