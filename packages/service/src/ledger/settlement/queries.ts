import type { CallId } from '#kernel/values/ids.ts';
import { type Settlement, settlementRecords } from '#ledger/settlement/settlement.ts';
import { namedSessions } from '#db/records/named-session.ts';
import type { Queryable } from '#db/pool/pool.ts';

export interface SettledRow {
  readonly call_id: CallId;
  readonly is_settled: boolean;
  readonly charged: bigint;
  readonly is_joined: boolean;
}

/** Ends each call, see `settle.sql`. Rows come in any order. */
export async function settleHolds(db: Queryable, settlements: readonly Settlement[]): Promise<readonly SettledRow[]> {
  const { rows } = await db.query<SettledRow>({
    name: 'ledger_settle',
    text: 'select call_id, is_settled, charged, is_joined from ledger.settle($1, $2)',
    values: [settlementRecords(settlements), namedSessions(settlements)],
  });
  return rows;
}

interface LateRow {
  readonly call_id: CallId;
  readonly charged: bigint;
  readonly lost: bigint;
  /** Whether it was booked now, and not earlier. */
  readonly is_new: boolean;
}

/** Books charges that were told to callers and come after their holds were released, see `settle_late.sql`. */
export async function settleLate(db: Queryable, settlements: readonly Settlement[]): Promise<readonly LateRow[]> {
  const { rows } = await db.query<LateRow>('select call_id, charged, lost, is_new from ledger.settle_late($1, $2)', [
    settlementRecords(settlements),
    namedSessions(settlements),
  ]);
  return rows;
}
