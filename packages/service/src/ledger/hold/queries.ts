import { holdRequests } from '#db/records/hold-request.ts';
import type { HoldRequest, HoldRow } from '#kernel/calls/hold.ts';
import type { CallId } from '#kernel/values/ids.ts';
import type { Queryable } from '#db/pool/pool.ts';

export type ReservedRow =
  | HoldRow
  /** A repeat that came after its call had been settled. */
  | { readonly call_id: CallId; readonly outcome: 'call_ended'; readonly granted: bigint };

/** Judges each request and places its hold, see `db/holds/reserve.sql`. Rows come in any order. */
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
