import type { Pool } from '#db/pool.ts';
import { checkLedger, DIFFERENCES_MAX, type LedgerCheck } from '#ledger/check/check.ts';
import { checkPayments } from '#payments/check.ts';

/** Checks the ledger, and that what was paid is in it. */
export async function checkBooks(pool: Pool): Promise<LedgerCheck> {
  const ledger = await checkLedger(pool);
  const payments = await checkPayments(pool);
  return {
    ...ledger,
    differences: [...ledger.differences, ...payments].slice(0, DIFFERENCES_MAX),
    found: ledger.found + BigInt(payments.length),
  };
}

/**
 * Runs the full check when operators ask for it. A process runs one at a time, because on large books it takes many
 * seconds. A request that comes meanwhile gets the answer of the one that runs.
 */
export function createLedgerCheck(pool: Pool): () => Promise<LedgerCheck> {
  let running: Promise<LedgerCheck> | undefined;
  return () => {
    running ??= checkBooks(pool).finally(() => {
      running = undefined;
    });
    return running;
  };
}
