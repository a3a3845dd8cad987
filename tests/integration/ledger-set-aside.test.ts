import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { createPool } from '../../packages/service/src/db/pool/pool.ts';
import type { EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { checkChanges } from '../../packages/service/src/ledger/check/check.ts';
import { createFunding } from '../../packages/service/src/ledger/funding/funding.ts';
import { APP, createLedgerDatabase, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { movementsOf } from '../support/receipts.ts';

let ledger: LedgerDatabase;

before(async () => {
  ledger = await createLedgerDatabase();
});

after(() => ledger.close());

afterEach(async () => {
  assert.deepEqual(await ledger.differences(), []);
  assert.equal((await checkChanges(ledger.live)).found, 0n);
});

function setAside(user: string, amount: number, key: string): Promise<string> {
  const named = { appId: APP, userId: user as EndUserId, amount: micros(BigInt(amount)), key };
  return createFunding(ledger.live).setAside(named);
}

function end(user: string, kind: 'refund_paid' | 'refund_released', key: string): Promise<string> {
  return createFunding(ledger.live).endSetAside({ appId: APP, userId: user as EndUserId, kind, key });
}

test('WA-05 refund money goes to a separate book', async () => {
  await ledger.open('anna', 1_000);
  assert.equal(await setAside('anna', 300, 'one'), 'booked');
  assert.equal(await setAside('anna', 300, 'one'), 'repeated');
  assert.equal(await setAside('anna', 301, 'one'), 'conflict');
  assert.equal(await setAside('anna', 200, 'two'), 'booked');
  assert.equal((await ledger.wallet('anna')).balance, 500);
  assert.equal(await end('anna', 'refund_paid', 'one'), 'booked');
  assert.equal(await end('anna', 'refund_paid', 'one'), 'repeated');
  assert.equal(await end('anna', 'refund_released', 'one'), 'conflict');
  assert.equal(await end('anna', 'refund_released', 'two'), 'booked');
  assert.equal(await end('anna', 'refund_released', 'two'), 'repeated');
  assert.equal(await end('anna', 'refund_paid', 'two'), 'conflict');
  assert.equal((await ledger.wallet('anna')).balance, 700);
  const books = (await movementsOf(ledger.database, 'anna')).map((movement) => movement.books);
  assert.deepEqual(books.slice(1), [
    'wallet to outgoing',
    'wallet to outgoing',
    'outgoing to processor',
    'outgoing to wallet',
  ]);
});

test('WA-05 only unheld money can be set aside', async () => {
  await ledger.open('bert', 1_000);
  await ledger.reserve([holdOf('bert', 400)]);
  assert.equal(await setAside('bert', 601, 'one'), 'too_little');
  assert.equal(await setAside('bert', 600, 'one'), 'booked');
  assert.equal(await setAside('bert', 1, 'two'), 'too_little');
  await ledger.open('carl', 1_000);
  await ledger.setWallet('carl', 'is_suspended = true');
  assert.equal(await setAside('carl', 1, 'one'), 'suspended');
  assert.equal(await setAside('nobody', 1, 'one'), 'no_wallet');
  assert.equal(await end('nobody', 'refund_paid', 'one'), 'no_wallet');
  assert.equal(await end('carl', 'refund_paid', 'one'), 'nothing');
});

test('WA-05 a released refund waits until the wallet has room', async () => {
  await ledger.open('dora', 1_000);
  await setAside('dora', 500, 'one');
  await ledger.credit('dora', Number.MAX_SAFE_INTEGER - 500, { kind: 'contract_credit' });
  assert.equal(await end('dora', 'refund_released', 'one'), 'too_much');
  await ledger.takeBack('dora', 500, { kind: 'refund' });
  assert.equal(await end('dora', 'refund_released', 'one'), 'booked');
});

test('WA-05 simultaneous refunds never set aside more than the balance', async () => {
  await ledger.open('emil', 1_000);
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => setAside('emil', 100, `key ${index}`)));
  assert.equal(answers.filter((answer) => answer === 'booked').length, 10);
  assert.equal(answers.filter((answer) => answer === 'too_little').length, 10);
  const key = `key ${answers.indexOf('booked')}`;
  const ends = await Promise.all(
    Array.from({ length: 12 }, (_, index) => end('emil', index % 2 === 0 ? 'refund_paid' : 'refund_released', key)),
  );
  assert.equal(ends.filter((answer) => answer === 'booked').length, 1);
});

test('SB-03 the sandbox role cannot set money aside', async () => {
  const sandbox = createPool({
    url: ledger.database.url,
    role: 'sandbox',
    connectionsMax: 1,
    log: createLog('silent'),
  });
  try {
    await assert.rejects(sandbox.query(`select ledger.set_aside('a', 'b', 1, 'c')`), /permission denied/);
    await assert.rejects(
      sandbox.query(`select ledger.end_set_aside('a', 'b', 'refund_paid', 'c')`),
      /permission denied/,
    );
    await assert.rejects(sandbox.query(`select * from payments.payments`), /permission denied/);
  } finally {
    await sandbox.end();
  }
  await assert.rejects(ledger.live.query(`select ledger.end_set_aside('a', 'b', 'top_up', 'c')`), /ends nothing/);
  await assert.rejects(ledger.live.query(`select ledger.set_aside('${APP}', 'anna', 0, 'c')`), /above zero/);
});
