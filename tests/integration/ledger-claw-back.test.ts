import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { APP, createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { movementsOf, receiptOf } from '../support/receipts.ts';

let ledger: LedgerDatabase;

before(async () => {
  ledger = await createLedgerDatabase();
});

after(async () => {
  await ledger.close();
});

async function clawBack(user: string, amount: number): Promise<void> {
  assert.equal(await ledger.takeBack(user, amount), 'booked');
  assert.deepEqual(await ledger.differences(), []);
}

async function expectWallet(user: string, expected: Partial<Awaited<ReturnType<LedgerDatabase['wallet']>>>) {
  const state = await ledger.wallet(user);
  assert.deepEqual({ ...state, ...expected }, state);
  assert.deepEqual(await ledger.differences(), []);
}

/** Entries after the first two, which put money in and took it out again. */
async function lastMovements(user: string): Promise<readonly string[]> {
  const movements = (await movementsOf(ledger.database, user)).slice(2);
  return movements.map(({ kind, books, amount, after }) => `${kind}, ${books}: ${amount}, leaves ${after}`);
}

test('WA-12 a settlement beyond the balance suspends the wallet', async () => {
  await ledger.open('part', 100);
  const request = holdOf('part', 80);
  await ledger.reserve([request]);
  await clawBack('part', 90);
  assert.deepEqual(await ledger.settle([endOf(request, 50)]), [{ isSettled: true, charged: 50 }]);
  await expectWallet('part', { balance: 0, held: 0, shortfall: 40, isSuspended: true, isClawed: false, capSpent: 50 });
  assert.deepEqual(await lastMovements('part'), [
    'charge, wallet to earned: 10, leaves 0',
    'charge_receivable, receivable to earned: 40, leaves 0',
  ]);
  assert.equal((await receiptOf(ledger.database, request.callId))?.charged, 50);
  assert.deepEqual(await ledger.reserve([holdOf('part', 1)]), ['wallet_suspended']);
});

test('WA-12 a charge the balance covers causes no debt', async () => {
  await ledger.open('covered', 100);
  const request = holdOf('covered', 80);
  await ledger.reserve([request]);
  await clawBack('covered', 90);
  await ledger.settle([endOf(request, 10)]);
  await expectWallet('covered', { balance: 0, held: 0, shortfall: 0, isSuspended: false, isClawed: false });
  assert.deepEqual(await lastMovements('covered'), ['charge, wallet to earned: 10, leaves 0']);
});

test('WA-12 a free call after a claw-back books nothing', async () => {
  await ledger.open('free', 100);
  const request = holdOf('free', 80);
  await ledger.reserve([request]);
  await clawBack('free', 100);
  await ledger.settle([endOf(request, 0)]);
  await expectWallet('free', { balance: 0, held: 0, isSuspended: false, isClawed: false });
  assert.deepEqual(await lastMovements('free'), []);
});

test('WA-12 a batch takes the balance first, then owes', async () => {
  await ledger.open('batch', 300);
  const requests = [100, 100, 100].map((amount) => holdOf('batch', amount));
  await ledger.reserve(requests);
  await clawBack('batch', 250);
  const answers = await ledger.settle(requests.map((request, index) => endOf(request, [30, 40, 25][index] ?? 0)));
  assert.deepEqual(
    answers.map(({ charged }) => charged),
    [30, 40, 25],
  );
  await expectWallet('batch', { balance: 0, held: 0, shortfall: 45, isSuspended: true, isClawed: false, capSpent: 95 });
  assert.deepEqual(await lastMovements('batch'), [
    'charge, wallet to earned: 30, leaves 20',
    'charge, wallet to earned: 20, leaves 0',
    'charge_receivable, receivable to earned: 20, leaves 0',
    'charge_receivable, receivable to earned: 25, leaves 0',
  ]);
});

test('WA-06 a wallet stays clawed only while holds exceed its balance', async () => {
  await ledger.open('clears', 100);
  const [first, second] = [holdOf('clears', 50), holdOf('clears', 30)];
  await ledger.reserve([first, second]);
  await clawBack('clears', 75);
  await expectWallet('clears', { balance: 25, held: 80, isClawed: true });
  await ledger.settle([endOf(first, 0)]);
  await expectWallet('clears', { balance: 25, held: 30, isClawed: true });
  await ledger.settle([endOf(second, 20)]);
  await expectWallet('clears', { balance: 5, held: 0, isClawed: false });
});

test('WA-06 a credit covering holds ends the clawed state', async () => {
  await ledger.open('refilled', 100);
  const request = holdOf('refilled', 80);
  await ledger.reserve([request]);
  await clawBack('refilled', 90);
  assert.equal(await ledger.credit('refilled', 69), 'booked');
  await expectWallet('refilled', { balance: 79, held: 80, isClawed: true });
  assert.equal(await ledger.credit('refilled', 1), 'booked');
  await expectWallet('refilled', { balance: 80, held: 80, isClawed: false });
  await ledger.settle([endOf(request, 80)]);
  await expectWallet('refilled', { balance: 0, held: 0, isSuspended: false });
});

test('WA-12 the available amount is never below zero', async () => {
  await ledger.open('below', 100);
  await ledger.reserve([holdOf('below', 80)]);
  await clawBack('below', 90);
  const wallet = await ledger.wallets.find(APP, 'below' as EndUserId);
  assert.equal(wallet?.available, 0n);
  assert.deepEqual(await ledger.reserve([holdOf('below', 1)]), ['balance_race_lost']);
  await expectWallet('below', { balance: 10, held: 80, isClawed: true });
});

test('WA-04 funding does not lift a wallet’s suspension', async () => {
  await ledger.open('suspended', 100);
  await ledger.setWallet('suspended', 'is_suspended = true');
  assert.equal(await ledger.credit('suspended', 50), 'booked');
  await expectWallet('suspended', { balance: 150, isSuspended: true });
});
