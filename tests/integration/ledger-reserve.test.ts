import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newCallId } from '../../packages/service/src/kernel/values/ids.ts';
import { reapHolds } from '../../packages/service/src/ledger/recovery/queries.ts';
import { createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { sql } from '../support/sql.ts';

let ledger: LedgerDatabase;

before(async () => {
  ledger = await createLedgerDatabase();
});

after(async () => {
  await ledger.close();
});

async function expectRight(): Promise<void> {
  assert.deepEqual(await ledger.differences(), []);
}

test('WA-07 a hold leaves the balance unchanged', async () => {
  await ledger.open('one', 100);
  assert.deepEqual(await ledger.reserve([holdOf('one', 60)]), [60]);
  const { balance, held, entries } = await ledger.wallet('one');
  assert.deepEqual({ balance, held, entries }, { balance: 100, held: 60, entries: 1 });
  await expectRight();
});

test('WA-07 a hold can take exactly the whole balance', async () => {
  await ledger.open('edge', 100);
  assert.deepEqual(await ledger.reserve([holdOf('edge', 101)]), ['payment_required']);
  assert.deepEqual(await ledger.reserve([holdOf('edge', 100)]), [100]);
  assert.deepEqual(await ledger.reserve([holdOf('edge', 1)]), ['balance_race_lost']);
});

test('WA-07 a hold gets what balance and cap afford', async () => {
  await ledger.open('between', 100);
  assert.deepEqual(await ledger.reserve([holdOf('between', { least: 10, most: 70 })]), [70]);
  assert.deepEqual(await ledger.reserve([holdOf('between', { least: 10, most: 70 })]), [23]); // Of 30.
  await ledger.open('between-cap', 1_000, 100);
  assert.deepEqual(await ledger.reserve([holdOf('between-cap', { least: 10, most: 70 })]), [70]);
  assert.deepEqual(await ledger.reserve([holdOf('between-cap', { least: 30, most: 70 })]), [30]);
  await expectRight();
});

test('WA-13 no call exceeds three quarters of the rest', async () => {
  await ledger.open('shared', 1_000);
  await ledger.open('shared-cap', 9_000, 1_000);
  for (const user of ['shared', 'shared-cap']) {
    const all = Array.from({ length: 5 }, () => holdOf(user, { least: 2, most: 5_000 }));
    assert.deepEqual(await ledger.reserve(all), [750, 188, 47, 12, 3]);
  }
  await ledger.open('least', 100);
  assert.deepEqual(await ledger.reserve([holdOf('least', { least: 90, most: 5_000 })]), [90]);
  await ledger.open('small', 3);
  assert.deepEqual(await ledger.reserve([holdOf('small', { least: 2, most: 3 })]), [3]); // A quarter is less than a micro.
  await expectRight();
});

test('WA-13 only calls blocked by holds are told so', async () => {
  await ledger.open('passing', 100);
  const running = holdOf('passing', 80);
  assert.deepEqual(await ledger.reserve([running, holdOf('passing', 21), holdOf('passing', 101)]), [
    80,
    'balance_race_lost',
    'payment_required',
  ]);
  await ledger.settle([endOf(running, 0)]);
  assert.deepEqual(await ledger.reserve([holdOf('passing', 100)]), [100]);
  await expectRight();
});

test('WA-07 a repeated reserve holds once, answering the same', async () => {
  await ledger.open('again', 100);
  const request = holdOf('again', { least: 50, most: 80 });
  assert.deepEqual(await ledger.reserve([request]), [75]);
  assert.deepEqual(await ledger.reserve([request]), [75]); // The remaining balance would no longer cover it.
  assert.deepEqual(await ledger.reserve([holdOf('again', 20), request]), [20, 75]);
  assert.equal((await ledger.wallet('again')).held, 95);
  await expectRight();
});

test('WA-07 two simultaneous reserves of one call hold once', async () => {
  await ledger.open('twice', 1_000);
  for (let round = 0; round < 20; round += 1) {
    const request = holdOf('twice', 50);
    assert.deepEqual(await Promise.all([ledger.reserve([request]), ledger.reserve([request])]), [[50], [50]]);
    assert.equal((await ledger.wallet('twice')).held, 50);
    await ledger.settle([endOf(request, 0)]);
  }
  await expectRight();
});

test('WA-07 a refused large call spares the small ones behind', async () => {
  await ledger.open('batch', 100);
  const batch = [30, 1_000, 40, 101, 30, 1].map((amount) => holdOf('batch', amount));
  const answers = [30, 'payment_required', 40, 'payment_required', 30, 'balance_race_lost'];
  assert.deepEqual(await ledger.reserve(batch), answers);
  assert.equal((await ledger.wallet('batch')).held, 100);
  await expectRight();
});

test('WA-07 a batch judges calls by their own wallets', async () => {
  await ledger.open('left', 50);
  await ledger.open('right', 70);
  const users = ['right', 'nobody', 'left', 'right', 'left', 'right'];
  const answers = await ledger.reserve(users.map((user) => holdOf(user, { least: 20, most: 30 })));
  assert.deepEqual(answers, [30, 'payment_required', 30, 30, 20, 'balance_race_lost']);
  assert.equal((await ledger.wallet('left')).held, 50);
  assert.equal((await ledger.wallet('right')).held, 60);
  await expectRight();
});

test('CC-10 a refusal gives the first documented reason', async () => {
  await ledger.open('reasons', 5, 5);
  const refusal = async (amount: number, streamsMax = 0): Promise<unknown> =>
    (await ledger.reserve([holdOf('reasons', amount, { streamsMax })]))[0];
  await ledger.setWallet('reasons', 'is_connected = false, is_suspended = true, open_streams = 1');
  assert.equal(await refusal(10, 1), 'payment_required'); // Not connected: running streams do not count.
  assert.equal(await refusal(10), 'payment_required');
  await ledger.setWallet('reasons', 'is_connected = true');
  assert.equal(await refusal(10, 1), 'stream_limit');
  assert.equal(await refusal(10), 'wallet_suspended');
  await ledger.setWallet('reasons', 'is_suspended = false, open_streams = 0');
  assert.equal(await refusal(10), 'cap_reached');
  await ledger.setWallet('reasons', 'cap_micros = null');
  assert.equal(await refusal(10), 'payment_required'); // The balance.
  assert.equal((await ledger.wallet('reasons')).held, 0);
  await expectRight();
});

test('WA-03 a cap used up by holds is a lost race', async () => {
  await ledger.open('cap', 1_000, 100);
  const first = holdOf('cap', 60);
  assert.deepEqual(await ledger.reserve([first]), [60]);
  assert.deepEqual(await ledger.reserve([holdOf('cap', 41)]), ['cap_race_lost']);
  assert.deepEqual(await ledger.reserve([holdOf('cap', 101)]), ['cap_reached']);
  await ledger.settle([endOf(first, 60)]);
  assert.deepEqual(await ledger.reserve([holdOf('cap', 41)]), ['cap_reached']);
  assert.deepEqual(await ledger.reserve([holdOf('cap', 40)]), [40]); // Up to the cap, inclusive.
  await expectRight();
});

test('WA-03 a cap of one micro or zero refuses every hold', async () => {
  for (const cap of [0, 1]) {
    await ledger.open(`cap-${cap}`, 1_000, cap);
    assert.deepEqual(await ledger.reserve([holdOf(`cap-${cap}`, 2)]), ['cap_reached']);
  }
});

test('LI-02 only running streams count against the stream limit', async () => {
  await ledger.open('streams', 1_000);
  const first = holdOf('streams', 1, { streamsMax: 2 });
  const batch = [
    first,
    holdOf('streams', 1),
    holdOf('streams', 1, { streamsMax: 2 }),
    holdOf('streams', 1, { streamsMax: 2 }),
    holdOf('streams', 1),
  ];
  assert.deepEqual(await ledger.reserve(batch), [1, 1, 1, 'stream_limit', 1]);
  assert.deepEqual(await ledger.reserve([holdOf('streams', 1, { streamsMax: 2 })]), ['stream_limit']);
  assert.equal((await ledger.wallet('streams')).openStreams, 2);
  await ledger.settle([endOf(first, 0)]);
  assert.deepEqual(await ledger.reserve([holdOf('streams', 1, { streamsMax: 2 })]), [1]);
  await expectRight();
});

const plain = () => holdOf('plain', 1, { callsMax: 2 });

test('CC-18 only running plain calls count against their limit', async () => {
  await ledger.open('plain', 1_000);
  const [first, stream] = [plain(), holdOf('plain', 1, { streamsMax: 3 })];
  assert.deepEqual(await ledger.reserve([first]), [1]); // Whole: by the statement for ordinary calls.
  assert.deepEqual(await ledger.reserve([plain(), stream, plain()]), [1, 1, 'call_limit']);
  assert.deepEqual(await ledger.reserve([plain()]), ['call_limit']);
  await ledger.settle([endOf(first, 1), endOf(stream, 1)]);
  assert.deepEqual(await ledger.reserve([plain(), plain()]), [1, 'call_limit']);
  await ledger.setWallet('plain', 'is_connected = false');
  assert.deepEqual(await ledger.reserve([plain()]), ['payment_required']); // Running calls tell nothing (WA-02).
  await ledger.setWallet('plain', 'is_connected = true');
  await expectRight();
});

test('WA-02 disconnected, empty and missing wallets are refused alike', async () => {
  await ledger.open('gone', 1_000);
  await ledger.setWallet('gone', 'is_connected = false');
  await ledger.open('empty', 0);
  const answers = await ledger.reserve(['gone', 'empty', 'never-seen'].map((user) => holdOf(user, 2)));
  assert.deepEqual(answers, ['payment_required', 'payment_required', 'payment_required']);
});

test('AU-04 user ids are case-sensitive', async () => {
  await ledger.open('Anna', 10);
  assert.deepEqual(await ledger.reserve([holdOf('anna', 5), holdOf('Anna', 5)]), ['payment_required', 5]);
});

test('AU-04 special characters in a user id are ordinary', async () => {
  const users = ['a"b', 'a\\b', '{a,b}', 'null', 'NULL', "a'b", 'a;b', '%', '\\"'];
  for (const user of users) await ledger.open(user, 10);
  assert.deepEqual(
    await ledger.reserve(users.map((user) => holdOf(user, 7))),
    users.map(() => 7),
  );
  for (const user of users) assert.equal((await ledger.wallet(user)).held, 7);
});

test('WA-01 the largest amount can be held and charged', async () => {
  await ledger.open('rich', Number.MAX_SAFE_INTEGER);
  const request = holdOf('rich', Number.MAX_SAFE_INTEGER);
  assert.deepEqual(await ledger.reserve([request]), [Number.MAX_SAFE_INTEGER]);
  const charged = Number.MAX_SAFE_INTEGER;
  assert.deepEqual(await ledger.settle([endOf(request, charged)]), [{ isSettled: true, charged }]);
  await expectRight();
});

test('WA-07 a reserve after its call ended holds nothing', async () => {
  await ledger.open('late', 100);
  const request = holdOf('late', 10, { callId: newCallId() });
  await ledger.reserve([request]);
  await ledger.settle([endOf(request, 4)]);
  assert.deepEqual(await ledger.reserve([request]), ['call_ended']); // The first try, which a slow lock has delayed.
  assert.equal((await ledger.wallet('late')).held, 0);
  assert.deepEqual(await ledger.settle([endOf(request, 4)]), [{ isSettled: false, charged: 4 }]);
  await expectRight();
});

test('WA-10 a repeated reserve takes the hold over', async () => {
  const [first, second] = [await ledger.addInstance(), await ledger.addInstance()];
  await ledger.open('moved', 100);
  const request = holdOf('moved', 10);
  await ledger.reserve([request], first);
  assert.deepEqual(await ledger.reserve([request], second), [10]);
  await sql(ledger)`update db.instances set state = 'dead' where instance_id = ${first}`;
  assert.equal(await reapHolds(ledger.live, 10), 0);
  assert.equal((await ledger.wallet('moved')).held, 10);
  await expectRight();
});
