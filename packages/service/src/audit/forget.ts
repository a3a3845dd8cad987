import { deleteOldAddresses } from '#audit/queries.ts';
import type { Queryable } from '#db/pool/pool.ts';

const ROWS_MAX = 10_000;

/** Deletes network addresses and sign-ins that are older than `keptDays` days, or none if it is 0. The entries themselves stay. */
export function createForgetAddresses(db: Queryable, keptDays: number): () => Promise<void> {
  return async () => {
    if (keptDays > 0) await deleteOldAddresses(db, keptDays, ROWS_MAX);
  };
}
