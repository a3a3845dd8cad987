import { bytesArray, plainArray, textArray } from '#db/array-literal.ts';
import { type Queryable, sqlStateOf } from '#db/pool.ts';
import { assert } from '#kernel/assert.ts';
import type { HoldRequest, HoldRow } from '#kernel/hold.ts';
import type { CallId } from '#kernel/ids.ts';
import type { Settlement } from '#ledger/settlement.ts';

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
      bytesArray(requests.map(({ attempt }) => attempt?.digest)),
      bytesArray(requests.map(({ attempt }) => attempt?.body)),
      plainArray(requests.map(({ attempt }) => attempt?.joins)),
      plainArray(requests.map(({ attempt }) => attempt?.joined)),
    ],
  });
  return rows;
}

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

/** A call was repeated, or a hold changed while its wallet was waited for (maybe a constraint noticed): nothing was done. */
const UNDONE = /^(40001|23)/;

/** What became of a batch: `left` is as it was. */
interface Tried<Item> {
  readonly done: readonly Item[];
  readonly left: readonly Item[];
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
      bytesArray(first.map(({ attempt }) => attempt?.digest)),
      bytesArray(first.map(({ attempt }) => attempt?.body)),
    ],
  });
  return split(requests, (request) => (done === 'all' ? isFirst(request) : done.has(request.callId)));
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

interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

const isFirst = ({ attempt }: HoldRequest): boolean => attempt?.joins !== true;

async function doneBy(db: Queryable, { name, text, values }: Statement): Promise<'all' | ReadonlySet<CallId>> {
  try {
    const { rows } = await db.query<{ done: readonly CallId[] | null }>({ name, text, values: [...values] });
    const done = rows[0]?.done;
    assert(done !== undefined, 'a function answers with one row');
    return done === null ? 'all' : new Set(done);
  } catch (fault) {
    if (UNDONE.test(sqlStateOf(fault) ?? '')) return new Set();
    throw fault;
  }
}

function split<Item>(items: readonly Item[], isDone: (item: Item) => boolean): Tried<Item> {
  const left = items.filter((item) => !isDone(item));
  return { done: left.length === 0 ? items : items.filter(isDone), left };
}
