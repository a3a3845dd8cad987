import type { CallId } from '#kernel/ids.ts';
import { doneBy, split, type Tried } from '#ledger/statements/ordinary-batch.ts';
import { type Settlement, settlementRecords } from '#ledger/settlement/settlement.ts';
import { inOrderOf } from '#db/batcher.ts';
import type { Queryable } from '#db/pool.ts';

/**
 * Ends the call of each settlement and answers in their order. One statement ends every call that only needs its charge
 * taken, which is nearly all (decision 32). A second one decides the rest.
 */
export async function endHolds(db: Queryable, settlements: readonly Settlement[]): Promise<readonly SettledRow[]> {
  const { done, left } = await settleCovered(db, settlements);
  if (left.length === 0) return done.map(charged);
  const settled = await settleHolds(db, left);
  return inOrderOf(settlements, [...done.map(charged), ...settled]);
}

/** The answer for a call that the first statement ended: it was charged exactly what its settlement says. */
const charged = ({ callId, charge }: Settlement): SettledRow => ({
  call_id: callId,
  is_settled: true,
  charged: charge,
  is_joined: false,
});

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
    text: 'select call_id, is_settled, charged, is_joined from ledger.settle($1)',
    values: [settlementRecords(settlements)],
  });
  return rows;
}

/**
 * Ends each call that is charged within its hold and of whose wallet there is nothing else to say, see
 * `settle_covered.sql`: those are charged what their settlements say.
 */
export async function settleCovered(db: Queryable, settlements: readonly Settlement[]): Promise<Tried<Settlement>> {
  const done = await doneBy(db, {
    name: 'ledger_settle_covered',
    text: 'select ledger.settle_covered($1) as done',
    values: [settlementRecords(settlements)],
  });
  return split(settlements, ({ callId }) => done === 'all' || done.has(callId));
}
