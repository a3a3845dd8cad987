import type { Pool } from '#db/pool/pool.ts';
import { createReadBudgets, type ReadBudgets } from '#http/planes/key-budgets.ts';
import type { KeyId } from '#kernel/values/ids.ts';
import { budgetUseOf } from '#ledger/budgets/key-budgets.ts';
import type { KeyBudgetRow } from '#ledger/budgets/queries.ts';
import { readSandboxBudgets } from '#sandbox/holds/key-budgets.ts';

/** Real and play money are read over connections of different roles. `live` gives undefined if a cell does not answer. Play money is that of this cell. */
export function openBudgets(
  live: (lines: readonly KeyId[]) => Promise<readonly KeyBudgetRow[] | undefined>,
  sandbox: Pool,
): ReadBudgets {
  return createReadBudgets({
    live: async (lines) => {
      const rows = await live(lines);
      return rows && budgetUseOf(rows);
    },
    sandbox: (lines) => readSandboxBudgets(sandbox, lines),
  });
}
