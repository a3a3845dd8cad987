import { type Batcher, createBatcher, type Waiter } from '#db/batches/batcher.ts';
import type { Instance } from '#db/processes/instance.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { OutageWatch } from '#db/batches/outage.ts';
import { assert } from '#kernel/faults/assert.ts';
import type { CallId } from '#kernel/values/ids.ts';
import { type HoldAnswer, holdAnswerOf, type HoldRequest } from '#kernel/calls/hold.ts';
import type { ReservedRow } from '#ledger/hold/queries.ts';
import type { SettledRow } from '#ledger/settlement/queries.ts';
import type { Settlement } from '#ledger/settlement/settlement.ts';
import { type SettledCall, settledCallOf } from '#ledger/settlement/settling.ts';
import type { Channels, TakeTurn } from '#ledger/turn/channel.ts';
import { takeTurn } from '#ledger/turn/queries.ts';

/**
 * The way of one process to the ledger: in each channel one turn at a time, which ends calls and places holds. What comes while
 * it runs waits for the next. The waiters are called after the commit, and must not throw.
 */
interface Turns {
  /** Places a hold. Fails after half a second without a database. */
  readonly place: (request: HoldRequest, waiter: Waiter<HoldAnswer>) => void;
  /** Ends a call. Goes on trying until the database takes it or refuses it. */
  readonly settle: (settlement: Settlement, waiter: Waiter<SettledCall>) => void;
}

interface TurnsOptions {
  readonly channels: Channels;
  readonly instance: Instance;
  /** Runs the statement of one turn, and learns from the way it ends. */
  readonly run: OutageWatch['run'];
  /** Names the wallet of a call, if that is known. */
  readonly walletOf: (callId: CallId) => string | undefined;
}

type Item = HoldRequest | Settlement;
type Answer = HoldAnswer | SettledCall;

const ITEMS_MAX = 512; // In one statement, of both kinds.
const PLACE_RETRIES_MAX = 5; // Half a second without a database, then the caller gets an error.
const ENDED_UNTOLD = 'The hold of a call was released before the call began, because its process had lost its lease.';

export function createTurns({ channels, instance, run, walletOf }: TurnsOptions): Turns {
  const turns = channels.map((channel) =>
    createBatcher<Item, Answer>({
      run: (items) => run(() => instance.run((instanceId) => take(channel, instanceId, items))),
      itemsMax: ITEMS_MAX,
      retriesMax: (item) => (isRequest(item) ? PLACE_RETRIES_MAX : Number.POSITIVE_INFINITY),
      // Another statement may hold the wallet's lock. All calls of that wallet then cost the others one wait, not one each.
      resourceOf: ({ callId }) => walletOf(callId),
    }),
  );
  function turnsOf(callId: CallId): Batcher<Item, Answer> {
    const wallet = turns.length === 1 ? undefined : walletOf(callId);
    const own = turns[wallet === undefined ? 0 : channelOf(wallet, turns.length)];
    assert(own !== undefined, 'there is a channel');
    return own;
  }
  return {
    // `take` answers a request by a hold and a settlement by a charge.
    place: (request, waiter) => turnsOf(request.callId).hand(request, waiter as Waiter<Answer>),
    settle: (settlement, waiter) => turnsOf(settlement.callId).hand(settlement, waiter as Waiter<Answer>),
  };
}

/** The channel of a wallet, the same in every process. FNV-1a: any other number that spreads names evenly would do. */
function channelOf(wallet: string, channels: number): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < wallet.length; index += 1) {
    hash = Math.imul(hash ^ wallet.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) % channels;
}

/** A channel for one process alone: each turn is a statement. */
export function createOwnChannel(pool: Pool): TakeTurn {
  return (instanceId, turn) => takeTurn(pool, instanceId, turn);
}

function take(channel: TakeTurn, instanceId: bigint, items: readonly Item[]): Promise<readonly Answer[]> {
  const settlements: Settlement[] = [];
  const requests: HoldRequest[] = [];
  for (const item of items) {
    if (isRequest(item)) requests.push(item);
    else settlements.push(item);
  }
  return channel(instanceId, { settlements, requests }).then(({ settled, placed }) => {
    let charge = 0;
    let hold = 0;
    return items.map((item) => (isRequest(item) ? answerOf(placed[hold++], item) : chargedOf(settled[charge++], item)));
  });
}

const isRequest = (item: Item): item is HoldRequest => 'most' in item;

function chargedOf(row: SettledRow | undefined, settlement: Settlement): SettledCall {
  assert(row !== undefined, 'each settlement is answered');
  return settledCallOf(row, settlement);
}

function answerOf(row: ReservedRow | undefined, request: HoldRequest): HoldAnswer {
  assert(row !== undefined, 'each request is answered');
  if (row.outcome === 'call_ended') throw new Error(ENDED_UNTOLD);
  return holdAnswerOf(row, request);
}
