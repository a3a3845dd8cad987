import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { createPool, inTransaction, type Pool } from '../../packages/service/src/db/pool/pool.ts';
import { startInstance } from '../../packages/service/src/db/processes/instance.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { systemClock } from '../../packages/service/src/kernel/time/clock.ts';
import { type CaseId, type EndUserId, type KeyId, newCallId } from '../../packages/service/src/kernel/values/ids.ts';
import { micros, ZERO_MICROS } from '../../packages/service/src/kernel/values/micros.ts';
import { endRecall, lendBudget } from '../../packages/service/src/ledger/budgets/queries.ts';
import { closeMonth } from '../../packages/service/src/ledger/closing/close.ts';
import { createFunding } from '../../packages/service/src/ledger/funding/funding.ts';
import { createHolds } from '../../packages/service/src/ledger/holds.ts';
import { reapHolds } from '../../packages/service/src/ledger/recovery/queries.ts';
import { BACKLOG_LIMITS } from '../../packages/service/src/ledger/settlement/settling.ts';
import { createSpool } from '../../packages/service/src/ledger/settlement/spool.ts';
import { takeTurn } from '../../packages/service/src/ledger/turn/queries.ts';
import { createWallets } from '../../packages/service/src/ledger/wallet/wallet.ts';
import { reconcile } from '../../packages/service/src/payments/booking/reconcile.ts';
import { solveCase } from '../../packages/service/src/payments/solve-case.ts';
import { createSandboxHolds } from '../../packages/service/src/sandbox/holds/sandbox-holds.ts';
import { createSandboxWallets } from '../../packages/service/src/sandbox/wallets/sandbox-wallets.ts';
import { answering } from '../support/broken-statements.ts';
import { APP, createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { beginMonths } from '../support/past-months.ts';
import { openPaymentsGround } from '../support/payments.ts';
import { createFakeProcessor } from '../support/processor.ts';
import { filesOf, openTestSpool } from '../support/spool.ts';
import { sql, sqlValue } from '../support/sql.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Values that cannot be true stop where they would be booked or told. */

const log = createLog('silent');
const KEY = 'key_1' as KeyId;
const ANNA = 'anna' as EndUserId;

let ledger: LedgerDatabase;

before(async () => {
  ledger = await createLedgerDatabase();
  await beginMonths(ledger, '2026-01');
  await ledger.open('anna', 1_000);
});

after(async () => {
  assert.deepEqual(await ledger.differences(), []);
  await ledger.close();
});

async function holdsOn(t: TestContext, pools: { readonly turns?: Pool; readonly upkeep?: Pool }) {
  const instance = await startInstance(ledger.live, log);
  t.after(instance.leave);
  const spool = openTestSpool(t);
  const { turns = ledger.live, upkeep = ledger.live } = pools;
  const holds = createHolds({ pools: { turns, upkeep }, instance, spool, backlog: BACKLOG_LIMITS, log });
  return { holds, directory: spool.directory };
}

async function expectBalance(user: string, balance: number): Promise<void> {
  const wallet = await ledger.wallet(user);
  assert.deepEqual([wallet.balance, wallet.held], [balance, 0]);
}

test('WA-07 a settlement that cannot be true ends the call without a charge', async (t) => {
  const { holds, directory } = await holdsOn(t, {});
  await ledger.open('failed', 1_000);
  const request = holdOf('failed', 60);
  await holds.place(request);
  await assert.rejects(holds.settle({ ...endOf(request, 50), outcome: 'failed' }, micros(60n)), /failed is free/);
  await expectBalance('failed', 1_000);
  assert.deepEqual(filesOf(directory), []);
  assert.deepEqual(await holds.settle(endOf(request, 50), micros(60n)), { charged: ZERO_MICROS });
});

test('WA-07 a hold without a range is refused, and nothing is held', async (t) => {
  const { holds } = await holdsOn(t, {});
  for (const range of [
    { least: 0, most: 5 },
    { least: 6, most: 5 },
  ])
    await assert.rejects(holds.place(holdOf('anna', range)), /a positive range/);
  await expectBalance('anna', 1_000);
});

test('WA-07 a charge above the hold is not told', async (t) => {
  const { holds } = await holdsOn(t, {});
  await ledger.open('dear', 1_000);
  const request = holdOf('dear', 60);
  await holds.place(request);
  await assert.rejects(holds.settle(endOf(request, 10), micros(5n)), /at most its hold/);
  await expectBalance('dear', 990);
});

test('WA-07 a turn that did something for other calls is not believed', async () => {
  const db = answering(ledger.live, 'lane_turn', () => ({ done: [newCallId()] }));
  const requests = [holdOf('anna', 1), holdOf('anna', 1)];
  await assert.rejects(takeTurn(db, ledger.instance, { settlements: [], requests }), /not in it/);
  await ledger.settle(requests.map((request) => endOf(request, 0)));
});

test('WA-10 a late charge above what was told sets its file aside', async (t) => {
  const upkeep = answering(ledger.live, 'settle_late', (row) => ({ ...row, lost: 999n }));
  const { holds, directory } = await holdsOn(t, { upkeep });
  await ledger.open('late', 1_000);
  const request = holdOf('late', 60);
  const dead = await ledger.addInstance();
  await ledger.reserve([request], dead);
  await sql(ledger)`update db.instances set state = 'dead' where instance_id = ${dead}`;
  await reapHolds(ledger.live, 100);
  const left = createSpool({ directory, clock: systemClock, log });
  await left.keep(endOf(request, 20));
  await left.close();
  await holds.replay();
  assert.match(filesOf(directory)[0]?.name ?? '', /unreadable$/);
  await expectBalance('late', 980);
});

test('WA-05 money that moves is more than none', async () => {
  const funding = createFunding(ledger.live);
  const none = { appId: APP, userId: ANNA, amount: ZERO_MICROS, key: 'none' };
  for (const move of [
    async () => funding.credit({ ...none, kind: 'top_up' }),
    async () => funding.takeBack({ ...none, kind: 'refund' }),
    async () => funding.setAside(none),
    async () => funding.giveUp(none),
  ])
    await assert.rejects(move, /more than none/);
});

test('WA-06 a wallet that owes and is not suspended is not believed', async () => {
  const db = answering(ledger.live, 'ledger.wallets', (row) => ({ ...row, shortfall_micros: 5n }));
  await assert.rejects(createWallets(db).find(APP, ANNA), /owes is suspended/);
});

test('CP-08 a cell is lent at most what it wants, and keeps what it spent', async () => {
  const budget = { key: KEY, month: '2026-11-01', budget: 100n, least: 1n, wanted: 10n };
  const asked = { ...budget, used: 0n, spent: 0n, allowance: 0n, number: 0n };
  const db = answering(ledger.live, 'lend_budget', (row) => ({ ...row, granted: 11n }));
  await assert.rejects(lendBudget(db, 'c2', asked), /lent at most/);
  const answer = { cell: 'c2', month: budget.month, number: 9n, is_given_back: true, used: 4n, spent: 5n };
  await assert.rejects(endRecall(ledger.live, budget, [answer]), /what it has spent/);
});

test('WA-16 a closed month has what was read of it', async () => {
  const { owner } = ledger.database;
  const closed = (change: object) =>
    answering(owner, 'from ledger.months order by month', (row) =>
      row['closed_at'] === null ? row : { ...row, ...change },
    );
  await assert.rejects(closeMonth(closed({ receipts: 7n }), '2026-01'), /as many receipts/);
  await assert.rejects(closeMonth(closed({ rows_hash: Buffer.alloc(32) }), '2026-02'), /the hash/);
});

test('WA-04 a payment of nothing is not booked', async () => {
  const processor = createFakeProcessor();
  const ground = openPaymentsGround(ledger, processor);
  const checkoutId = await ground.begin('anna', 5_000_000);
  const received = { amount: ZERO_MICROS, currency: 'EUR' };
  const report = { checkoutId, processorPayment: 'none', received, refunds: [], disputeMovements: [] };
  await assert.rejects(
    inTransaction(ledger.live, (tx) => reconcile(tx, processor.name, report)),
    /more than none/,
  );
  assert.equal(await ground.rows('payments'), 0);
});

test('CP-18 ON-02 an act that books other than its preview shows is undone', async () => {
  const { processor, begin, tell } = openPaymentsGround(ledger, createFakeProcessor());
  await ledger.open('bert', 1_000);
  const checkout = await begin('bert', 5_000_000);
  for (let paid = 0; paid < 2; paid += 1) await tell(processor.pay(checkout)); // The second is in no wallet.
  const caseId = await sqlValue<CaseId>(ledger)`select case_id from payments.cases where user_id = 'bert'`;
  assert.ok(caseId);
  let reads = 0n;
  const solving = inTransaction(ledger.live, (tx) => {
    const db = answering(tx, 'from ledger.wallets where app_id', (row) => {
      return { ...row, balance_micros: BigInt(String(row['balance_micros'])) + reads++ };
    });
    return solveCase(db, { processor, tellOfPayment: undefined }, { caseId, act: 'credit' });
  });
  await assert.rejects(solving, /what its preview shows/);
  assert.equal((await ledger.wallet('bert')).balance, 5_001_000);
  assert.deepEqual(
    await sql(ledger)`select from payments.cases where case_id = ${caseId} and closed_at is not null`,
    [],
  );
});

test('SB-02 play money obeys the same', async (t) => {
  const pool = createPool({ url: ledger.database.url, role: 'sandbox', connectionsMax: 2, log });
  t.after(() => pool.end());
  const instance = await startInstance(ledger.live, log);
  t.after(instance.leave);
  const settle = answering(pool, 'sandbox.settle', (row) => ({ ...row, charged: 51n }));
  const grant = micros(1_000n);
  const holds = createSandboxHolds({ reserve: pool, settle }, instance, grant);
  await assert.rejects(holds.place(holdOf('tester', { least: 0, most: 5 })), /a positive range/);
  const large = answering(pool, 'sandbox.place', (row) => ({ ...row, granted: 61n }));
  const request = holdOf('tester', 60);
  await assert.rejects(createSandboxHolds({ reserve: large, settle }, instance, grant).place(request), /within what/);
  const settlement = { callId: request.callId, charge: micros(50n), tokens: 15 };
  await assert.rejects(holds.settle(settlement, micros(60n)), /what its settlement says/);
  const wallets = (db: Pool) => createSandboxWallets({ pool: db, trail: ledger.live, grant });
  const tester = 'tester' as EndUserId;
  assert.deepEqual((await wallets(pool).find(APP, tester))?.balance, 950n);
  const held = answering(pool, 'sandbox.find', (row) => ({ ...row, held_micros: 951n }));
  await assert.rejects(wallets(held).find(APP, tester), /at most the balance/);
  await waitUntil('it holds nothing', async () => (await wallets(pool).find(APP, tester))?.held === 0n);
});
