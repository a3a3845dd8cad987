import { bytesArray, plainArray, textArray } from '#db/array-literal.ts';
import type { Queryable } from '#db/pool.ts';
import type { HoldRequest, HoldRow } from '#kernel/hold.ts';
import type { CallId } from '#kernel/ids.ts';
import { doneBy, split, type Tried } from '#ledger/statements/ordinary-batch.ts';

export type ReservedRow =
  | HoldRow
  /** A repeat that came after its call had been settled. */
  | { readonly call_id: CallId; readonly outcome: 'call_ended'; readonly granted: bigint };

/** Judges each request and places its hold, see `ledger.reserve` in the migrations. Rows come in any order. */
export async function reserveHolds(
  db: Queryable,
  instanceId: bigint,
  requests: readonly HoldRequest[],
): Promise<readonly ReservedRow[]> {
  const { rows } = await db.query<ReservedRow>({
    name: 'ledger_reserve',
    text: `select call_id, outcome, granted, earlier
      from ledger.reserve($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    values: [
      instanceId,
      plainArray(requests.map(({ callId }) => callId)),
      textArray(requests.map(({ appId }) => appId)),
      textArray(requests.map(({ userId }) => userId)),
      plainArray(requests.map(({ least }) => least)),
      plainArray(requests.map(({ most }) => most)),
      plainArray(requests.map(({ streamsMax }) => streamsMax)),
      bytesArray(requests.map(({ idempotencyKey }) => idempotencyKey?.digest)),
      bytesArray(requests.map(({ idempotencyKey }) => idempotencyKey?.body)),
      plainArray(requests.map(({ idempotencyKey }) => idempotencyKey?.joins)),
      plainArray(requests.map(({ idempotencyKey }) => idempotencyKey?.joined)),
    ],
  });
  return rows;
}

/**
 * Places the whole of each hold whose wallet affords all that is asked of it, see `ledger.reserve_fitting`.
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
    text: 'select ledger.reserve_fitting($1, $2, $3, $4, $5, $6, $7, $8) as done',
    values: [
      instanceId,
      plainArray(first.map(({ callId }) => callId)),
      textArray(first.map(({ appId }) => appId)),
      textArray(first.map(({ userId }) => userId)),
      plainArray(first.map(({ most }) => most)),
      plainArray(first.map(({ streamsMax }) => streamsMax)),
      bytesArray(first.map(({ idempotencyKey }) => idempotencyKey?.digest)),
      bytesArray(first.map(({ idempotencyKey }) => idempotencyKey?.body)),
    ],
  });
  return split(requests, (request) => (done === 'all' ? isFirst(request) : done.has(request.callId)));
}

const isFirst = ({ idempotencyKey }: HoldRequest): boolean => idempotencyKey?.joins !== true;
