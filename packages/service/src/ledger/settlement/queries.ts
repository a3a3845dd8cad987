import { plainArray, textArray } from '#db/array-literal.ts';
import type { Queryable } from '#db/pool.ts';
import type { CallId } from '#kernel/ids.ts';
import { doneBy, split, type Tried } from '#ledger/statements/ordinary-batch.ts';
import type { Settlement } from '#ledger/settlement/settlement.ts';

export interface SettledRow {
  readonly call_id: CallId;
  readonly is_settled: boolean;
  readonly charged: bigint;
  readonly is_joined: boolean;
}

/** Ends each call, see `ledger.settle` in the migrations. Rows come in any order. */
export async function settleHolds(db: Queryable, settlements: readonly Settlement[]): Promise<readonly SettledRow[]> {
  const { rows } = await db.query<SettledRow>({
    name: 'ledger_settle',
    text: `select call_id, is_settled, charged, is_joined
      from ledger.settle($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    values: [...settlementArrays(settlements)],
  });
  return rows;
}

/**
 * Ends each call that is charged within its hold and of whose wallet there is nothing else to say, see
 * `ledger.settle_covered`: those are charged what their settlements say.
 */
export async function settleCovered(db: Queryable, settlements: readonly Settlement[]): Promise<Tried<Settlement>> {
  const done = await doneBy(db, {
    name: 'ledger_settle_covered',
    text: 'select ledger.settle_covered($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) as done',
    values: settlementArrays(settlements),
  });
  return split(settlements, ({ callId }) => done === 'all' || done.has(callId));
}

/** Settlements as both functions that end calls take them. */
function settlementArrays(settlements: readonly Settlement[]): readonly string[] {
  return [
    plainArray(settlements.map(({ callId }) => callId)),
    plainArray(settlements.map(({ charge }) => charge)),
    textArray(settlements.map(({ model }) => model)),
    plainArray(settlements.map(({ priceId }) => priceId)),
    textArray(settlements.map(({ outcome }) => outcome)),
    plainArray(settlements.map(({ isEstimated }) => isEstimated)),
    plainArray(settlements.map(({ isUsageClamped }) => isUsageClamped)),
    plainArray(settlements.map(({ usage }) => usage.promptTokens)),
    plainArray(settlements.map(({ usage }) => usage.cachedTokens)),
    plainArray(settlements.map(({ usage }) => usage.completionTokens)),
    plainArray(settlements.map(({ usage }) => usage.reasoningTokens)),
    textArray(settlements.map(({ correlationId }) => correlationId)),
    plainArray(settlements.filter(({ isUnkept }) => isUnkept).map(({ callId }) => callId)),
  ];
}
