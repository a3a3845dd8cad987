import type { Queryable } from '#db/pool/pool.ts';
import type { CallId } from '#kernel/values/ids.ts';

/** Fences dead processes and releases at most `most` of their holds. Gives how many were released. */
export async function reapHolds(db: Queryable, most: number): Promise<number> {
  const { rows } = await db.query<{ released: number }>(`select ledger.reap($1) as released`, [most]);
  return rows[0]?.released ?? 0;
}

export interface HeldCall {
  readonly call_id: CallId;
  readonly wallet_id: bigint;
}

/** The calls for which a process holds money, as the database has it. */
export async function selectHeldCalls(db: Queryable, instanceId: bigint): Promise<readonly HeldCall[]> {
  const { rows } = await db.query<HeldCall>(`select call_id, wallet_id from ledger.holds where instance_id = $1`, [
    instanceId,
  ]);
  return rows;
}
