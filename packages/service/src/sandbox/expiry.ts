import type { Pool } from '#db/pool.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/repeat.ts';
import { expireSandboxWallets } from '#sandbox/queries.ts';

const PERIOD_MS = 60_000;
/** Few enough for a moment, enough for a million wallets in a day. */
const WALLETS_PER_PASS = 1_000;

interface SandboxExpiry {
  readonly stop: () => Promise<void>;
}

/**
 * Removes fake wallets that nobody has used for 30 days (SB-08), some every minute, round and round. A call makes such a
 * wallet anew whether or not it has been removed, so that nothing depends on when that is.
 */
export function startSandboxExpiry(pool: Pool, log: Log): SandboxExpiry {
  let after = 0n;

  async function pass(): Promise<void> {
    try {
      after = (await expireSandboxWallets(pool, after, WALLETS_PER_PASS)) ?? 0n;
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'expired wallets of the sandbox could not be removed');
    }
  }

  return repeat(pass, PERIOD_MS);
}
