import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { HoldRequest } from '../../packages/service/src/kernel/calls/hold.ts';
import type { KeyId } from '../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { checkChanges } from '../../packages/service/src/ledger/check/check.ts';
import { insertCredit } from '../../packages/service/src/ledger/funding/queries.ts';
import { reapHolds } from '../../packages/service/src/ledger/recovery/queries.ts';
import { settleHolds, settleLate } from '../../packages/service/src/ledger/settlement/queries.ts';
import type { Settlement } from '../../packages/service/src/ledger/settlement/settlement.ts';
import { rollUpAll } from '../../packages/service/src/calls/roll-up/roll-up.ts';
import { APP, createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { lockWallet, untilWaiting } from '../support/lock-wait.ts';
import { sumDifferences } from '../support/many-receipts.ts';
import { movementsOf, receiptOf } from '../support/receipts.ts';
import { rewrite } from '../support/rewrite.ts';
import { sql } from '../support/sql.ts';

/** Charges that were told to callers and come after their holds were released (WA-10). */

let ledger: LedgerDatabase;

before(async () => {
  ledger = await createLedgerDatabase();
});

after(async () => {
  await ledger.close();
});

/** Holds of a process that was then fenced, and whose holds were released. */
async function release(requests: readonly HoldRequest[]): Promise<void> {
  const instance = await ledger.addInstance();
  const granted = await ledger.reserve(requests, instance);
  assert.deepEqual(
    granted,
    requests.map(({ most }) => Number(most)),
  );
  await sql(ledger)`update db.instances set state = 'dead' where instance_id = ${instance}`;
  assert.equal(await reapHolds(ledger.live, 100), requests.length);
}

/** A wallet whose only hold was released. */
async function released(user: string, { balance, amount, cap }: { balance: number; amount: number; cap?: number }) {
  await ledger.open(user, balance, cap);
  const request = holdOf(user, amount);
  await release([request]);
  return request;
}

/** What each call was charged and what we lost, in the order of the settlements. Undefined: it is not charged late. */
async function late(...settlements: readonly Settlement[]) {
  const rows = await settleLate(ledger.live, settlements);
  return settlements.map(({ callId }) => {
    const row = rows.find(({ call_id: id }) => id === callId);
    return row && [Number(row.charged), Number(row.lost)];
  });
}

async function expectBooks(user: string, balance: number, held = 0): Promise<void> {
  const wallet = await ledger.wallet(user);
  assert.deepEqual({ balance: wallet.balance, held: wallet.held }, { balance, held });
  assert.deepEqual(await ledger.differences(), []);
  assert.deepEqual((await checkChanges(ledger.live)).differences, []);
}

test('WA-10 a told charge is booked once after its hold’s release', async () => {
  const request = await released('told', { balance: 100, amount: 60 });
  assert.deepEqual(await late(endOf(request, 25)), [[25, 0]]);
  assert.deepEqual(await late(endOf(request, 25)), [[25, 0]]);
  assert.deepEqual(await late(endOf(request, 25), endOf(request, 25)), [
    [25, 0],
    [25, 0],
  ]);
  const rows = await settleLate(ledger.live, [endOf(request, 25)]);
  assert.deepEqual(
    rows.map(({ is_new: isNew }) => isNew),
    [false],
  );
  assert.equal((await receiptOf(ledger.database, request.callId))?.outcome, 'expired', 'its first receipt stays');
  const receipts = await sql<{ id: string }>(ledger)`select receipt_id as id from usage.late_receipts
    where call_id = ${request.callId}`;
  assert.match(receipts[0]?.id ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.ok((receipts[0]?.id ?? '') > request.callId, 'its id is of the time at which it was booked');
  const receipt = { outcome: 'answered', charged: 25, held: 60, isEstimated: false, prompt: 10, completion: 5 };
  assert.deepEqual(await receiptOf(ledger.database, receipts[0]?.id ?? ''), receipt);
  assert.deepEqual(await movementsOf(ledger.database, 'told'), [
    { seq: 1, kind: 'contract_credit', books: 'contract to wallet', amount: 100, after: 100 },
    { seq: 2, kind: 'charge', books: 'wallet to earned', amount: 25, after: 75 },
  ]);
  assert.equal((await ledger.wallet('told')).capSpent, 25);
  await expectBooks('told', 75);
});

test('WA-10 a late charge never exceeds the old hold', async () => {
  const request = await released('above', { balance: 100, amount: 60 });
  assert.deepEqual(await late(endOf(request, 61)), [[60, 0]]);
  const movements = await movementsOf(ledger.database, 'above');
  assert.deepEqual(
    movements.slice(1).map(({ kind, amount }) => [kind, amount]),
    [
      ['charge', 60],
      ['charge_overrun', 1],
    ],
  );
  await expectBooks('above', 40);
});

test('WA-10 a late charge takes no other call’s money', async () => {
  const request = await released('shared', { balance: 100, amount: 60 });
  const other = holdOf('shared', 70);
  assert.deepEqual(await ledger.reserve([other]), [70]);
  assert.deepEqual(await late(endOf(request, 50)), [[30, 20]]);
  assert.deepEqual(await late(endOf(request, 50)), [[30, 20]], 'a loss is booked once');
  await expectBooks('shared', 70, 70);
  assert.deepEqual(await ledger.settle([endOf(other, 70)]), [{ isSettled: true, charged: 70 }]);
  assert.deepEqual(await movementsOf(ledger.database, 'shared'), [
    { seq: 1, kind: 'contract_credit', books: 'contract to wallet', amount: 100, after: 100 },
    { seq: 2, kind: 'charge', books: 'wallet to earned', amount: 30, after: 70 },
    { seq: 3, kind: 'charge_lost', books: 'loss to earned', amount: 20, after: 70 },
    { seq: 4, kind: 'charge', books: 'wallet to earned', amount: 70, after: 0 },
  ]);
  await expectBooks('shared', 0);
});

test('WA-10 empty and clawed wallets pay nothing late', async () => {
  const request = await released('empty', { balance: 60, amount: 60 });
  const other = holdOf('empty', 60);
  await ledger.reserve([other]);
  await ledger.takeBack('empty', 10);
  assert.deepEqual(await late(endOf(request, 40)), [[0, 40]]);
  await expectBooks('empty', 50, 60);
  const { shortfall } = await ledger.wallet('empty');
  assert.equal(shortfall, 0, 'nobody owes what we lost');
});

test('WA-10 a suspended or disconnected wallet still pays late', async () => {
  const request = await released('gone', { balance: 100, amount: 60 });
  await ledger.setWallet('gone', 'is_connected = false, is_suspended = true');
  assert.deepEqual(await late(endOf(request, 25)), [[25, 0]]);
  await expectBooks('gone', 75);
});

test('WA-03 a late charge never exceeds the cap’s rest', async () => {
  const request = await released('capped', { balance: 1_000, amount: 60, cap: 100 });
  const [ended, running] = [holdOf('capped', 50), holdOf('capped', 40)];
  await ledger.reserve([ended, running]);
  await ledger.settle([endOf(ended, 50)]);
  assert.deepEqual(await late(endOf(request, 60)), [[10, 50]]);
  assert.equal((await ledger.wallet('capped')).capSpent, 60);
  await expectBooks('capped', 940, 40);
});

test('WA-08 a late charge counts for its hold’s month', async () => {
  const monthBefore = `(date_trunc('month', clock_timestamp(), 'UTC') at time zone 'UTC' - interval '1 month')::date`;
  await ledger.open('ended', 1_000, 100);
  const [paid, request, second] = [holdOf('ended', 70), holdOf('ended', 30), holdOf('ended', 30)];
  await ledger.reserve([paid]);
  await ledger.settle([endOf(paid, 70)]);
  await release([request]);
  await release([second]);
  await rewrite(
    ledger.database,
    `update usage.calls set month = ${monthBefore} where wallet_id = (select wallet_id from ledger.wallets where user_id = 'ended')`,
  );
  await ledger.setWallet('ended', 'cap_spent_micros = 0');
  // What it spent in another cell, before it came back, counts too.
  await ledger.database.owner.query(
    `insert into ledger.spent_elsewhere select wallet_id, 1, ${monthBefore}, 2 from ledger.wallets where user_id = 'ended'`,
  );
  assert.deepEqual(await late(endOf(request, 25), endOf(second, 25)), [
    [25, 0],
    [3, 22],
  ]);
  assert.equal((await ledger.wallet('ended')).capSpent, 0, 'the month that has begun pays nothing of it');
  await expectBooks('ended', 902);
});

test('WA-10 a charge months late is booked in the last month', async () => {
  const request = await released('months', { balance: 100, amount: 60 });
  await rewrite(ledger.database, `update usage.calls set month = '2020-01-01' where call_id = $1`, [request.callId]);
  assert.deepEqual(await late(endOf(request, 25)), [[25, 0]]);
  const rows = await sql<{ ago: string }>(ledger)`select extract(month
    from age(db.current_month(), c.month))::text as ago
    from usage.late_receipts l join usage.calls c on c.call_id = l.receipt_id where l.call_id = ${request.callId}`;
  assert.deepEqual(rows, [{ ago: '1' }]);
  await expectBooks('months', 75);
});

test('CP-08 a late charge never exceeds the key’s budget', async () => {
  const budget = { key: 'key_late' as KeyId, micros: micros(100n) };
  await ledger.open('budgeted', 1_000);
  const [request, unlimited] = [holdOf('budgeted', 60, { budget }), holdOf('budgeted', 30, { budget })];
  await release([request, unlimited]);
  const [ended, running] = [holdOf('budgeted', 50, { budget }), holdOf('budgeted', 40, { budget })];
  await ledger.reserve([ended, running]);
  await ledger.settle([endOf(ended, 50)]);
  assert.deepEqual(await late(endOf(request, 60)), [[10, 50]]);
  assert.deepEqual((await ledger.budgets([budget.key])).get(budget.key), { spent: 60, held: 40 });
  await expectBooks('budgeted', 940, 40);
  // A row that an older build wrote has no limit.
  await sql(ledger)`update ledger.key_budgets set limit_micros = null`;
  assert.deepEqual(await late(endOf(unlimited, 30)), [[30, 0]]);
  await expectBooks('budgeted', 910, 40);
});

test('WA-10 only a told answer is charged late', async () => {
  const abandoned = await released('untold', { balance: 100, amount: 10 });
  const [free, failed, running] = [holdOf('untold', 10), holdOf('untold', 10), holdOf('untold', 10)];
  await release([free]);
  await ledger.reserve([failed, running]);
  await ledger.settle([endOf(failed, 0)]);
  const unknown = holdOf('untold', 10);
  const settlements = [
    { ...endOf(abandoned, 5), outcome: 'abandoned' as const },
    endOf(free, 0),
    endOf(failed, 5),
    endOf(running, 5),
    endOf(unknown, 5),
  ];
  assert.deepEqual(
    await late(...settlements),
    settlements.map(() => undefined),
  );
  await expectBooks('untold', 100, 10);
});

test('WA-10 two processes book the same late charge once', async () => {
  const request = await released('twice', { balance: 100, amount: 60 });
  const lock = await lockWallet(ledger.database, 'twice');
  const both = [0, 1].map(() => settleLate(ledger.database.owner, [endOf(request, 25)]));
  await lock.waiting(2);
  await lock.release();
  const booked = (await Promise.all(both)).flat().map(({ charged, is_new: isNew }) => [charged, isNew]);
  assert.deepEqual(new Set(booked.map(String)), new Set(['25,true', '25,false']));
  await expectBooks('twice', 75);
});

test('WA-10 a waiting late charge takes what is left', async () => {
  const request = await released('waiting', { balance: 100, amount: 60 });
  await ledger.reserve([holdOf('waiting', 90)]);
  const client = await ledger.database.owner.connect();
  await client.query('begin');
  await insertCredit(client, {
    appId: APP,
    userId: request.userId,
    kind: 'top_up',
    amount: micros(50n),
    key: 'waiting',
  });
  const settling = settleLate(ledger.database.owner, [endOf(request, 25)]);
  await untilWaiting(ledger.database, 1);
  await client.query('commit');
  client.release();
  const booked = (await settling).map(({ charged, lost }) => [charged, lost]);
  assert.deepEqual(booked, [[25n, 0n]]);
  await expectBooks('waiting', 125, 90);
});

test('WA-10 settlements of several wallets are charged late together', async () => {
  for (const user of ['one', 'two']) await ledger.open(user, 100);
  const requests = [holdOf('two', 20), holdOf('one', 20), holdOf('two', 20)];
  await release(requests);
  assert.deepEqual(
    await late(...requests.map((request) => endOf(request, 7))),
    requests.map(() => [7, 0]),
  );
  const again = await settleHolds(
    ledger.live,
    requests.map((request) => endOf(request, 7)),
  );
  assert.deepEqual(
    again.map(({ charged, is_settled: isSettled }) => [charged, isSettled]),
    requests.map(() => [0n, false]),
  );
  await expectBooks('one', 93);
  await expectBooks('two', 86);
});

test('WA-09 the full check covers late charges', async () => {
  await rollUpAll(ledger.live, 100);
  assert.deepEqual(await sumDifferences(ledger.database.owner), []);
  const request = await released('checked', { balance: 50, amount: 50 });
  await ledger.reserve([holdOf('checked', 40)]);
  assert.deepEqual(await late(endOf(request, 30)), [[10, 20]]);
  assert.deepEqual(await ledger.differences(), []);
  const rules = async () => (await ledger.differences()).map(({ rule }) => rule);
  const ofCall = `call_id = '${request.callId}'`;
  await rewrite(ledger.database, `update usage.calls set held_micros = 29 where ${ofCall}`);
  assert.deepEqual(await rules(), ['a late charge and its loss are at most the hold']);
  await rewrite(ledger.database, `update usage.calls set held_micros = 50, outcome = 'failed' where ${ofCall}`);
  assert.deepEqual(await rules(), ['a late charge is of a released hold of its wallet']);
  await rewrite(ledger.database, `update usage.calls set outcome = 'expired' where ${ofCall}`);
  await ledger.database.owner.query(`delete from usage.late_receipts where ${ofCall}`);
  assert.deepEqual(await rules(), ['a loss is of a call that was charged late']);
});
