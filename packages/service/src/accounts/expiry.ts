import { deleteExpired } from '#accounts/account-queries.ts';
import type { Queryable } from '#db/pool.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/repeat.ts';

const PERIOD_MS = 10 * 60_000;
const ROWS_MAX = 10_000;

interface Expiry {
  readonly stop: () => Promise<void>;
}

/** Removes what has had its time, every ten minutes: sessions, resets, and what others forget with them. */
export function startExpiry(options: {
  readonly db: Queryable;
  /** What has had its time elsewhere: tries that count no more, sessions of people with wallets. */
  readonly forget: readonly (() => Promise<void>)[];
  readonly log: Log;
  readonly periodMs?: number;
}): Expiry {
  const { db, forget, log, periodMs = PERIOD_MS } = options;
  async function pass(): Promise<void> {
    try {
      await deleteExpired(db, ROWS_MAX);
      for (const others of forget) await others();
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'expired sessions could not be removed');
    }
  }
  return repeat(pass, periodMs);
}
