import type { Pool } from '#db/pool.ts';
import type { KeyId } from '#kernel/ids.ts';
import { type Micros, microsFromRow } from '#kernel/micros.ts';
import { selectKeyBudgets } from '#ledger/wallet/queries.ts';

/** What calls with the keys of these lines have spent and hold this month (CP-08). Lines without such calls are absent. */
export async function readKeyBudgets(
  pool: Pool,
  lines: readonly KeyId[],
): Promise<ReadonlyMap<KeyId, { readonly spent: Micros; readonly held: Micros }>> {
  const rows = await selectKeyBudgets(pool, lines);
  return new Map(
    rows.map((row) => [row.key_id, { spent: microsFromRow(row.spent_micros), held: microsFromRow(row.held_micros) }]),
  );
}
