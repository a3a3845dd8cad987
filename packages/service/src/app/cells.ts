import { SetupError } from '#app/start-error.ts';
import { CellFault, settleCell } from '#cells/cells.ts';
import type { Pool } from '#db/pool.ts';
import { beginWalletIds } from '#ledger/wallet/queries.ts';

/** Makes the database the cell of PURSER_CELL at its first start. Throws `SetupError` if it is another one, or if there is no such cell. */
export async function openCell(owner: Pool, name: string | undefined): Promise<void> {
  try {
    await settleCell(owner, name, beginWalletIds);
  } catch (fault) {
    throw fault instanceof CellFault ? new SetupError(fault.message, { cause: fault }) : fault;
  }
}
