import { deleteExpired } from '#developers/sessions/queries.ts';
import { deleteExpiredListenTokens } from '#developers/teams/listen-token-queries.ts';
import { deleteExpiredInvitations } from '#developers/teams/queries.ts';
import { deleteExpiredSteps } from '#developers/sessions/pending-sign-in-queries.ts';
import type { Queryable } from '#db/pool/pool.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/time/repeat.ts';

const PERIOD_MS = 10 * 60_000;
const ROWS_MAX = 10_000;

interface Expiry {
  readonly stop: () => Promise<void>;
}

/** Deletes expired rows every ten minutes: sessions, sign-ins half done, mailed links, invitations, and the rows that `forget` deletes. */
export function startExpiry(options: {
  readonly db: Queryable;
  /** Deletions of other folders that run in the same pass: idle attempt buckets, expired sign-ins of end users. */
  readonly forget: readonly (() => Promise<void>)[];
  readonly log: Log;
  readonly periodMs?: number;
}): Expiry {
  const { db, forget, log, periodMs = PERIOD_MS } = options;
  async function pass(): Promise<void> {
    try {
      await deleteExpired(db, ROWS_MAX);
      await deleteExpiredSteps(db, ROWS_MAX);
      await deleteExpiredListenTokens(db, ROWS_MAX);
      await deleteExpiredInvitations(db, ROWS_MAX);
      for (const others of forget) await others();
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'expired rows could not be deleted');
    }
  }
  return repeat(pass, periodMs);
}
