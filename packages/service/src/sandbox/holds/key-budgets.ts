import type { Pool } from '#db/pool/pool.ts';
import type { KeyId } from '#kernel/values/ids.ts';
import { type Micros, microsFromRow } from '#kernel/values/micros.ts';
import { selectKeyBudgets } from '#sandbox/holds/queries.ts';

/** What calls with the keys of these lines have spent and hold this month, in play money. Lines without such calls are absent. */
export async function readSandboxBudgets(
  pool: Pool,
  lines: readonly KeyId[],
): Promise<ReadonlyMap<KeyId, { readonly spent: Micros; readonly held: Micros }>> {
  const rows = await selectKeyBudgets(pool, lines);
  return new Map(
    rows.map((row) => [row.key_id, { spent: microsFromRow(row.spent_micros), held: microsFromRow(row.held_micros) }]),
  );
}
