import { holdRequests } from '#db/hold-request.ts';
import type { Queryable } from '#db/pool.ts';
import type { HoldRequest, HoldRow } from '#kernel/hold.ts';
import type { CallId } from '#kernel/ids.ts';
import { doneBy, split, type Tried } from '#ledger/statements/ordinary-batch.ts';

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

/**
 * Places the whole of each hold whose wallet affords all that is asked of it, see `reserve_fitting.sql`.
 */
export async function reserveFitting(
  db: Queryable,
  instanceId: bigint,
  requests: readonly HoldRequest[],
): Promise<Tried<HoldRequest>> {
  // A retry looks for its earlier attempt first.
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
