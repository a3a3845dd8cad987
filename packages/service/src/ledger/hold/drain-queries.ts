import { plainArray } from '#db/records/array-literal.ts';
import type { Queryable } from '#db/pool/pool.ts';
import type { CallId } from '#kernel/values/ids.ts';

/** Marks these calls as drained: their callers have left. See `begin_drains.sql`. */
export async function beginDrains(db: Queryable, calls: readonly CallId[]): Promise<void> {
  await db.query(`select ledger.begin_drains($1)`, [plainArray(calls)]);
}

/** Returns those of the calls whose stream slot a new stream has taken. */
export async function selectDrainsTaken(db: Queryable, calls: readonly CallId[]): Promise<readonly CallId[]> {
  const { rows } = await db.query<{ call_id: CallId }>(
    `select call_id from ledger.holds where call_id = any ($1) and not is_stream`,
    [plainArray(calls)],
  );
  return rows.map((row) => row.call_id);
}
