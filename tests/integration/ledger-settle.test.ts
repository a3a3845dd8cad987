import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { HoldRequest } from '../../packages/service/src/kernel/calls/hold.ts';
import { newCallId } from '../../packages/service/src/kernel/values/ids.ts';
import { settleHolds } from '../../packages/service/src/ledger/settlement/queries.ts';
import { reapHolds } from '../../packages/service/src/ledger/recovery/queries.ts';
import { createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { lockWallet, untilWaiting } from '../support/lock-wait.ts';
import { movementsOf, receiptOf } from '../support/receipts.ts';
import { sql } from '../support/sql.ts';

let ledger: LedgerDatabase;

before(async () => {
  ledger = await createLedgerDatabase('judged', true);
});

after(async () => {
  await ledger.close();
});

/** A wallet with one hold on it. */
async function holding(user: string, { balance, amount }: { readonly balance: number; readonly amount: number }) {
  await ledger.open(user, balance);
  const request = holdOf(user, amount);
  assert.deepEqual(await ledger.reserve([request]), [amount]);
  return request;
}

async function expectWallet(user: string, expected: { readonly balance: number; readonly held: number }) {
  const { balance, held } = await ledger.wallet(user);
  assert.deepEqual({ balance, held }, expected);
  assert.deepEqual(await ledger.differences(), []);
}

test('WA-07 a settlement stores a receipt, releasing the rest', async () => {
  const request = await holding('plain', { balance: 100, amount: 60 });
  assert.deepEqual(await ledger.settle([endOf(request, 25)]), [{ isSettled: true, charged: 25 }]);
  await expectWallet('plain', { balance: 75, held: 0 });
  const receipt = { outcome: 'answered', charged: 25, held: 60, isEstimated: false, prompt: 10, completion: 5 };
  assert.deepEqual(await receiptOf(ledger.database, request.callId), receipt);
  assert.deepEqual(await movementsOf(ledger.database, 'plain'), [
    { seq: 1, kind: 'contract_credit', books: 'contract to wallet', amount: 100, after: 100 },
    { seq: 2, kind: 'charge', books: 'wallet to earned', amount: 25, after: 75 },
  ]);
});

test('CC-23 a receipt says if its usage was estimated', async () => {
  const request = await holding('estimated', { balance: 100, amount: 60 });
  await ledger.settle([{ ...endOf(request, 25), isEstimated: true }]);
  assert.equal((await receiptOf(ledger.database, request.callId))?.isEstimated, true);
});

test('WA-07 a charge is cut to its hold', async () => {
  const request = await holding('above', { balance: 100, amount: 60 });
  assert.deepEqual(await ledger.settle([endOf(request, 61)]), [{ isSettled: true, charged: 60 }]);
  await expectWallet('above', { balance: 40, held: 0 });
});

test('CC-08 a charge of zero releases the whole hold', async () => {
  const request = await holding('free', { balance: 100, amount: 60 });
  assert.deepEqual(await ledger.settle([endOf(request, 0)]), [{ isSettled: true, charged: 0 }]);
  await expectWallet('free', { balance: 100, held: 0 });
  assert.equal((await movementsOf(ledger.database, 'free')).length, 1);
  assert.equal((await receiptOf(ledger.database, request.callId))?.outcome, 'failed');
});

test('WA-07 settling again returns the earlier charge', async () => {
  const request = await holding('again', { balance: 100, amount: 60 });
  await ledger.settle([endOf(request, 25)]);
  for (const charge of [25, 0, 60]) {
    assert.deepEqual(await ledger.settle([endOf(request, charge)]), [{ isSettled: false, charged: 25 }]);
  }
  await expectWallet('again', { balance: 75, held: 0 });
});

test('WA-07 two waiting settlements of one call take effect once', async () => {
  for (let round = 0; round < 10; round += 1) {
    const user = `both-${round}`;
    const request = await holding(user, { balance: 100, amount: 60 });
    const lock = await lockWallet(ledger.database, user);
    const settling = [ledger.settle([endOf(request, 25)]), ledger.settle([endOf(request, 31)])];
    await lock.waiting(2);
    await lock.release();
    const answers = (await Promise.all(settling)).map(([answer]) => answer);
    assert.deepEqual(new Set(answers.map((answer) => answer?.isSettled)), new Set([true, false]));
    const charged = answers.find((answer) => answer?.isSettled)?.charged ?? 0;
    assert.deepEqual(new Set(answers.map((answer) => answer?.charged)), new Set([charged]));
    await expectWallet(user, { balance: 100 - charged, held: 0 });
  }
});

test('WA-07 simultaneous settlements of different calls all take effect', async () => {
  await ledger.open('crowd', 10_000);
  const requests = Array.from({ length: 64 }, () => holdOf('crowd', 100));
  await ledger.reserve(requests);
  const batches = Array.from({ length: 16 }, (_, index) => requests.slice(index * 4, index * 4 + 4));
  await Promise.all(batches.map((batch) => ledger.settle(batch.map((request) => endOf(request, 7)))));
  await expectWallet('crowd', { balance: 10_000 - 64 * 7, held: 0 });
});

test('WA-10 a settlement after the reaper charges nothing', async () => {
  const instance = await ledger.addInstance();
  await ledger.open('reaped', 100);
  const request = holdOf('reaped', 60);
  await ledger.reserve([request], instance);
  await sql(ledger)`update db.instances set state = 'dead' where instance_id = ${instance}`;
  assert.equal(await reapHolds(ledger.live, 10), 1);
  assert.deepEqual(await ledger.settle([endOf(request, 25)]), [{ isSettled: false, charged: 0 }]);
  await expectWallet('reaped', { balance: 100, held: 0 });
  assert.equal((await receiptOf(ledger.database, request.callId))?.outcome, 'expired');
});

/** A hold of a dead process, so that either a settlement or the reaper may end it. */
async function orphan(user: string): Promise<HoldRequest> {
  const instance = await ledger.addInstance();
  await ledger.open(user, 100);
  const request = holdOf(user, 60);
  await ledger.reserve([request], instance);
  await sql(ledger)`update db.instances set state = 'dead' where instance_id = ${instance}`;
  return request;
}

/** Settles as the owner, who waits for locks without a limit. Returns the charge, or 0 if the call had ended. */
async function settleAsOwner(request: HoldRequest): Promise<bigint | undefined> {
  const [row] = await settleHolds(ledger.database.owner, [endOf(request, 25)]);
  return row?.charged;
}

test('WA-10 the reaper is too late during a settlement', async () => {
  const request = await orphan('meeting');
  const lock = await lockWallet(ledger.database, 'meeting');
  const settling = settleAsOwner(request);
  await lock.waiting(1);
  const reaping = reapHolds(ledger.database.owner, 10);
  await lock.waiting(2);
  await lock.release();
  assert.deepEqual([await settling, await reaping], [25n, 0]);
  await expectWallet('meeting', { balance: 75, held: 0 });
});

test('WA-10 a settlement is too late during a release', async () => {
  const request = await orphan('met');
  const reaper = await ledger.database.owner.connect();
  await sql(reaper)`begin`;
  const released = await reapHolds(reaper, 10);
  const settling = settleAsOwner(request);
  await untilWaiting(ledger.database, 1);
  await sql(reaper)`commit`;
  reaper.release();
  assert.deepEqual([released, await settling], [1, 0n]);
  await expectWallet('met', { balance: 100, held: 0 });
});

test('WA-07 each call of a batch pays its cost', async () => {
  await ledger.open('batch', 1_000);
  const requests = [100, 200, 300, 50].map((amount) => holdOf('batch', amount));
  await ledger.reserve(requests);
  const answers = await ledger.settle(requests.map((request, index) => endOf(request, [10, 500, 0, 50][index] ?? 0)));
  assert.deepEqual(
    answers.map(({ charged }) => charged),
    [10, 200, 0, 50],
  );
  const movements = await movementsOf(ledger.database, 'batch');
  assert.deepEqual(
    movements.map(({ kind, books, amount, after }) => [kind, books, amount, after]),
    [
      ['contract_credit', 'contract to wallet', 1_000, 1_000],
      ['charge', 'wallet to earned', 10, 990],
      ['charge', 'wallet to earned', 200, 790],
      ['charge_overrun', 'loss to earned', 300, 790], // Above the hold, so the loss is ours.
      ['charge', 'wallet to earned', 50, 740],
    ],
  );
  await expectWallet('batch', { balance: 740, held: 0 });
});

test('WA-07 a batch over wallets charges each call correctly', async () => {
  const first = await holding('mixed-1', { balance: 100, amount: 60 });
  const second = await holding('mixed-2', { balance: 100, amount: 60 });
  await ledger.settle([endOf(second, 11)]);
  const answers = await ledger.settle([endOf({ callId: newCallId() }, 9), endOf(second, 60), endOf(first, 12)]);
  assert.deepEqual(answers, [
    { isSettled: false, charged: 0 },
    { isSettled: false, charged: 11 },
    { isSettled: true, charged: 12 },
  ]);
  await expectWallet('mixed-1', { balance: 88, held: 0 });
  await expectWallet('mixed-2', { balance: 89, held: 0 });
});

test('CC-09 a charged failed call cannot be written', async () => {
  const request = await holding('failed', { balance: 100, amount: 60 });
  await assert.rejects(ledger.settle([{ ...endOf(request, 5), outcome: 'failed' }]), { code: '23514' });
  await expectWallet('failed', { balance: 100, held: 60 });
});

for (const [what, assignment] of [
  ['disconnected', 'is_connected = false'],
  ['suspended', 'is_suspended = true'],
  ['put under a cap of nothing', 'cap_micros = 0'],
] as const) {
  test(`AU-10 a running call whose wallet is ${what} is still charged`, async () => {
    const user = `meanwhile ${what}`.replaceAll(' ', '-');
    const request = await holding(user, { balance: 100, amount: 60 });
    await ledger.setWallet(user, assignment);
    assert.deepEqual(await ledger.settle([endOf(request, 25)]), [{ isSettled: true, charged: 25 }]);
    assert.equal(typeof (await ledger.reserve([holdOf(user, 1)]))[0], 'string');
    await expectWallet(user, { balance: 75, held: 0 });
  });
}

/** Places and settles holds on all these wallets, in this order, over and over. */
async function cycle(users: readonly string[]): Promise<void> {
  for (let round = 0; round < 25; round += 1) {
    const requests = users.map((user) => holdOf(user, 5));
    await ledger.reserve(requests);
    await ledger.settle(requests.map((request) => endOf(request, 1)));
  }
}

test('WA-07 gateways using wallets in opposite order never deadlock', async () => {
  const users = Array.from({ length: 12 }, (_, index) => `order-${index}`);
  for (const user of users) await ledger.open(user, 1_000);
  await Promise.all([cycle(users), cycle(users.toReversed()), cycle(users), cycle(users.toReversed())]);
  for (const user of users) await expectWallet(user, { balance: 900, held: 0 });
});
