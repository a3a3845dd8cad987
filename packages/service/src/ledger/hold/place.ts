import { inOrderOf } from '#db/batcher.ts';
import type { Queryable } from '#db/pool.ts';
import type { HoldRequest } from '#kernel/hold.ts';
import { type ReservedRow, reserveFitting, reserveHolds } from '#ledger/hold/queries.ts';

/**
 * Places the hold of each request, or says why not, in the order of the requests. One statement places every hold that
 * fits whole. A second one judges the rest call by call, and nearly always there is no rest. There are two because a
 * statement for the ordinary case alone is much cheaper (decision 32). Safe to repeat: a hold that exists is answered as it is.
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

/** The answer for a hold that fitted whole. The statement does not send it back, because we know it already. */
const wholeHold = ({ callId, most }: HoldRequest): ReservedRow => ({
  call_id: callId,
  outcome: 'granted',
  granted: most,
  earlier: null,
});
