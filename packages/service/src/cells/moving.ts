import { sqlStateOf } from '#db/pool.ts';

/** The database refuses an act on a wallet that is leaving its cell, see `ledger/moving/refuse_leaving.sql`. */
const LEAVING = 'PC002';

/** Whether a fault says that a user is given to another cell. Nothing was done, and the act may be tried again there in a moment. */
export function isLeaving(fault: unknown): boolean {
  return sqlStateOf(fault) === LEAVING;
}
