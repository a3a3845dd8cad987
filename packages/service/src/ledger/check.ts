import type { Pool } from '#db/pool.ts';
import { countBooks, selectDifferences } from '#ledger/queries.ts';

/** A figure in the books that is not what the entries, holds and receipts say. */
export interface Difference {
  readonly rule: string;
  readonly walletId: bigint;
  readonly expected: bigint;
  readonly found: bigint;
}

interface LedgerCheck {
  readonly wallets: bigint;
  readonly entries: bigint;
  /** Empty: the books are right to the micro. */
  readonly differences: readonly Difference[];
}

/** Re-derives every balance, hold, cap and receipt of the whole ledger in one snapshot (WA-09). Changes nothing. */
export async function checkLedger(pool: Pool): Promise<LedgerCheck> {
  const { wallets, entries } = await countBooks(pool);
  const rows = await selectDifferences(pool);
  return {
    wallets,
    entries,
    differences: rows.map((row) => ({
      rule: row.rule,
      walletId: row.wallet_id,
      expected: row.expected,
      found: row.found,
    })),
  };
}
