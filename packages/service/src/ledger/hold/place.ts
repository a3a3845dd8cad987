import { inOrderOf } from '#db/batcher.ts';
import type { Queryable } from '#db/pool.ts';
import type { HoldRequest } from '#kernel/hold.ts';
import { type ReservedRow, reserveFitting, reserveHolds } from '#ledger/hold/queries.ts';

/**
 * Places the hold of each request or says why not, in their order. What fits is placed by one statement; the rest, nearly
 * always nothing, is judged call by call in a second. Safe to repeat: a hold that is placed already is answered as it is.
 */
export async function placeHolds(
  db: Queryable,
  instanceId: bigint,
  requests: readonly HoldRequest[],
): Promise<readonly ReservedRow[]> {
  const { done, left } = await reserveFitting(db, instanceId, requests);
  if (left.length === 0) return done.map(wholeHold);
  const judged = await reserveHolds(db, instanceId, left);
  return inOrderOf(requests, [...done.map(wholeHold), ...judged]);
}

const wholeHold = ({ callId, most }: HoldRequest): ReservedRow => ({
  call_id: callId,
  outcome: 'granted',
  granted: most,
  earlier: null,
});
