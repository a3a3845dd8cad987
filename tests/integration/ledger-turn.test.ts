import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { HoldRequest } from '../../packages/service/src/kernel/calls/hold.ts';
import type { Settlement } from '../../packages/service/src/ledger/settlement/settlement.ts';
import { takeOrdinary, type Turn } from '../../packages/service/src/ledger/turn/queries.ts';
import { createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { movementsOf, receiptOf } from '../support/receipts.ts';
import { rewrite } from '../support/rewrite.ts';
import { sql, sqlValue } from '../support/sql.ts';
import { endHolds, endOrdinary, placeHolds, placeOrdinary } from '../support/turns.ts';

// Which calls a turn must leave to be judged one by one, for a call by itself (`place_one.sql`, `settle_one.sql`) and for one
// that shares its turn (`turn.sql`). The histories of ledger-model.test.ts take both ways.
const WAYS = ['alone', 'beside another'] as const;
type Way = (typeof WAYS)[number];
let ledger: LedgerDatabase;

before(async () => {
  ledger = await createLedgerDatabase('inTurns');
  await ledger.open('companion', 1_000_000);
});

after(async () => {
  assert.deepEqual(await ledger.differences(), []);
  await ledger.close();
});

const place = (requests: readonly HoldRequest[]) => placeOrdinary(ledger.live, ledger.instance, requests);
const end = (settlements: readonly Settlement[]) => endOrdinary(ledger.live, settlements);

const isOwn = ({ userId }: HoldRequest): boolean => userId !== 'companion';

/**
 * Whether this one item was done as ordinary. The companion is another wallet's call, which makes a turn of it. What is left
 * of the item must not keep the companion waiting, unless the whole turn is undone.
 */
async function isOrdinary(way: Way, item: Partial<Turn>, isUndone = false): Promise<boolean> {
  const { settlements = [], requests = [] } = item;
  const companions = way === 'alone' ? [] : [holdOf('companion', 1)];
  const turn = { settlements, requests: [...companions, ...requests] };
  const { done, left } = await takeOrdinary(ledger.live, ledger.instance, turn);
  assert.deepEqual((isUndone ? left : done).requests.slice(0, companions.length), companions);
  const own = [...done.settlements, ...done.requests.filter(isOwn)];
  const rest = [...left.settlements, ...left.requests.filter(isOwn)];
  assert.equal(own.length + rest.length, 1);
  return own.length > 0;
}

const isPlaced = (way: Way, request: HoldRequest) => isOrdinary(way, { requests: [request] });
const isEnded = (way: Way, settlement: Settlement) => isOrdinary(way, { settlements: [settlement] });

async function figuresOf(user: string) {
  const { balance, held, openStreams, capSpent, capHeld } = await ledger.wallet(user);
  return { balance, held, openStreams, capSpent, capHeld };
}

async function openCallsOf(user: string): Promise<number> {
  const count = await sqlValue<number>(ledger)`select open_calls as count from ledger.wallets where user_id = ${user}`;
  return count ?? -1;
}

test('WA-07 a wallet holds all of its calls or none', async () => {
  await ledger.open('rich', 100);
  await ledger.open('poor', 100);
  const rich = [holdOf('rich', 40), holdOf('rich', { least: 1, most: 35 })];
  const poor = [holdOf('poor', 60), holdOf('poor', { least: 1, most: 41 })];
  const nobody = holdOf('nobody', 1);
  const batch = [rich[0], poor[0], nobody, rich[1], poor[1]].filter((one) => one !== undefined);
  assert.deepEqual(await place(batch), { done: rich, left: [poor[0], nobody, poor[1]] });
  assert.deepEqual(await figuresOf('rich'), { balance: 100, held: 75, openStreams: 0, capSpent: 0, capHeld: 75 });
  assert.deepEqual(await figuresOf('poor'), { balance: 100, held: 0, openStreams: 0, capSpent: 0, capHeld: 0 });
  assert.deepEqual(
    await ledger.reserve(batch),
    [40, 60, 'payment_required', 35, 30],
    'repeated calls are recognised and the rest are judged',
  );
});

for (const way of WAYS) {
  const named = (user: string): string => `${user}, ${way}`;

  test(`WA-07 WA-13 a call holds its share and no more, ${way}`, async () => {
    const user = named('share');
    await ledger.open(user, 100);
    for (const share of [75, 19]) {
      assert.equal(await isPlaced(way, holdOf(user, { least: 1, most: share + 1 })), false);
      assert.equal(await isPlaced(way, holdOf(user, { least: 1, most: share })), true);
    }
    assert.deepEqual(await figuresOf(user), { balance: 100, held: 94, openStreams: 0, capSpent: 0, capHeld: 94 });
  });

  for (const [what, assignment] of [
    ['disconnected', 'is_connected = false'],
    ['suspended', 'is_suspended = true'],
    ['of a later month', `cap_month = '2999-01-01'`],
  ] as const) {
    test(`WA-07 a call of a wallet that is ${what} is left to be judged, ${way}`, async () => {
      const user = named(what);
      await ledger.open(user, 100);
      await ledger.setWallet(user, assignment);
      assert.equal(await isPlaced(way, holdOf(user, 10)), false);
      assert.equal((await ledger.wallet(user)).held, 0);
    });
  }

  test(`WA-08 a new month ignores earlier holds, ${way}`, async () => {
    const user = named('turning');
    await ledger.open(user, 1_000, 100);
    const earlier = holdOf(user, 90);
    await ledger.reserve([earlier, holdOf(user, 10)]);
    await ledger.settle([endOf(earlier, 80)]);
    await toThePast(user);
    assert.equal(await isPlaced(way, holdOf(user, 76)), false);
    assert.equal(await isPlaced(way, holdOf(user, 75)), true);
    assert.deepEqual(await figuresOf(user), { balance: 920, held: 85, openStreams: 0, capSpent: 0, capHeld: 75 });
  });

  test(`WA-03 WA-13 a call gets its share of a cap, ${way}`, async () => {
    const user = named('capped');
    await ledger.open(user, 1_000, 100);
    const earlier = holdOf(user, 30);
    await ledger.reserve([earlier]);
    await ledger.settle([endOf(earlier, 20)]); // 20 spent.
    await ledger.reserve([holdOf(user, 30)]); // 30 held.
    assert.equal(await isPlaced(way, holdOf(user, 39)), false);
    assert.equal(await isPlaced(way, holdOf(user, 38)), true);
    assert.deepEqual(await figuresOf(user), { balance: 980, held: 68, openStreams: 0, capSpent: 20, capHeld: 68 });
  });

  test(`LI-02 CC-18 a call holds if its kind has a free slot, ${way}`, async () => {
    const user = named('slots');
    await ledger.open(user, 1_000);
    const stream = holdOf(user, 10, { streamsMax: 1 });
    const plain = holdOf(user, 10, { callsMax: 1 });
    assert.equal(await isPlaced(way, stream), true);
    assert.equal(await isPlaced(way, holdOf(user, 10, { streamsMax: 1 })), false);
    assert.equal(await isPlaced(way, plain), true);
    assert.equal(await isPlaced(way, holdOf(user, 10, { callsMax: 1 })), false);
    assert.deepEqual([(await ledger.wallet(user)).openStreams, await openCallsOf(user)], [1, 1]);
    assert.equal(await isEnded(way, endOf(stream, 1)), true);
    assert.deepEqual([(await ledger.wallet(user)).openStreams, await openCallsOf(user)], [0, 1]);
    assert.equal(await isEnded(way, endOf(plain, 1)), true);
    assert.deepEqual([(await ledger.wallet(user)).openStreams, await openCallsOf(user)], [0, 0]);
  });

  test(`LI-02 a drain without a slot frees no other’s, ${way}`, async () => {
    const user = named('drained');
    await ledger.open(user, 1_000);
    const drain = holdOf(user, 10, { streamsMax: 1 });
    await ledger.reserve([drain, holdOf(user, 10, { callsMax: 1 })]);
    await ledger.drain([drain]);
    assert.deepEqual(await ledger.reserve([holdOf(user, 10, { streamsMax: 1 })]), [10]);
    assert.equal(await isEnded(way, endOf(drain, 1)), true);
    assert.deepEqual([(await ledger.wallet(user)).openStreams, await openCallsOf(user)], [1, 1]);
  });

  test(`CC-14 a hold keeps its key, and a joined call stays untouched, ${way}`, async () => {
    const user = named('retried');
    await ledger.open(user, 100);
    const attempt = { digest: Buffer.from(`digest ${way}`), body: Buffer.from('body') };
    const first = holdOf(user, 10, { idempotencyKey: { ...attempt, joins: false } });
    const again = holdOf(user, 10, { idempotencyKey: { ...attempt, joins: true } });
    assert.equal(await isPlaced(way, first), true);
    assert.equal(await isPlaced(way, again), false);
    assert.deepEqual(await ledger.reserve([again]), ['attempt_running']);
    const unkept = { ...endOf(first, 5), isUnkept: true };
    assert.equal(await isEnded(way, unkept), false);
    const [settled] = await endHolds(ledger.live, [unkept]);
    assert.deepEqual(settled, { call_id: first.callId, is_settled: false, charged: 0n, is_joined: true });
    assert.equal(await isEnded(way, endOf(first, 5)), true, 'its answer is kept now');
  });

  test(`WA-07 a repeated call is left to be recognised, ${way}`, async () => {
    const user = named('repeated');
    await ledger.open(user, 1_000);
    const [held, ended] = [holdOf(user, 10), holdOf(user, 10)];
    await ledger.reserve([held, ended]);
    await ledger.settle([endOf(ended, 4)]);
    assert.equal(await isOrdinary(way, { requests: [held] }, true), false);
    assert.equal(await isOrdinary(way, { requests: [ended] }, true), false);
    assert.equal(await isEnded(way, endOf(ended, 4)), false);
    assert.deepEqual(await ledger.reserve([held, ended, holdOf(user, 10)]), [10, 'call_ended', 10]);
    assert.deepEqual(await figuresOf(user), { balance: 996, held: 20, openStreams: 0, capSpent: 4, capHeld: 20 });
  });

  test(`WA-10 a fenced process places no hold, ${way}`, async () => {
    const user = named('fenced');
    await ledger.open(user, 100);
    const fenced = await ledger.addInstance();
    await sql(ledger)`update db.instances set state = 'dead' where instance_id = ${fenced}`;
    const requests = [holdOf(user, 10), ...(way === 'alone' ? [] : [holdOf('companion', 1)])];
    await assert.rejects(placeHolds(ledger.live, fenced, requests), { code: '55000' });
    assert.equal((await ledger.wallet(user)).held, 0);
  });

  test(`WA-09 only a charging receipt has an entry number, ${way}`, async () => {
    const user = named('receipts');
    await ledger.open(user, 100);
    const [paid, free] = [holdOf(user, 40), holdOf(user, 30)];
    await ledger.reserve([paid, free]);
    assert.equal(await isEnded(way, endOf(free, 0)), true);
    assert.equal(await isEnded(way, { ...endOf(paid, 11), isEstimated: true }), true);
    assert.deepEqual(await figuresOf(user), { balance: 89, held: 0, openStreams: 0, capSpent: 11, capHeld: 0 });
    assert.deepEqual((await movementsOf(ledger.database, user)).slice(1), [
      { seq: 2, kind: 'charge', books: 'wallet to earned', amount: 11, after: 89 },
    ]);
    const tokens = { prompt: 10, completion: 5 };
    const receipts = await Promise.all([paid, free].map(({ callId }) => receiptOf(ledger.database, callId)));
    assert.deepEqual(receipts, [
      { outcome: 'answered', charged: 11, held: 40, isEstimated: true, ...tokens },
      { outcome: 'failed', charged: 0, held: 30, isEstimated: false, ...tokens },
    ]);
  });

  for (const [what, prepare, charge] of [
    ['a charge above its hold', async () => {}, 11],
    [
      'a hold of another month',
      (user: string) => ledger.setWallet(user, `cap_month = '2999-01-01', cap_held_micros = 0`),
      5,
    ],
    ['a wallet that was clawed back', (user: string) => ledger.takeBack(user, 95), 4],
  ] as const) {
    test(`WA-07 ${what} is left to be judged, ${way}`, async () => {
      const user = named(what);
      await ledger.open(user, 100);
      const odd = holdOf(user, 10);
      await ledger.reserve([odd]);
      await prepare(user);
      assert.equal(await isEnded(way, endOf(odd, charge)), false);
      assert.equal((await ledger.wallet(user)).held, 10);
      assert.equal((await ledger.settle([endOf(odd, charge)]))[0]?.isSettled, true);
      assert.equal((await ledger.wallet(user)).held, 0);
    });
  }
}

/** Moves all that a wallet has held and spent into a month that is over. */
async function toThePast(user: string): Promise<void> {
  const past = `'2020-01-01' where wallet_id = (select wallet_id from ledger.wallets where user_id = $1)`;
  for (const change of ['ledger.wallets set cap_month', 'ledger.holds set month', 'usage.calls set month']) {
    await rewrite(ledger.database, `update ${change} = ${past}`, [user]);
  }
}

const streamOf = (streamsMax: number) => holdOf('streams', 10, { streamsMax });

test('LI-02 a wallet’s streams are placed if all find slots', async () => {
  await ledger.open('streams', 1_000);
  const three = [streamOf(2), streamOf(2), streamOf(2)];
  assert.deepEqual(await place(three), { done: [], left: three });
  const lowered = [streamOf(3), streamOf(2), streamOf(3)]; // The limit was lowered in between, so the lower one counts.
  assert.deepEqual(await place(lowered), { done: [], left: lowered });
  assert.deepEqual((await place([streamOf(3), holdOf('streams', 10), streamOf(2)])).left, []);
  assert.equal((await ledger.wallet('streams')).openStreams, 2);
});

test('WA-09 a turn numbers one wallet’s charges in order', async () => {
  await ledger.open('many', 100);
  const requests = [10, 20, 30, 40].map((amount) => holdOf('many', amount));
  await ledger.reserve(requests);
  const charges = [7, 0, 30, 11];
  const ends = requests.map((request, index) => endOf(request, charges[index] ?? 0));
  assert.deepEqual(await end(ends), { done: ends, left: [] });
  assert.deepEqual(await figuresOf('many'), { balance: 52, held: 0, openStreams: 0, capSpent: 48, capHeld: 0 });
  assert.deepEqual(
    (await movementsOf(ledger.database, 'many')).slice(1).map(({ seq, amount, after: left }) => [seq, amount, left]),
    [
      [2, 7, 93],
      [3, 30, 63],
      [4, 11, 52],
    ],
  );
  const repeated = charges.map((charged) => ({ isSettled: false, charged }));
  assert.deepEqual(await ledger.settle(ends), repeated);
});
