import type { Queryable } from '#db/pool/pool.ts';
import { assert } from '#kernel/faults/assert.ts';

/** Calls a SQL function of the ledger and returns its one value. `text` names that value `answer`. */
export async function answerOf<Value>(db: Queryable, text: string, values: readonly unknown[]): Promise<Value> {
  const { rows } = await db.query<{ answer: Value }>(text, [...values]);
  const row = rows[0];
  assert(row !== undefined, 'a function answers one row');
  return row.answer;
}
