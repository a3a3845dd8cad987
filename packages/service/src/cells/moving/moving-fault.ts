import { sqlStateOf } from '#db/pool/pool.ts';

/** The database refuses an act on a wallet that is leaving its cell, see `ledger/moving/refuse_leaving.sql`. */
const LEAVING = 'PC002';

/** Whether a fault says that a user is given to another cell. Nothing was done, and the act may be tried again there in a moment. */
export function isLeaving(fault: unknown): boolean {
  return sqlStateOf(fault) === LEAVING;
}

/** The cell to which the user of a wallet belongs that is not opened here, see `ledger/wallet/refuse_foreign_wallet.sql`. Undefined for every other fault. */
export function cellOfUser(fault: unknown): string | undefined {
  if (!(fault instanceof Error && 'constraint' in fault && 'detail' in fault)) return undefined;
  return fault.constraint === 'wallets_of_own_slots' ? String(fault.detail) : undefined;
}
