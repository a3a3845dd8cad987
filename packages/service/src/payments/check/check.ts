import type { Pool } from '#db/pool/pool.ts';
import type { Difference } from '#ledger/check/check.ts';
import { selectDifferences } from '#payments/check/queries.ts';

/**
 * Compares payments, refunds and disputes with the ledger, in both directions: rows here without the right entry, and
 * entries without a row here. Changes nothing. An empty list means that both agree.
 */
export async function checkPayments(pool: Pool): Promise<readonly Difference[]> {
  const rows = await selectDifferences(pool);
  return rows.map(({ wallet_id: walletId, ...difference }) => ({ ...difference, walletId }));
}
