import type { Pool } from '#db/pool/pool.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import { checkLedger, DIFFERENCES_MAX, type LedgerCheck } from '#ledger/check/check.ts';
import { noteCheck } from '#ledger/check/history.ts';
import { checkPayments } from '#payments/check/check.ts';

/** Checks that the ledger agrees with itself, and that payments, refunds and disputes agree with the ledger. */
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
 * The check that operators can run. On large books it takes many seconds, so each process runs one at a time: requests
 * that arrive meanwhile get the result of the running one.
 */
export function createLedgerCheck(pool: Pool): () => Promise<LedgerCheck> {
  let running: Promise<LedgerCheck> | undefined;
  return () => {
    running ??= checkAndNote(pool).finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** The full check. Its result stays in the history of checks. */
export async function checkAndNote(pool: Pool): Promise<LedgerCheck> {
  const begunMs = steadyClock.nowMs();
  const result = await checkBooks(pool);
  await noteCheck(pool, 'full', result, steadyClock.nowMs() - begunMs);
  return result;
}
