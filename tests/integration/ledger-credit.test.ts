import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { insertWallet } from '../../packages/service/src/ledger/wallet/queries.ts';
import { APP, createLedgerDatabase, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { movementsOf } from '../support/receipts.ts';
import { sql, sqlValue } from '../support/sql.ts';

let ledger: LedgerDatabase;

before(async () => {
  ledger = await createLedgerDatabase();
});

after(async () => {
  await ledger.close();
});

/** Credits in SQL, so that the tests can send amounts that the service itself never would. */
async function credit(
  user: string,
  amount: bigint,
  key: string,
  kind = 'contract_credit',
): Promise<string | undefined> {
  return sqlValue<string>(ledger.live)`select ledger.credit(${APP}, ${user}, ${kind}, ${amount}, ${key}) as outcome`;
}

async function balanceOf(user: string): Promise<number> {
  assert.deepEqual(await ledger.differences(), []);
  return (await ledger.wallet(user)).balance;
}

test('WA-09 another amount under a credit’s key conflicts', async () => {
  await ledger.open('once', 0);
  assert.equal(await credit('once', 500n, 'invoice-1'), 'booked');
  assert.equal(await credit('once', 500n, 'invoice-1'), 'repeated');
  assert.equal(await credit('once', 501n, 'invoice-1'), 'conflict');
  assert.equal(await balanceOf('once'), 500);
  assert.equal(await credit('once', 500n, 'invoice-2'), 'booked');
  assert.equal(await balanceOf('once'), 1_000);
  const books = (await movementsOf(ledger.database, 'once')).map((movement) => movement.books);
  assert.deepEqual(books, ['contract to wallet', 'contract to wallet']);
});

test('WA-09 a credit sent many times counts once', async () => {
  await ledger.open('at-once', 0);
  const answers = await Promise.all(Array.from({ length: 16 }, () => credit('at-once', 500n, 'invoice-1')));
  assert.equal(answers.filter((answer) => answer === 'booked').length, 1);
  assert.equal(answers.filter((answer) => answer === 'repeated').length, 15);
  assert.equal(await balanceOf('at-once'), 500);
});

test('WA-09 a key on another wallet is another credit', async () => {
  await ledger.open('mine', 0);
  await ledger.open('yours', 0);
  assert.equal(await credit('mine', 5n, 'invoice-1'), 'booked');
  assert.equal(await credit('yours', 7n, 'invoice-1'), 'booked');
  assert.deepEqual([await balanceOf('mine'), await balanceOf('yours')], [5, 7]);
});

test('WA-09 keys with colons stay apart from other causes', async () => {
  await ledger.open('colons', 0);
  assert.equal(await credit('colons', 5n, '1:a'), 'booked');
  assert.equal(await credit('colons', 7n, 'a'), 'booked');
  assert.equal(await credit('colons', 9n, ''), 'booked');
  assert.equal(await balanceOf('colons'), 21);
});

test('WA-01 a credit beyond 2^53 - 1 micros books nothing', async () => {
  await ledger.open('full', 0);
  const most = BigInt(Number.MAX_SAFE_INTEGER);
  assert.equal(await credit('full', most, 'all'), 'booked');
  assert.equal(await credit('full', 1n, 'one-more'), 'too_much');
  assert.equal(await balanceOf('full'), Number(most));
});

for (const amount of [0n, -1n, -1_000_000n]) {
  test(`WA-01 a credit of ${amount} micros books nothing`, async () => {
    const user = `amount${amount}`;
    await ledger.open(user, 10);
    await assert.rejects(credit(user, amount, 'odd'), { code: '23514' });
    assert.equal(await balanceOf(user), 10);
  });
}

test('WA-01 opening a wallet again changes nothing', async () => {
  await ledger.open('opened', 100, 50);
  const again = { appId: APP, userId: 'opened' as EndUserId, currency: 'USD', cap: undefined };
  assert.equal(await insertWallet(ledger.live, again), false);
  const rows = await sql(ledger)`select currency, cap_micros::text as cap from ledger.wallets where user_id = 'opened'`;
  assert.deepEqual(rows, [{ currency: 'EUR', cap: '50' }]);
  assert.equal(await balanceOf('opened'), 100);
});

test('WA-02 a credit does not create a missing wallet', async () => {
  assert.equal(await credit('nobody', 5n, 'invoice-1'), 'no_wallet');
  assert.deepEqual(await ledger.reserve([holdOf('nobody', 1)]), ['payment_required']);
});
