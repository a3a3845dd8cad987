import { insertMovedRows } from '#db/records/moved-rows.ts';
import type { Queryable } from '#db/pool/pool.ts';

/** Adds kept answers of another cell, JSON rows of their table, see `ledger/moving/kept_answers_of_slot.sql`. */
export async function insertKeptAnswers(tx: Queryable, rows: readonly string[]): Promise<void> {
  await insertMovedRows(tx, 'idempotency.kept_answers', rows);
}
