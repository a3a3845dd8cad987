import type { Pool } from '#db/pool.ts';
import { checkLedger, type LedgerCheck } from '#ledger/check.ts';

/**
 * The check of all books, as operators ask for it. One at a time in a process: whoever asks while one runs gets its
 * answer, for on large books it takes many seconds.
 */
export function createLedgerCheck(pool: Pool): () => Promise<LedgerCheck> {
  let running: Promise<LedgerCheck> | undefined;
  return () => {
    running ??= checkLedger(pool).finally(() => {
      running = undefined;
    });
    return running;
  };
}
