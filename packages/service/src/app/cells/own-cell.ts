import { SetupError } from '#app/environment/start-error.ts';
import { CellFault, settleCell } from '#cells/topology/cells.ts';
import { selectDirectoryUrl } from '#cells/topology/queries.ts';
import { noteIncarnation } from '#db/health/queries.ts';
import { inTransaction, type Pool } from '#db/pool/pool.ts';
import { barAllowances } from '#ledger/budgets/queries.ts';
import { beginWalletIds } from '#ledger/wallet/queries.ts';

/**
 * Makes the database the cell of PURSER_CELL at its first start. Gives the address of the cell in which the directory is written; undefined if that is this
 * one. Throws `SetupError` if the database is another cell, or if there is no such cell.
 */
export async function openCell(owner: Pool, name: string | undefined): Promise<string | undefined> {
  try {
    await settleCell(owner, { name }, beginWalletIds);
    if (name === undefined) return undefined;
    await inTransaction(owner, async (tx) => {
      if (await noteIncarnation(tx)) await barAllowances(tx);
    });
    return await selectDirectoryUrl(owner);
  } catch (fault) {
    throw fault instanceof CellFault ? new SetupError(fault.message, { cause: fault }) : fault;
  }
}
