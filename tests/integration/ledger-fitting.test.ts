import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { HoldRequest } from '../../packages/service/src/kernel/hold.ts';
import type { Settlement } from '../../packages/service/src/ledger/settlement/settlement.ts';
import { createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { lockWallet } from '../support/lock-wait.ts';
import { movementsOf, receiptOf } from '../support/receipts.ts';
import { rewrite } from '../support/rewrite.ts';
import { endHolds, endOrdinary, placeHolds, placeOrdinary } from '../support/turns.ts';

// Which calls the ordinary batch must leave to be judged one by one. The histories of ledger-model.test.ts go both ways.
let ledger: LedgerDatabase;

before(async () => {
  ledger = await createLedgerDatabase('inTurns');
});

after(async () => {
  assert.deepEqual(await ledger.differences(), []);
  await ledger.close();
});

const place = (requests: readonly HoldRequest[]) => placeOrdinary(ledger.live, ledger.instance, requests);
const end = (settlements: readonly Settlement[]) => endOrdinary(ledger.live, settlements);

const streamOf = (streamsMax: number) => holdOf('streams', 10, { streamsMax });

async function figuresOf(user: string) {
  const { balance, held, openStreams, capSpent, capHeld } = await ledger.wallet(user);
  return { balance, held, openStreams, capSpent, capHeld };
}

test('WA-07 a wallet that affords all of its calls holds them all; any other wallet is left unchanged', async () => {
  await ledger.open('rich', 100);
  await ledger.open('poor', 100);
  const rich = [holdOf('rich', 40), holdOf('rich', { least: 1, most: 35 })];
  const poor = [holdOf('poor', 60), holdOf('poor', { least: 1, most: 41 })];
  const nobody = holdOf('nobody', 1);
  const batch = [rich[0], poor[0], nobody, rich[1], poor[1]].filter((one) => one !== undefined);
  assert.deepEqual(await place(batch), { done: rich, left: [poor[0], nobody, poor[1]] });
  assert.deepEqual(await figuresOf('rich'), { balance: 100, held: 75, openStreams: 0, capSpent: 0, capHeld: 75 });
  assert.deepEqual(await figuresOf('poor'), { balance: 100, held: 0, openStreams: 0, capSpent: 0, capHeld: 0 });
  const oneMore = holdOf('rich', 20); // 19 are three quarters of what is left.
  assert.deepEqual(await place([oneMore]), { done: [], left: [oneMore] });
  assert.deepEqual(
    await ledger.reserve(batch),
    [40, 60, 'payment_required', 35, 30],
    'repeated calls are recognised and the rest are judged',
  );
});

for (const [what, user, assignment] of [
  ['disconnected', 'disconnected', 'is_connected = false'],
  ['suspended', 'suspended', 'is_suspended = true'],
  ['of a later month', 'later', `cap_month = '2999-01-01'`],
] as const) {
  test(`WA-07 calls of a wallet that is ${what} are left to be judged`, async () => {
    await ledger.open(user, 100);
    await ledger.setWallet(user, assignment);
    const request = holdOf(user, 10);
    assert.deepEqual(await place([request]), { done: [], left: [request] });
    assert.equal((await ledger.wallet(user)).held, 0);
  });
}

test('WA-08 in a new month the full cap is available, and earlier holds no longer count', async () => {
  await ledger.open('turning', 1_000, 100);
  const before = holdOf('turning', 90);
  await ledger.reserve([before, holdOf('turning', 10)]);
  await ledger.settle([endOf(before, 80)]);
  const past = `'2020-01-01' where wallet_id = (select wallet_id from ledger.wallets where user_id = 'turning')`;
  for (const change of ['ledger.wallets set cap_month', 'ledger.holds set month', 'usage.calls set month']) {
    await rewrite(ledger.database, `update ${change} = ${past}`);
  }
  const over = holdOf('turning', 76);
  assert.deepEqual(await place([over]), { done: [], left: [over] });
  assert.deepEqual((await place([holdOf('turning', 75)])).left, []);
  assert.deepEqual(await figuresOf('turning'), { balance: 920, held: 85, openStreams: 0, capSpent: 0, capHeld: 75 });
});

test('WA-03 WA-13 of what a cap leaves, calls get their share up to the last micro and not beyond', async () => {
  await ledger.open('capped', 1_000, 100);
  const before = holdOf('capped', 30);
  await ledger.reserve([before]);
  await ledger.settle([endOf(before, 20)]); // 20 spent.
  await ledger.reserve([holdOf('capped', 30)]); // 30 held.
  const over = [holdOf('capped', 19), holdOf('capped', 20)];
  assert.deepEqual(await place(over), { done: [], left: over });
  const exact = [holdOf('capped', 19), holdOf('capped', 19)];
  assert.deepEqual((await place(exact)).left, []);
  assert.deepEqual(await figuresOf('capped'), { balance: 980, held: 68, openStreams: 0, capSpent: 20, capHeld: 68 });
});

test('LI-02 streams are placed if the whole batch has slots', async () => {
  await ledger.open('streams', 1_000);
  const three = [streamOf(2), streamOf(2), streamOf(2)];
  assert.deepEqual(await place(three), { done: [], left: three });
  const lowered = [streamOf(3), streamOf(2), streamOf(3)]; // The limit was lowered in between, so the lower one counts.
  assert.deepEqual(await place(lowered), { done: [], left: lowered });
  assert.deepEqual((await place([streamOf(3), holdOf('streams', 10), streamOf(2)])).left, []);
  assert.equal((await ledger.wallet('streams')).openStreams, 2);
  const third = streamOf(2);
  assert.deepEqual(await place([third]), { done: [], left: [third] });
  assert.deepEqual((await place([streamOf(3)])).left, []);
});

test('CC-14 a retry is left to find its earlier call, and the other calls of the wallet hold', async () => {
  await ledger.open('retried', 100);
  const attempt = { digest: Buffer.from('digest'), body: Buffer.from('body') };
  const first = holdOf('retried', 10, { idempotencyKey: { ...attempt, joins: false } });
  const again = holdOf('retried', 10, { idempotencyKey: { ...attempt, joins: true } });
  assert.deepEqual(await place([first, again]), { done: [first], left: [again] });
  assert.deepEqual(await place([again]), { done: [], left: [again] });
  assert.deepEqual(await ledger.reserve([again]), ['attempt_running']);
  const [settled] = await endHolds(ledger.live, [{ ...endOf(first, 5), isUnkept: true }]);
  assert.deepEqual(settled, { call_id: first.callId, is_settled: false, charged: 0n, is_joined: true });
});

test('WA-07 a repeated call gets its earlier result, next to new calls that hold', async () => {
  await ledger.open('repeated', 1_000);
  const [held, ended, fresh] = [holdOf('repeated', 10), holdOf('repeated', 10), holdOf('repeated', 10)];
  await ledger.reserve([held, ended]);
  await ledger.settle([endOf(ended, 4)]);
  assert.deepEqual(await ledger.reserve([held, fresh]), [10, 10]);
  assert.deepEqual(await ledger.reserve([ended, fresh]), ['call_ended', 10]);
  assert.deepEqual(await figuresOf('repeated'), { balance: 996, held: 20, openStreams: 0, capSpent: 4, capHeld: 20 });
});

test('WA-10 a fenced process places no hold', async () => {
  await ledger.open('fenced', 100);
  const fenced = await ledger.addInstance();
  await ledger.database.owner.query(`update db.instances set state = 'dead' where instance_id = $1`, [fenced]);
  await assert.rejects(placeHolds(ledger.live, fenced, [holdOf('fenced', 10)]), { code: '55000' });
  assert.equal((await ledger.wallet('fenced')).held, 0);
});

test('WA-09 the charges of one wallet in a batch are numbered in batch order and carry the balance after each', async () => {
  await ledger.open('many', 100);
  const requests = [10, 20, 30, 40].map((amount) => holdOf('many', amount));
  await ledger.reserve(requests);
  const charges = [7, 0, 30, 11];
  const ends = requests.map((request, index) => endOf(request, charges[index] ?? 0));
  assert.deepEqual(await end(ends), { done: ends, left: [] });
  assert.deepEqual(await figuresOf('many'), { balance: 52, held: 0, openStreams: 0, capSpent: 48, capHeld: 0 });
  assert.deepEqual((await movementsOf(ledger.database, 'many')).slice(1), [
    { seq: 2, kind: 'charge', books: 'wallet to earned', amount: 7, after: 93 },
    { seq: 3, kind: 'charge', books: 'wallet to earned', amount: 30, after: 63 },
    { seq: 4, kind: 'charge', books: 'wallet to earned', amount: 11, after: 52 },
  ]);
  const receipt = { outcome: 'answered', charged: 11, held: 40, isEstimated: false, prompt: 10, completion: 5 };
  assert.deepEqual(await receiptOf(ledger.database, requests[3]?.callId ?? ''), receipt);
  assert.deepEqual(
    await ledger.settle(ends),
    charges.map((charged) => ({ isSettled: false, charged })),
  );
});

for (const [what, user, prepare, charge] of [
  ['a charge above its hold', 'above', async () => {}, 11],
  [
    'a hold of another month',
    'turned',
    () => ledger.setWallet('turned', `cap_month = '2999-01-01', cap_held_micros = 0`),
    5,
  ],
  ['a wallet that was clawed back', 'clawed', () => ledger.takeBack('clawed', 95), 10],
] as const) {
  test(`WA-07 ${what} is left to be judged, and the other wallets of the batch are settled`, async () => {
    await ledger.open(user, 100);
    await ledger.open(`${user}-other`, 100);
    const [odd, other] = [holdOf(user, 10), holdOf(`${user}-other`, 10)];
    await ledger.reserve([odd, other]);
    await prepare();
    const [oddEnd, otherEnd] = [endOf(odd, charge), endOf(other, 5)];
    assert.deepEqual(await end([oddEnd, otherEnd]), { done: [otherEnd], left: [oddEnd] });
    assert.equal((await ledger.wallet(user)).held, 10);
    const answers = await ledger.settle([oddEnd, otherEnd]);
    assert.deepEqual(answers[1], { isSettled: false, charged: 5 });
    assert.deepEqual([answers[0]?.isSettled, (await ledger.wallet(user)).held], [true, 0]);
  });
}

/** Runs a statement as the owner, who waits for a lock without a limit. It has started when `meanwhile` runs. */
async function overtaken<Value>(
  user: string,
  { run, meanwhile }: { readonly run: () => Promise<Value>; readonly meanwhile: () => Promise<unknown> },
): Promise<Value> {
  const lock = await lockWallet(ledger.database, user);
  const happens = async (): Promise<void> => {
    try {
      await lock.waiting(1);
      await meanwhile();
    } finally {
      await lock.release();
    }
  };
  // Awaited together, so that a statement that fails as soon as the lock is released does not reject unhandled.
  const [value] = await Promise.all([run(), happens()]);
  return value;
}

async function rawly(text: string, ...values: readonly unknown[]): Promise<void> {
  await ledger.database.owner.query(text, [...values]);
}

test('WA-07 a repeated call that waits for the wallet holds nothing if the first has ended meanwhile', async () => {
  await ledger.open('overtaken', 100);
  const request = holdOf('overtaken', 10);
  const placed = await overtaken('overtaken', {
    run: () => placeHolds(ledger.database.owner, ledger.instance, [request]),
    meanwhile: () =>
      rawly(
        `insert into usage.calls (call_id, wallet_id, month, outcome, is_estimated, prompt_tokens, cached_tokens,
           completion_tokens, reasoning_tokens, held_micros, charged_micros)
         select $1, wallet_id, db.current_month(), 'failed', false, 0, 0, 0, 0, 10, 0 from ledger.wallets where user_id = 'overtaken'`,
        request.callId,
      ),
  });
  assert.deepEqual(
    placed.map(({ outcome }) => outcome),
    ['call_ended'],
  );
  assert.equal((await ledger.wallet('overtaken')).held, 0);
});

test('WA-10 a process that is fenced while it waits for a wallet places no hold', async () => {
  await ledger.open('late', 100);
  const instance = await ledger.addInstance();
  const placed = overtaken('late', {
    run: () => placeHolds(ledger.database.owner, instance, [holdOf('late', 10)]),
    meanwhile: () => rawly(`update db.instances set state = 'dead' where instance_id = $1`, instance),
  });
  await assert.rejects(placed, { code: '55000' });
  assert.equal((await ledger.wallet('late')).held, 0);
});

test('WA-07 two batches that wait for the same wallet overspend neither its balance nor its cap', async () => {
  for (const [user, balance, cap] of [
    ['contested', 100, undefined],
    ['contested-cap', 1_000, 100],
  ] as const) {
    await ledger.open(user, balance, cap);
    const placeOne = () => placeHolds(ledger.database.owner, ledger.instance, [holdOf(user, 60)]);
    const lock = await lockWallet(ledger.database, user);
    const both = [placeOne(), placeOne()];
    await lock.waiting(2);
    await lock.release();
    const outcomes = (await Promise.all(both)).map(([row]) => row?.outcome);
    assert.equal(outcomes.filter((outcome) => outcome === 'granted').length, 1);
    assert.equal((await ledger.wallet(user)).held, 60);
  }
});

test('WA-07 two settlements of one call that both wait for its wallet charge it once', async () => {
  await ledger.open('twice', 100);
  const request = holdOf('twice', 60);
  await ledger.reserve([request]);
  const settle = (charge: number) => endHolds(ledger.database.owner, [endOf(request, charge)]);
  const lock = await lockWallet(ledger.database, 'twice');
  const both = [settle(25), settle(31)];
  await lock.waiting(2);
  await lock.release();
  const answers = (await Promise.all(both)).flat();
  const charged = answers.find((answer) => answer.is_settled)?.charged;
  assert.deepEqual(
    answers.map((answer) => answer.charged),
    [charged, charged],
  );
  assert.equal(answers.filter((answer) => answer.is_settled).length, 1);
  assert.equal((await ledger.wallet('twice')).balance, 100 - Number(charged));
});

test('CC-14 a call stays open if a retry joins it while its settlement waits for the wallet', async () => {
  await ledger.open('joined', 100);
  const request = holdOf('joined', 10);
  await ledger.reserve([request]);
  const settled = await overtaken('joined', {
    run: () => endHolds(ledger.database.owner, [{ ...endOf(request, 5), isUnkept: true }]),
    meanwhile: () => rawly('update ledger.holds set is_joined = true where call_id = $1', request.callId),
  });
  assert.deepEqual(settled, [{ call_id: request.callId, is_settled: false, charged: 0n, is_joined: true }]);
  assert.equal((await ledger.wallet('joined')).held, 10);
});

test('LI-02 a drain whose slot is taken while its settlement waits for the wallet frees no other stream’s slot', async () => {
  await ledger.open('slots', 100);
  const [drain, other] = [holdOf('slots', 10, { streamsMax: 2 }), holdOf('slots', 10, { streamsMax: 2 })];
  await ledger.reserve([drain, other]);
  const settled = await overtaken('slots', {
    run: () => endHolds(ledger.database.owner, [endOf(drain, 5)]),
    meanwhile: () =>
      rawly('update ledger.holds set is_stream = false, drained_since = now() where call_id = $1', drain.callId),
  });
  assert.equal(settled[0]?.charged, 5n);
  // The stream that took the slot counts for it: two are open, and the drain is not one of them.
  assert.equal((await ledger.wallet('slots')).openStreams, 2);
  await ledger.setWallet('slots', 'open_streams = 1');
});
