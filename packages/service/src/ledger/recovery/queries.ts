import type { Queryable } from '#db/pool.ts';
import type { CallId } from '#kernel/ids.ts';

/** Fences dead processes and releases at most `most` of their holds. Gives how many were released. */
export async function reapHolds(db: Queryable, most: number): Promise<number> {
  const { rows } = await db.query<{ released: number }>(`select ledger.reap($1) as released`, [most]);
  return rows[0]?.released ?? 0;
}

/** The calls for which a process holds money, as the database has it. */
export async function selectHeldCalls(db: Queryable, instanceId: bigint): Promise<readonly CallId[]> {
  const { rows } = await db.query<{ call_id: CallId }>(`select call_id from ledger.holds where instance_id = $1`, [
    instanceId,
  ]);
  return rows.map(({ call_id: callId }) => callId);
}
