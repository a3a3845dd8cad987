import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Pool } from '../../packages/service/src/db/pool/pool.ts';
import type { HoldRequest } from '../../packages/service/src/kernel/calls/hold.ts';
import type { EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { reserveHolds } from '../../packages/service/src/ledger/hold/queries.ts';
import { settleHolds } from '../../packages/service/src/ledger/settlement/queries.ts';
import { insertCredit } from '../../packages/service/src/ledger/funding/queries.ts';
import { APP, createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { lockWallet } from '../support/lock-wait.ts';
import { sql } from '../support/sql.ts';
import { endOrdinary, placeOrdinary } from '../support/turns.ts';

// Statements that contend for a wallet's lock. They run as the owner, who waits for locks without a limit.

const WALLETS = 12;

let ledger: LedgerDatabase;
let owner: Pool;

before(async () => {
  ledger = await createLedgerDatabase();
  owner = ledger.database.owner;
});

after(async () => {
  await ledger.close();
});

/** Runs both while the wallet is locked, then unlocks it. Returns the result of each: its value, or 'a fault'. */
async function meeting<Value>(user: string, run: () => Promise<Value>): Promise<readonly (Value | 'a fault')[]> {
  const lock = await lockWallet(ledger.database, user);
  const both = Promise.allSettled([run(), run()]);
  await lock.waiting(2);
  await lock.release();
  return (await both).map((result) => (result.status === 'fulfilled' ? result.value : 'a fault'));
}

async function placeOne(user: string): Promise<string> {
  const [row] = await reserveHolds(owner, ledger.instance, [holdOf(user, 60)]);
  return row?.outcome ?? '';
}

test('WA-07 waiting holds never overspend a wallet’s balance', async () => {
  await ledger.open('balance', 100);
  const answers = await meeting('balance', () => placeOne('balance'));
  assert.deepEqual(answers.toSorted(), ['balance_race_lost', 'granted']);
  assert.equal((await ledger.wallet('balance')).held, 60);
});

test('WA-03 waiting holds never overspend a wallet’s cap', async () => {
  await ledger.open('cap', 1_000, 100);
  const answers = await meeting('cap', () => placeOne('cap'));
  assert.deepEqual(answers.toSorted(), ['cap_race_lost', 'granted']);
  assert.equal((await ledger.wallet('cap')).held, 60);
});

test('WA-09 two waiting credits under one key count once', async () => {
  await ledger.open('credit', 0);
  const credit = { appId: APP, userId: 'credit' as EndUserId, kind: 'top_up', key: 'payment-1' } as const;
  const answers = await meeting('credit', () => insertCredit(owner, { ...credit, amount: micros(50n) }));
  assert.deepEqual(answers.toSorted(), ['booked', 'repeated']);
  assert.equal((await ledger.wallet('credit')).balance, 50);
});

/** Wallets in the order in which they were opened, which is also the order of their ids. */
async function openMany(name: string): Promise<readonly string[]> {
  const users = Array.from({ length: WALLETS }, (_, index) => `${name}-${index}`);
  for (const user of users) await ledger.open(user, 100);
  return users;
}

/** How many of these wallets are unlocked. */
async function countFree(users: readonly string[]): Promise<number> {
  const rows = await sql(owner)`select from ledger.wallets
    where user_id = any (${users}) for no key update skip locked`;
  return rows.length;
}

/** Runs a statement on all wallets while the first is locked. It must wait there before it locks another. */
async function expectInOrder(users: readonly string[], run: () => Promise<unknown>): Promise<void> {
  const [first = '', ...others] = users;
  const lock = await lockWallet(ledger.database, first);
  const running = run();
  await lock.waiting(1);
  const free = await countFree(others);
  await lock.release();
  await running;
  assert.equal(free, others.length);
}

function holdsOn(users: readonly string[]): readonly HoldRequest[] {
  return users.toReversed().map((user) => holdOf(user, 10));
}

test('WA-07 a waiting hold batch locks no other wallet', async () => {
  const users = await openMany('placed');
  await expectInOrder(users, () => reserveHolds(owner, ledger.instance, holdsOn(users)));
  await expectInOrder(users, () => placeOrdinary(owner, ledger.instance, holdsOn(users)));
});

test('WA-07 a waiting settlement batch locks no other wallet', async () => {
  const users = await openMany('settled');
  for (const settle of [settleHolds, endOrdinary]) {
    const requests = holdsOn(users);
    await ledger.reserve(requests);
    await expectInOrder(users, () =>
      settle(
        owner,
        requests.map((request) => endOf(request, 1)),
      ),
    );
    assert.equal((await ledger.wallet(users[0] ?? '')).held, 0);
  }
});
