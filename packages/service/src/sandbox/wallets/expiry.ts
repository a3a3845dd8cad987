import type { Pool } from '#db/pool/pool.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/time/repeat.ts';
import { expireSandboxWallets } from '#sandbox/wallets/queries.ts';

const PERIOD_MS = 60_000;
/** These are few enough that a pass takes only a moment, and enough to go through a million wallets in a day. */
const WALLETS_PER_PASS = 1_000;

interface SandboxExpiry {
  readonly stop: () => Promise<void>;
}

/**
 * Deletes sandbox wallets that have not been used for 30 days (SB-08). Each minute it looks at the next few, and starts over
 * at the end. A call treats an expired wallet as new whether or not it has been deleted, so nothing depends on the timing.
 */
export function startSandboxExpiry(pool: Pool, log: Log, isKeeper: () => boolean): SandboxExpiry {
  let after = 0n;

  async function pass(): Promise<void> {
    if (!isKeeper()) return;
    try {
      after = (await expireSandboxWallets(pool, after, WALLETS_PER_PASS)) ?? 0n;
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'expired sandbox wallets could not be deleted');
    }
  }

  return repeat(pass, PERIOD_MS);
}
