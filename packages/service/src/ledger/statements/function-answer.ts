import type { Queryable } from '#db/pool.ts';
import { assert } from '#kernel/assert.ts';

/** What a function of the ledger answers: one value. */
export async function answerOf<Value>(db: Queryable, text: string, values: readonly unknown[]): Promise<Value> {
  const { rows } = await db.query<{ answer: Value }>(text, [...values]);
  const row = rows[0];
  assert(row !== undefined, 'a function answers one row');
  return row.answer;
}
