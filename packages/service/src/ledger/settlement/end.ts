import { inOrderOf } from '#db/batcher.ts';
import type { Queryable } from '#db/pool.ts';
import { type SettledRow, settleCovered, settleHolds } from '#ledger/settlement/queries.ts';
import type { Settlement } from '#ledger/settlement/settlement.ts';

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
