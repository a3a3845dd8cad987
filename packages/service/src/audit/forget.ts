import { deleteOldAddresses } from '#audit/queries.ts';
import type { Queryable } from '#db/pool.ts';

const ROWS_MAX = 10_000;

/** Deletes network addresses and sign-ins that are older than 90 days. The entries themselves stay. */
export function createForgetAddresses(db: Queryable): () => Promise<void> {
  return () => deleteOldAddresses(db, ROWS_MAX);
}
