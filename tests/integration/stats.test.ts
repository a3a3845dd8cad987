import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createPool, type Pool } from '../../packages/service/src/db/pool.ts';
import type { AppId } from '../../packages/service/src/kernel/ids.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { rollUp } from '../../packages/service/src/stats/queries.ts';
import { PAGE, rollUpAll, startRollUp } from '../../packages/service/src/stats/roll-up.ts';
import { createStats } from '../../packages/service/src/stats/stats.ts';
import { createTestDatabase } from '../support/database.ts';
import { APP, createLedgerDatabase, endOf, holdOf } from '../support/ledger-database.ts';
import { fillReceipts, sumDifferences } from '../support/many-receipts.ts';
import { waitUntil } from '../support/wait-until.ts';

/** The sums of live charges equal the receipts: after late commits, crashes, and with several processes. */

const log = createLog('silent');
const CALLS = 5_000;
const WALLETS = 60;

const many = await createTestDatabase();
const live = createPool({ url: many.url, role: 'live', connectionsMax: 3, log });
/** One connection, so that its read counts can be flushed. */
const reader = createPool({ url: many.url, role: 'live', connectionsMax: 1, log });
after(async () => {
  await Promise.all([live.end(), reader.end()]);
  await many.close();
});
await fillReceipts(many.owner, { calls: CALLS, wallets: WALLETS, apps: 4, days: 3 });

function sumOf(parts: readonly { readonly charged: bigint }[]): bigint {
  return parts.reduce((sum, { charged }) => sum + charged, 0n);
}

/** How often a statement of the reader has read rows of receipts or traces so far. */
async function readsOfCalls(): Promise<number> {
  await reader.query('select pg_stat_force_next_flush()');
  const { rows } = await many.owner.query<{ reads: number }>(
    `select sum(seq_scan + coalesce(idx_scan, 0))::float8 as reads from pg_stat_user_tables where relname = 'calls'`,
  );
  return rows[0]?.reads ?? Number.NaN;
}

/** Adds all that is new in pages of so many entries. Returns the number of calls. */
async function rollUpInPages(pool: Pool, entriesMax: number): Promise<number> {
  let calls = 0;
  for (let next: bigint | null = 0n; next !== null; ) {
    const page: Awaited<ReturnType<typeof rollUp>> = await rollUp(pool, next, { walletsMax: 7, entriesMax });
    assert.ok(page !== undefined);
    calls += Number(page.calls);
    next = page.last_wallet;
  }
  return calls;
}

test('WA-09 sums of a history equal its receipts to the micro, in pages that end within wallets', async () => {
  const charged = await many.owner.query<{ count: bigint }>(
    'select count(*) from usage.calls where charged_micros > 0',
  );
  const page = await rollUp(live, 0n, { walletsMax: 7, entriesMax: 13 });
  assert.ok(page !== undefined && page.calls <= 13n && page.calls > 0n);
  assert.equal(BigInt(await rollUpInPages(live, 13)) + page.calls, charged.rows[0]?.count);
  assert.deepEqual(await sumDifferences(many.owner), []);
  assert.equal(await rollUpAll(live, 1_000), 0, 'nothing is added twice');
  assert.deepEqual(await sumDifferences(many.owner), []);
});

test('series, totals and groups of one app, of several and of all apps agree, and are read from no call', async () => {
  const stats = createStats(reader);
  const toMs = Date.now() + 1;
  const time = { mode: 'live', fromMs: toMs - 5 * 86_400_000, toMs } as const;
  const apps = ['app_0', 'app_1', 'app_2', 'app_3'] as AppId[];
  const { rows } = await many.owner.query<{ charged: bigint; calls: bigint }>(
    'select sum(charged_micros)::bigint as charged, count(*) as calls from usage.calls where charged_micros > 0',
  );
  await many.owner.query('select pg_stat_force_next_flush()');
  const before = await readsOfCalls();
  const all = await stats.totals({ of: 'every app', ...time });
  assert.deepEqual([all.charged, BigInt(all.chargedCalls)], [rows[0]?.charged, rows[0]?.calls]);
  assert.deepEqual(await stats.totals({ appIds: apps, ...time }), all);
  for (const step of ['hour', 'day'] as const) {
    const points = await stats.series({ of: 'every app', ...time, step });
    assert.ok(points.length >= (step === 'hour' ? 120 : 6) && points.length <= (step === 'hour' ? 121 : 7));
    assert.equal(sumOf(points), all.charged);
  }
  const byApp = await stats.byApp({ of: 'every app', ...time });
  assert.deepEqual(byApp.map(({ appId }) => appId).toSorted(), apps);
  for (const { appId, ...figures } of byApp) {
    assert.deepEqual(await stats.totals({ appId, ...time }), figures);
    const models = await stats.byModel({ appId, ...time });
    assert.equal(models.length, 3);
    assert.equal(sumOf(models), figures.charged);
  }
  assert.deepEqual(await stats.byOutcome({ of: 'every app', ...time }), [
    { outcome: 'charged', kind: 'served', calls: all.calls },
  ]);
  assert.equal((await stats.totals({ of: 'every app', ...time, mode: 'sandbox' })).calls, 0);
  assert.equal(await readsOfCalls(), before);
});

test('WA-09 a charge that commits behind a pass is in the next one', async () => {
  const ledger = await createLedgerDatabase();
  try {
    for (const user of ['slow', 'quick']) await ledger.open(user, 1_000);
    const [slow, quick] = [holdOf('slow', 50), holdOf('quick', 50)];
    await ledger.reserve([slow, quick]);
    const late = await ledger.database.owner.connect();
    try {
      await late.query('begin');
      // As the ledger does it: under the lock of the wallet, one number higher, and not yet committed.
      await late.query(`update ledger.wallets set entry_seq = entry_seq + 1 where user_id = 'slow'`);
      await late.query(
        `insert into usage.calls (call_id, wallet_id, month, model, outcome, is_estimated, prompt_tokens, cached_tokens,
           completion_tokens, reasoning_tokens, held_micros, charged_micros, seq, balance_after_micros)
         select gen_random_uuid(), wallet_id, db.current_month(), 'acme.large-1', 'answered', false, 1, 0, 1, 0, 50, 9, entry_seq, 991
         from ledger.wallets where user_id = 'slow'`,
      );
      await ledger.settle([endOf(quick, 7)]);
      assert.equal(await rollUpAll(ledger.live, 1_000), 1);
      await late.query('commit');
    } finally {
      late.release();
    }
    assert.equal((await sumDifferences(ledger.database.owner)).length, 1, 'the late one is missing so far');
    assert.equal(await rollUpAll(ledger.live, 1_000), 1);
    assert.deepEqual(await sumDifferences(ledger.database.owner), []);
  } finally {
    await ledger.close();
  }
});

test('WA-09 a process that dies within a pass leaves the sums and the watermarks as they were', async () => {
  const ledger = await createLedgerDatabase();
  try {
    await ledger.open('user', 1_000);
    const holds = Array.from({ length: 5 }, () => holdOf('user', 50));
    await ledger.reserve(holds);
    await ledger.settle(holds.map((hold, index) => endOf(hold, index * 7)));
    const dying = await ledger.live.connect();
    await dying.query('begin');
    const page = await rollUp(dying, 0n, PAGE);
    assert.equal(page?.calls, 4n);
    // Another process adds nothing as long as the first might still commit.
    assert.equal(await rollUp(ledger.live, 0n, PAGE), undefined);
    const { rows } = await dying.query<{ pid: number }>('select pg_backend_pid() as pid');
    await ledger.database.owner.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
    dying.release(true);
    const added = await waitUntil('the lock is free again', async () => (await rollUpAll(ledger.live, 1_000)) || false);
    assert.equal(added, 4);
    assert.deepEqual(await sumDifferences(ledger.database.owner), []);
  } finally {
    await ledger.close();
  }
});

test('WA-09 while calls are charged, several processes add each charge once', async () => {
  const ledger = await createLedgerDatabase('inTurns');
  const pools = Array.from({ length: 3 }, () =>
    createPool({ url: ledger.database.url, role: 'live', connectionsMax: 1, log }),
  );
  const rollUps = pools.map((pool) => startRollUp({ pool, log, periodMs: 5 }));
  try {
    const users = Array.from({ length: 8 }, (_, index) => `user-${index}`);
    for (const user of users) await ledger.open(user, 100_000);
    await Promise.all(
      users.map(async (user) => {
        for (let round = 0; round < 12; round += 1) {
          const hold = holdOf(user, 200);
          await ledger.reserve([hold]);
          await ledger.settle([endOf(hold, round % 4 === 0 ? 0 : 10 + round)]);
        }
      }),
    );
    const stats = createStats(ledger.live);
    const time = { mode: 'live', fromMs: Date.now() - 3_600_000, toMs: Date.now() + 3_600_000 } as const;
    await waitUntil(
      'all charges are in the sums',
      async () => (await stats.totals({ appId: APP, ...time })).chargedCalls >= 8 * 9,
    );
    assert.deepEqual(await sumDifferences(ledger.database.owner), []);
  } finally {
    await Promise.all(rollUps.map(({ stop }) => stop()));
    await Promise.all(pools.map((pool) => pool.end()));
    await ledger.close();
  }
});
