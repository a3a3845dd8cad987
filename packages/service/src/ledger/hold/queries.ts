import { holdRequests } from '#db/hold-request.ts';
import type { HoldRequest, HoldRow } from '#kernel/hold.ts';
import type { CallId } from '#kernel/ids.ts';
import { doneBy, split, type Tried } from '#ledger/statements/ordinary-batch.ts';
import { inOrderOf } from '#db/batcher.ts';
import type { Queryable } from '#db/pool.ts';

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

export type ReservedRow =
  | HoldRow
  /** A repeat that came after its call had been settled. */
  | { readonly call_id: CallId; readonly outcome: 'call_ended'; readonly granted: bigint };

/** Judges each request and places its hold, see `reserve.sql`. Rows come in any order. */
export async function reserveHolds(
  db: Queryable,
  instanceId: bigint,
  requests: readonly HoldRequest[],
): Promise<readonly ReservedRow[]> {
  const { rows } = await db.query<ReservedRow>({
    name: 'ledger_reserve',
    text: 'select call_id, outcome, granted, earlier from ledger.reserve($1, $2)',
    values: [instanceId, holdRequests(requests)],
  });
  return rows;
}

/** Places each hold in full if its wallet can pay for everything that this batch asks of it, see `reserve_fitting.sql`. */
export async function reserveFitting(
  db: Queryable,
  instanceId: bigint,
  requests: readonly HoldRequest[],
): Promise<Tried<HoldRequest>> {
  // A retry must look for its earlier call first, which only `reserve.sql` does.
  const first = requests.every(isFirst) ? requests : requests.filter(isFirst);
  if (first.length === 0) return { done: [], left: requests };
  const done = await doneBy(db, {
    name: 'ledger_reserve_fitting',
    text: 'select ledger.reserve_fitting($1, $2) as done',
    values: [instanceId, holdRequests(first)],
  });
  return split(requests, (request) => (done === 'all' ? isFirst(request) : done.has(request.callId)));
}

const isFirst = ({ idempotencyKey }: HoldRequest): boolean => idempotencyKey?.joins !== true;
