import type { Pool } from '#db/pool.ts';
import { createReadBudgets, type ReadBudgets } from '#http/key-budgets.ts';
import { readKeyBudgets } from '#ledger/wallet/key-budgets.ts';
import { readSandboxBudgets } from '#sandbox/key-budgets.ts';

/** Real and play money are read over connections of different roles. */
export function openBudgets(live: Pool, sandbox: Pool): ReadBudgets {
  return createReadBudgets({
    live: (lines) => readKeyBudgets(live, lines),
    sandbox: (lines) => readSandboxBudgets(sandbox, lines),
  });
}
