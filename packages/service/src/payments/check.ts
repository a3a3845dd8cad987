import type { Pool } from '#db/pool.ts';
import type { Difference } from '#ledger/check/check.ts';
import { selectDifferences } from '#payments/operator-queries.ts';

/** Payments, refunds and disputes that are not in the ledger as they are known here, or the other way round. Changes nothing. */
export async function checkPayments(pool: Pool): Promise<readonly Difference[]> {
  const rows = await selectDifferences(pool);
  return rows.map(({ wallet_id: walletId, ...difference }) => ({ ...difference, walletId }));
}
