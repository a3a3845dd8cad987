import type { Pool } from '#db/pool/pool.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/time/repeat.ts';
import { expireSessions } from '#calls/sessions/queries.ts';

const PERIOD_MS = 60_000;
/** These take a moment, and a million sessions are gone through within a day. */
const SESSIONS_PER_PASS = 1_000;

interface SessionExpiryOptions {
  readonly pool: Pool;
  readonly log: Log;
  /** How long a session is kept after its last call. */
  readonly keptMs: number;
  readonly isKeeper: () => boolean;
}

/** Deletes sessions whose last call was too long ago (CP-19). Each minute it looks at the next few, and starts over at the end. */
export function startSessionExpiry({ pool, log, keptMs, isKeeper }: SessionExpiryOptions): {
  readonly stop: () => Promise<void>;
} {
  let after = 0n;

  async function pass(): Promise<void> {
    if (!isKeeper()) return;
    try {
      after = (await expireSessions(pool, { after, most: SESSIONS_PER_PASS, keptMs })) ?? 0n;
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'old sessions of coding agents could not be deleted');
    }
  }

  return repeat(pass, PERIOD_MS);
}
