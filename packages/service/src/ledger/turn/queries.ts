import { plainArray } from '#db/records/array-literal.ts';
import { inOrderOf } from '#db/batches/batcher.ts';
import { holdRequests } from '#db/records/hold-request.ts';
import { namedSessions } from '#db/records/named-session.ts';
import { type Queryable, sqlStateOf } from '#db/pool/pool.ts';
import { assert } from '#kernel/faults/assert.ts';
import type { HoldRequest } from '#kernel/calls/hold.ts';
import type { CallId } from '#kernel/values/ids.ts';
import { type ReservedRow, reserveHolds } from '#ledger/hold/queries.ts';
import { type SettledRow, settleHolds } from '#ledger/settlement/queries.ts';
import { type Settlement, settlementRecords } from '#ledger/settlement/settlement.ts';
import { turnsUndone } from '#ledger/turn/metrics.ts';

/** Calls that have ended, and calls that ask for a hold. No call is in both. */
export interface Turn {
  readonly settlements: readonly Settlement[];
  readonly requests: readonly HoldRequest[];
}

/** Which process places a hold: one for all of a turn, or each its own. */
type InstanceOf = bigint | ((request: HoldRequest) => bigint);

/** The answers to a turn, each in the order of its questions. */
export interface TurnRows {
  readonly settled: readonly SettledRow[];
  readonly placed: readonly ReservedRow[];
}

/**
 * Ends calls and places holds. One statement does everything ordinary, which is nearly always all there is (decision 41).
 * Two more decide the rest, settlements first. Safe to repeat: a hold that exists is answered as it is, and a call that
 * has ended is answered with what it was charged.
 */
export function takeTurn(db: Queryable, instance: InstanceOf, turn: Turn): Promise<TurnRows> {
  const { settlements, requests } = turn;
  const tried = ordinaryOf(turn);
  return doneIn(db, instance, tried).then((calls) => {
    const { done, left } = divided(turn, tried, calls);
    if (left !== NOTHING) return takeLeft(db, instance, turn, { done, left });
    return { settled: settlements.map(chargedAsSaid), placed: requests.map(heldWhole) };
  });
}

/** Decides what is not ordinary in a turn, one kind after the other. */
async function takeLeft(
  db: Queryable,
  instance: InstanceOf,
  { settlements, requests }: Turn,
  { done, left }: Divided,
): Promise<TurnRows> {
  const settled = left.settlements.length === 0 ? [] : await settleHolds(db, left.settlements);
  const placed: ReservedRow[] = [];
  for (const [instanceId, requests] of byInstance(instance, left.requests)) {
    placed.push(...(await reserveHolds(db, instanceId, requests)));
  }
  return {
    settled: inOrderOf(settlements, [...done.settlements.map(chargedAsSaid), ...settled]),
    placed: inOrderOf(requests, [...done.requests.map(heldWhole), ...placed]),
  };
}

function byInstance(
  instance: InstanceOf,
  requests: readonly HoldRequest[],
): ReadonlyMap<bigint, readonly HoldRequest[]> {
  if (requests.length === 0) return new Map();
  if (typeof instance === 'bigint') return new Map([[instance, requests]]);
  return Map.groupBy(requests, instance);
}

/** The answer for a call that was charged what its settlement says. The statement does not send it back. */
const chargedAsSaid = ({ callId, charge }: Settlement): SettledRow => ({
  call_id: callId,
  is_settled: true,
  charged: charge,
  is_joined: false,
});

/** Returns the row of a hold that fitted whole. */
const heldWhole = ({ callId, most }: HoldRequest): ReservedRow => ({
  call_id: callId,
  outcome: 'granted',
  granted: most,
  earlier: null,
});

const NOTHING: Turn = { settlements: [], requests: [] };

/** Does what is ordinary in a turn. Nothing has changed for the calls in `left`. */
export async function takeOrdinary(db: Queryable, instance: InstanceOf, turn: Turn): Promise<Divided> {
  const tried = ordinaryOf(turn);
  return divided(turn, tried, await doneIn(db, instance, tried));
}

type Divided = { readonly [Part in 'done' | 'left']: Turn };

/** What the statement tries of a turn: the same object if that is all of it. */
function ordinaryOf(turn: Turn): Turn {
  return turn.requests.every(mayBeOrdinary) ? turn : { ...turn, requests: turn.requests.filter(mayBeOrdinary) };
}

function divided(turn: Turn, tried: Turn, calls: Done): Divided {
  if (calls === 'all' && tried === turn) return { done: turn, left: NOTHING };
  const isDone = calls === 'all' ? wasTried : ({ callId }: Item): boolean => calls.has(callId);
  const done = partOf(turn, isDone);
  assert(
    calls === 'all' || done.settlements.length + done.requests.length === calls.size,
    'a turn does nothing for calls that are not in it',
  );
  return { done, left: partOf(turn, (item) => !isDone(item)) };
}

type Item = HoldRequest | Settlement;

/** A retry must look for its earlier call first, and a budget is judged beside the wallet: only `ledger.reserve` does these. */
const mayBeOrdinary = ({ idempotencyKey, budget }: HoldRequest): boolean =>
  idempotencyKey?.joins !== true && budget === undefined;
const wasTried = (item: Item): boolean => !('most' in item) || mayBeOrdinary(item);

function partOf({ settlements, requests }: Turn, isOf: (item: Item) => boolean): Turn {
  return { settlements: settlements.filter(isOf), requests: requests.filter(isOf) };
}

type Done = 'all' | ReadonlySet<CallId>;

const NONE: Done = new Set();

/**
 * The SQLSTATEs of a turn that did nothing, because a call was repeated or a hold changed while the statement waited for its
 * wallet. 40001 is raised by our functions; class 23 is a constraint that noticed first. The slower statements decide.
 */
const UNDONE = /^(40001|23)/;

/** Runs the statement that is cheapest for these, and returns the calls that it has done. It makes no promise but that of its statement. */
function doneIn(db: Queryable, instance: InstanceOf, turn: Turn): Promise<Done> {
  const { settlements, requests } = turn;
  const settlement = settlements[0];
  const request = requests[0];
  if (settlements.length + requests.length > 1) return turnAll(db, instance, turn);
  if (settlement !== undefined) return settleOne(db, settlement);
  return request === undefined ? Promise.resolve('all') : placeOne(db, instanceIdOf(instance, request), request);
}

function undone(fault: unknown): Done {
  if (!UNDONE.test(sqlStateOf(fault) ?? '')) throw fault;
  turnsUndone.add();
  return NONE;
}

const instanceIdOf = (instance: InstanceOf, request: HoldRequest): bigint =>
  typeof instance === 'bigint' ? instance : instance(request);

/**
 * Takes all of the turn in one statement, see `lane_turn.sql`. The server answers null if all is done, which saves
 * sending back the ids.
 */
function turnAll(db: Queryable, instance: InstanceOf, { settlements, requests }: Turn): Promise<Done> {
  const statement = {
    name: 'ledger_turn',
    text: 'select ledger.lane_turn($1, $2, $3, $4) as done',
    values: [
      plainArray(requests.map((request) => instanceIdOf(instance, request))),
      settlementRecords(settlements),
      holdRequests(requests),
      namedSessions(settlements),
    ],
  };
  return db.query<{ done: readonly CallId[] | null }>(statement).then(doneOfAll, undone);
}

function doneOfAll({ rows }: { readonly rows: readonly { readonly done: readonly CallId[] | null }[] }): Done {
  const done = rows[0]?.done;
  assert(done !== undefined, 'a function answers with one row');
  return done === null ? 'all' : new Set(done);
}

/** Settles one call, see `settle_one.sql`. */
function settleOne(db: Queryable, settlement: Settlement): Promise<Done> {
  const statement = {
    name: 'ledger_settle_one',
    text: 'select ledger.settle_one(s, $2) as done from unnest($1::ledger.settlement[]) s',
    values: [settlementRecords([settlement]), settlement.session === undefined ? null : namedSessions([settlement])],
  };
  return db.query<{ done: boolean }>(statement).then(doneOfOne, undone);
}

/** Places one hold, see `place_one.sql`. */
function placeOne(db: Queryable, instanceId: bigint, request: HoldRequest): Promise<Done> {
  const { callId, appId, userId, most, streamsMax, callsMax = 0, idempotencyKey: key } = request;
  const statement = {
    name: 'ledger_place_one',
    text: 'select ledger.place_one($1, $2, $3, $4, $5, $6, $7, $8, $9) as done',
    values: [instanceId, callId, appId, userId, most, streamsMax, callsMax, key?.digest, key?.body],
  };
  return db.query<{ done: boolean }>(statement).then(doneOfOne, undone);
}

function doneOfOne({ rows }: { readonly rows: readonly { readonly done: boolean }[] }): Done {
  return rows[0]?.done === true ? 'all' : NONE;
}
