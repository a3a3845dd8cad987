import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createPool, type Pool } from '../../packages/service/src/db/pool/pool.ts';
import type { AppId } from '../../packages/service/src/kernel/values/ids.ts';
import { createLog, describeFault } from '../../packages/service/src/kernel/log.ts';
import { mergeDay, rollUp } from '../../packages/service/src/calls/roll-up/queries.ts';
import { rebuildStats } from '../../packages/service/src/calls/rebuild/rebuild.ts';
import { PAGE, rollUpAll, startRollUp } from '../../packages/service/src/calls/roll-up/roll-up.ts';
import { createStats } from '../../packages/service/src/calls/stats/stats.ts';
import { catalogueAt } from '../support/catalogue.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeOpenDirectory } from '../support/embedded-harness.ts';
import { APP, createLedgerDatabase, endOf, holdOf } from '../support/ledger-database.ts';
import { fillReceipts, sumDifferences } from '../support/many-receipts.ts';
import { runToEnd } from '../support/service-process.ts';
import { sql, sqlValue } from '../support/sql.ts';
import { waitUntil } from '../support/wait-until.ts';

/** The sums of live charges equal the receipts: after late commits, crashes, and with several processes. */

const log = createLog('silent');
const CALLS = 3_000;
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
  await sql(reader)`select pg_stat_force_next_flush()`;
  const reads = await sqlValue<number>(many)`select sum(seq_scan + coalesce(idx_scan, 0))::float8 as reads
    from pg_stat_user_tables where relname ~ '^calls'`;
  return reads ?? Number.NaN;
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

test('WA-09 sums equal their receipts to the micro', async () => {
  const charged = await many.owner.query<{ count: bigint }>(
    'select count(*) from usage.calls where charged_micros > 0',
  );
  const page = await rollUp(live, 0n, { walletsMax: 7, entriesMax: 23 });
  assert.ok(page !== undefined && page.calls <= 23n && page.calls > 0n);
  assert.equal(BigInt(await rollUpInPages(live, 23)) + page.calls, charged.rows[0]?.count);
  assert.deepEqual(await sumDifferences(many.owner), []);
  assert.equal(await rollUpAll(live, 1_000), 0, 'nothing is added twice');
  assert.deepEqual(await sumDifferences(many.owner), []);
});

test('CP-04 series, totals and groups of apps agree', async () => {
  await rollUpAll(live, 1_000);
  const stats = createStats(reader);
  const toMs = Date.now() + 1;
  const time = { mode: 'live', fromMs: toMs - 5 * 86_400_000, toMs } as const;
  const apps = ['app_0', 'app_1', 'app_2', 'app_3'] as AppId[];
  const rows = await sql<{ charged: bigint; calls: bigint }>(many)`
    select sum(charged_micros)::bigint as charged, count(*) as calls from usage.calls where charged_micros > 0`;
  await sql(many)`select pg_stat_force_next_flush()`;
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
  const groups = await stats.groups({ of: 'every app', ...time });
  assert.deepEqual(groups.apps, byApp);
  assert.deepEqual(groups.models, await stats.byModel({ of: 'every app', ...time }));
  assert.deepEqual(groups.outcomes, await stats.byOutcome({ of: 'every app', ...time }));
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

test('WA-09 the next pass includes a charge committed behind it', async () => {
  const ledger = await createLedgerDatabase();
  try {
    for (const user of ['slow', 'quick']) await ledger.open(user, 1_000);
    const [slow, quick] = [holdOf('slow', 50), holdOf('quick', 50)];
    await ledger.reserve([slow, quick]);
    const late = await ledger.database.owner.connect();
    try {
      await sql(late)`begin`;
      // As the ledger does it: under the lock of the wallet, one number higher, and not yet committed.
      await sql(late)`update ledger.wallets set entry_seq = entry_seq + 1 where user_id = 'slow'`;
      await sql(late)`
        insert into usage.calls (call_id, wallet_id, month, model, outcome, is_estimated, prompt_tokens, cached_tokens,
          completion_tokens, reasoning_tokens, held_micros, charged_micros, seq, balance_after_micros)
        select gen_random_uuid(), wallet_id, db.current_month(), 'acme.large-1', 'answered', false, 1, 0, 1, 0, 50, 9, entry_seq, 991
        from ledger.wallets where user_id = 'slow'`;
      await ledger.settle([endOf(quick, 7)]);
      assert.equal(await rollUpAll(ledger.live, 1_000), 1);
      await sql(late)`commit`;
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

test('WA-09 a process dying within a pass changes no sums', async () => {
  const ledger = await createLedgerDatabase();
  try {
    await ledger.open('user', 1_000);
    const holds = Array.from({ length: 5 }, () => holdOf('user', 50));
    await ledger.reserve(holds);
    await ledger.settle(holds.map((hold, index) => endOf(hold, index * 7)));
    const dying = await ledger.live.connect();
    try {
      await sql(dying)`begin`;
      const page = await rollUp(dying, 0n, PAGE);
      assert.equal(page?.calls, 4n);
      // Another process adds nothing as long as the first might still commit.
      assert.equal(await rollUp(ledger.live, 0n, PAGE).catch(describeFault), undefined);
      const pid = await sqlValue<number>(dying)`select pg_backend_pid() as pid`;
      await sql(ledger)`select pg_terminate_backend(${pid})`;
    } finally {
      dying.release(true);
    }
    const added = await waitUntil('the lock is free again', async () => (await rollUpAll(ledger.live, 1_000)) || false);
    assert.equal(added, 4);
    assert.deepEqual(await sumDifferences(ledger.database.owner), []);
  } finally {
    await ledger.close();
  }
});

test('WA-09 several processes add each charge once', async () => {
  const ledger = await createLedgerDatabase('inTurns');
  const pools = Array.from({ length: 3 }, () =>
    createPool({ url: ledger.database.url, role: 'live', connectionsMax: 1, log }),
  );
  const rollUps = pools.map((pool) => startRollUp({ pool, log, periodMs: 5, isKeeper: () => true }));
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

async function allSums(): Promise<readonly object[]> {
  return (await many.owner.query<object>('select * from stats.hours order by app_id, mode, hour, model, outcome')).rows;
}

const ALWAYS = { from: new Date('2000-01-01'), to: new Date(Date.now() + 86_400_000) };

test('WA-09 a rebuild makes damaged sums exact again', async () => {
  await sql(many)`update stats.hours set charged_micros = charged_micros + 1 where app_id = 'app_1'`;
  await sql(many)`delete from stats.hours where app_id = 'app_2'`;
  await sql(many)`insert into stats.hours (app_id, mode, hour, model, outcome, calls)
    select 'app_3', 'live', date_trunc('hour', now()) - interval '9 days', 'acme.gone', 'charged', 7`;
  await sql(many)`update stats.watermarks set entry_seq = entry_seq - 10 where wallet_id % 2 = 0`;
  const running = startRollUp({ pool: live, log, periodMs: 5, isKeeper: () => true });
  const { receipts } = await rebuildStats(many.owner, ALWAYS, { walletsMax: 7, tracesMax: 5 });
  await running.stop();
  assert.ok(receipts > 0);
  await rollUpAll(live, 1_000);
  assert.deepEqual(await sumDifferences(many.owner), []);
  const sums = await allSums();
  await rebuildStats(many.owner, ALWAYS);
  assert.deepEqual(await allSums(), sums);
});

test('CP-04 a rebuild leaves other days alone', async () => {
  await rollUpAll(live, 1_000);
  const rows = await sql<{ day: Date }>(many)`update stats.hours set charged_micros = charged_micros + 1
    returning date_trunc('day', hour, 'UTC') as day`;
  const days = [...new Set(rows.map(({ day }) => day.getTime()))].toSorted((one, other) => one - other);
  const [first = 0, second = 0] = days;
  await rebuildStats(many.owner, { from: new Date(first), to: new Date(second) });
  const wrong = await sumDifferences(many.owner, 'day');
  assert.ok(wrong.length > 0 && wrong.every((row) => (row as { hour: Date }).hour.getTime() >= second));
  await rebuildStats(many.owner, ALWAYS);
  assert.deepEqual(await sumDifferences(many.owner), []);
});

test('CP-04 a rebuild from traces lowers no count', async () => {
  await sql(many)`
    insert into traces.calls (ended_at, app_id, mode, correlation_id, model, is_stream, outcome, code, charged_micros,
      prompt_tokens, completion_tokens, duration_ms)
    select now() - interval '5 hours', 'app_traced', t.mode, 'cor', t.model, false, t.outcome, t.code, t.charged, 3, 2, 1
    from (values ('live', null, 'refused', 'BAD_REQUEST', 0), ('live', null, 'refused', 'BAD_REQUEST', 0),
      ('live', 'm', 'abandoned', null, 5), ('live', 'm', 'abandoned', null, 0), ('live', 'm', 'replayed', null, 0),
      ('sandbox', 'm', 'answered', null, 7), ('sandbox', 'm', 'answered', null, 0)) t (mode, model, outcome, code, charged)`;
  const counted = async (): Promise<unknown> => {
    const rows = await sql(many)`select mode, model, outcome, calls, charged_micros as charged
      from stats.hours where app_id = 'app_traced' order by 1, 2, 3`;
    return rows.map(Object.values);
  };
  await sql(many)`insert into stats.hours (app_id, mode, hour, model, outcome, calls)
    values ('app_traced', 'live', date_trunc('hour', now() - interval '5 hours', 'UTC'), '', 'BAD_REQUEST', 9)`;
  const expected = [
    ['live', '', 'BAD_REQUEST', 9n, 0n],
    ['live', 'm', 'abandoned', 1n, 0n],
    ['live', 'm', 'replayed', 1n, 0n],
    ['sandbox', 'm', 'charged', 1n, 7n],
    ['sandbox', 'm', 'free', 1n, 0n],
  ];
  for (let round = 0; round < 2; round += 1) {
    assert.equal((await rebuildStats(many.owner, ALWAYS, { walletsMax: 50, tracesMax: 2 })).traces, 6);
    assert.deepEqual(await counted(), expected);
  }
});

test('CP-04 the command rebuilds, and says what it read', async (t) => {
  await rollUpAll(live, 1_000);
  await sql(many)`update stats.hours set calls = calls + 1`;
  const command = {
    dataDirectory: makeOpenDirectory(t),
    catalogue: catalogueAt('http://127.0.0.1:9/v1'),
    databaseUrl: many.url,
  };
  const { status, said } = await runToEnd(command, 'stats', 'rebuild', '--from', '2026-01-01');
  assert.match(said, /^\d+ receipts and \d+ traces read, \d+ days rebuilt, \d+\.\d s\n$/);
  assert.equal(status, 0);
  assert.deepEqual(await sumDifferences(many.owner), []);
});

test('CP-04 merging old hours changes nothing by day', async () => {
  await sql(many)`update stats.hours set total = array_fill(1::bigint, array[16]) where app_id = 'app_0'`;
  await sql(many)`update stats.hours set hour = hour - interval '70 days'`;
  const stats = createStats(live);
  const toMs = Date.now() - 60 * 86_400_000;
  const range = { of: 'every app', mode: 'live', fromMs: toMs - 20 * 86_400_000, toMs, step: 'day' } as const;
  const before = await stats.series(range);
  let days = 0;
  while (await mergeDay(live, 62)) days += 1;
  assert.ok(days >= 3);
  const { rows } = await many.owner.query<{ hours: number }>(
    `select count(*)::int as hours from stats.hours where hour <> date_trunc('day', hour, 'UTC')`,
  );
  assert.equal(rows[0]?.hours, 0);
  assert.deepEqual(await stats.series(range), before);
  assert.ok(before.some(({ total }) => total.count > 0));
});
