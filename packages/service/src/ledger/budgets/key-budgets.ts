import type { KeyId } from '#kernel/values/ids.ts';
import { type Micros, microsFromRow } from '#kernel/values/micros.ts';
import type { KeyBudgetRow } from '#ledger/budgets/queries.ts';

/** What calls with the keys of these lines have spent and hold this month (CP-08). Lines without such calls are absent. */
export function budgetUseOf(
  rows: readonly KeyBudgetRow[],
): ReadonlyMap<KeyId, { readonly spent: Micros; readonly held: Micros }> {
  return new Map(
    rows.map((row) => [row.key_id, { spent: microsFromRow(row.spent_micros), held: microsFromRow(row.held_micros) }]),
  );
}
