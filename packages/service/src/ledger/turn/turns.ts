import { createBatcher, type Waiter } from '#db/batcher.ts';
import type { Instance } from '#db/instance.ts';
import type { OutageWatch } from '#db/outage.ts';
import type { Pool } from '#db/pool.ts';
import { assert } from '#kernel/assert.ts';
import { type HoldAnswer, holdAnswerOf, type HoldRequest } from '#kernel/hold.ts';
import type { ReservedRow } from '#ledger/hold/queries.ts';
import type { Settlement } from '#ledger/settlement/settlement.ts';
import { type SettledCall, settledCallOf } from '#ledger/settlement/settling.ts';
import { takeTurn } from '#ledger/turn/queries.ts';

/**
 * The way of one process to the ledger: one statement at a time, each of which ends calls and places holds. What comes while
 * it runs waits for the next. The waiters are called after the commit, and must not throw.
 */
interface Turns {
  /** Places a hold. Fails after half a second without a database. */
  readonly place: (request: HoldRequest, waiter: Waiter<HoldAnswer>) => void;
  /** Ends a call. Goes on trying until the database takes it or refuses it. */
  readonly settle: (settlement: Settlement, waiter: Waiter<SettledCall>) => void;
}

interface TurnsOptions {
  readonly pool: Pool;
  readonly instance: Instance;
  readonly outage: Pick<OutageWatch, 'run'>;
}

type Item = HoldRequest | Settlement;
type Answer = HoldAnswer | SettledCall;

const ITEMS_MAX = 512; // In one statement, of both kinds.
const PLACE_RETRIES_MAX = 5; // Half a second without a database, then the caller gets an error.
const ENDED_UNTOLD = 'The hold of a call was released before the call began, because its process had lost its lease.';

export function createTurns({ pool, instance, outage }: TurnsOptions): Turns {
  const turns = createBatcher<Item, Answer>({
    run: (items) => outage.run(() => instance.run((instanceId) => take(pool, instanceId, items))),
    itemsMax: ITEMS_MAX,
    retriesMax: (item) => (isRequest(item) ? PLACE_RETRIES_MAX : Number.POSITIVE_INFINITY),
    // The wallet: another statement may hold its lock.
    resourceOf: (item) => (isRequest(item) ? `${item.appId} ${item.userId}` : undefined),
  });
  return {
    place: (request, { resolve, reject }) =>
      turns.hand(request, {
        resolve: (answer) => {
          assert('kind' in answer, 'a request is answered by a hold');
          resolve(answer);
        },
        reject,
      }),
    settle: (settlement, { resolve, reject }) =>
      turns.hand(settlement, {
        resolve: (answer) => {
          assert('charged' in answer, 'a settlement is answered by a charge');
          resolve(answer);
        },
        reject,
      }),
  };
}

async function take(pool: Pool, instanceId: bigint, items: readonly Item[]): Promise<readonly Answer[]> {
  const settlements: Settlement[] = [];
  const requests: HoldRequest[] = [];
  for (const item of items) {
    if (isRequest(item)) requests.push(item);
    else settlements.push(item);
  }
  const { settled, placed } = await takeTurn(pool, instanceId, { settlements, requests });
  const charges = settled.map(settledCallOf);
  const holds = placed.map(answerOf);
  let charge = 0;
  let hold = 0;
  return items.map((item) => {
    const answer = isRequest(item) ? holds[hold++] : charges[charge++];
    assert(answer !== undefined, 'each item is answered');
    return answer;
  });
}

const isRequest = (item: Item): item is HoldRequest => 'most' in item;

function answerOf(row: ReservedRow): HoldAnswer {
  if (row.outcome === 'call_ended') throw new Error(ENDED_UNTOLD);
  return holdAnswerOf(row);
}
