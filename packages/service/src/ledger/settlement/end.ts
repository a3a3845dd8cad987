import { inOrderOf } from '#db/batcher.ts';
import type { Queryable } from '#db/pool.ts';
import { type SettledRow, settleCovered, settleHolds } from '#ledger/settlement/queries.ts';
import type { Settlement } from '#ledger/settlement/settlement.ts';

/** Ends the call of each settlement, in their order: those of which there is more to say than a charge in a second statement. */
export async function endHolds(db: Queryable, settlements: readonly Settlement[]): Promise<readonly SettledRow[]> {
  const { done, left } = await settleCovered(db, settlements);
  if (left.length === 0) return done.map(charged);
  const settled = await settleHolds(db, left);
  return inOrderOf(settlements, [...done.map(charged), ...settled]);
}

const charged = ({ callId, charge }: Settlement): SettledRow => ({
  call_id: callId,
  is_settled: true,
  charged: charge,
  is_joined: false,
});
