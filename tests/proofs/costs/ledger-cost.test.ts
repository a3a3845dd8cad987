import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { insertInstance } from '../../../packages/service/src/db/processes/queries.ts';
import { holdRequests } from '../../../packages/service/src/db/records/hold-request.ts';
import { createPool, type Pool, type Queryable } from '../../../packages/service/src/db/pool/pool.ts';
import type { HoldRequest } from '../../../packages/service/src/kernel/calls/hold.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { takeTurn } from '../../../packages/service/src/ledger/turn/queries.ts';
import { createWallets } from '../../../packages/service/src/ledger/wallet/wallet.ts';
import { reapHolds } from '../../../packages/service/src/ledger/recovery/queries.ts';
import { reapSandboxHolds } from '../../../packages/service/src/sandbox/holds/queries.ts';
import { setFreshLane } from './fresh-lane.ts';
import { GROWTH } from '../../support/grown-tables.ts';
import { createLedgerDatabase, endOf, holdOf, type LedgerDatabase, WAYS } from '../../support/ledger-database.ts';
import { PARTS_OF_CALLS, partsOf } from './table-parts.ts';
import { endHolds, placeHolds } from '../../support/turns.ts';

// What a batch costs the database, in figures that machine load cannot change.

const LEASE_MS = 3_600_000;
const USERS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
/** A look-up reads a row or two, plus dead rows on the same pages. A scan of a grown table reads all of it. */
const ROWS_READ_MAX = 40 * USERS.length;

let ledger: LedgerDatabase;
/** One connection, as a lane has. It keeps its query plans. */
let lane: Pool;
let instance: bigint;
type Way = (typeof WAYS)[keyof typeof WAYS];

before(async () => {
  ledger = await createLedgerDatabase();
  const { owner, url } = ledger.database;
  await owner.query(`alter database ${new URL(url).pathname.slice(1)} set track_functions = 'all'`);
  lane = createPool({ url, role: 'live', connectionsMax: 1, log: createLog('silent') });
  instance = await insertInstance(lane, LEASE_MS);
  for (const user of USERS) await ledger.open(user, 1_000_000);
});

after(async () => {
  await lane.end();
  await ledger.close();
});

async function runBatch({ reserve, settle }: Way, requests = USERS.map((user) => holdOf(user, 100))): Promise<void> {
  const held = await reserve(lane, instance, requests);
  assert.deepEqual(new Set(held.map(({ outcome }) => outcome)), new Set(['granted']));
  const ended = await settle(
    lane,
    requests.map((request) => endOf(request, 60)),
  );
  assert.deepEqual(new Set(ended.map(({ charged }) => charged)), new Set([60n]));
}

/** One of the server's own counters, including everything that the lane has done so far. */
async function counted(text: string): Promise<number> {
  await lane.query('select pg_stat_force_next_flush()');
  await lane.query('select'); // A session reports its counts at the end of a statement.
  const { rows } = await ledger.database.owner.query<{ counted: string }>(text);
  return Number(rows[0]?.counted);
}

const rowsRead = (table: string): Promise<number> =>
  counted(
    `select sum(t.seq_tup_read + i.read) as counted
     from pg_stat_user_tables t
     cross join lateral (
       select coalesce(sum(x.idx_tup_read), 0) as read from pg_stat_user_indexes x where x.relid = t.relid
     ) i
     where t.relid in ${partsOf(`'{${table}}'`)}`,
  );

const GROWING = ['ledger.wallets', 'usage.calls', 'ledger.holds', 'webhooks.subscriptions'] as const;

test('WA-07 a batch reads no more rows from grown tables', async () => {
  for (const way of Object.values(WAYS)) await runBatch(way);
  for (const table of GROWING) {
    await ledger.database.owner.query(GROWTH[table]);
    for (const [name, way] of Object.entries(WAYS)) {
      const before = await rowsRead(table);
      await runBatch(way);
      const read = (await rowsRead(table)) - before;
      assert.ok(read <= ROWS_READ_MAX, `${name}: ${read} rows of ${table}`);
    }
  }
});

test('WA-10 a reaper pass reads no receipts without an orphan', async (t) => {
  const { fresh, owner, early, rowsReadOf } = await setFreshLane(t, 'live');
  const tables = ['ledger.wallets', 'usage.calls'] as const;
  assert.equal(await reapHolds(early, USERS.length), 0);
  for (const table of tables) await owner.query(GROWTH[table]);
  const [by, dead] = [await fresh.addInstance(), await fresh.addInstance()];
  for (const user of USERS) await fresh.open(user, 1_000);
  await fresh.reserve(
    USERS.map((user) => holdOf(user, 1)),
    by,
  );
  const before = await rowsReadOf(...tables);
  assert.equal(await reapHolds(early, USERS.length), 0);
  assert.equal((await rowsReadOf(...tables)) - before, 0);
  await fresh.reserve([holdOf('a', 1)], dead);
  await owner.query(`update db.instances set state = 'dead' where instance_id = $1`, [dead]);
  const beforeOrphan = await rowsReadOf(...tables);
  assert.equal(await reapHolds(early, USERS.length), 1);
  assert.ok((await rowsReadOf(...tables)) - beforeOrphan <= ROWS_READ_MAX);
});

test('WA-10 a sandbox reaper pass reads no wallets without an orphan', async (t) => {
  const { fresh, owner, early, rowsReadOf } = await setFreshLane(t, 'sandbox');
  assert.equal(await reapSandboxHolds(early, USERS.length), 0);
  await owner.query(GROWTH['sandbox.wallets']);
  await owner.query('update sandbox.wallets set held_micros = 2, cap_held_micros = 2, open_calls = 2');
  const hold = async (instance: bigint): Promise<unknown> =>
    owner.query(
      `insert into sandbox.holds (call_id, wallet_id, amount_micros, month, is_stream, instance_id)
       select gen_random_uuid(), wallet_id, 1, cap_month, false, $1 from sandbox.wallets order by wallet_id limit 1`,
      [instance],
    );
  const dead = await fresh.addInstance();
  await hold(fresh.instance);
  const before = await rowsReadOf('sandbox.wallets');
  assert.equal(await reapSandboxHolds(early, USERS.length), 0);
  assert.equal((await rowsReadOf('sandbox.wallets')) - before, 0);
  await hold(dead);
  await owner.query(`update db.instances set state = 'dead' where instance_id = $1`, [dead]);
  const beforeOrphan = await rowsReadOf('sandbox.wallets');
  assert.equal(await reapSandboxHolds(early, USERS.length), 1);
  assert.ok((await rowsReadOf('sandbox.wallets')) - beforeOrphan <= ROWS_READ_MAX);
});

const EXPLAINING = ['log_min_duration = 0', 'log_nested_statements = on', 'log_analyze = on', 'log_level = notice'];
const MANY = 64;

/** A lane that reports the plan of each statement it runs. */
async function explainingLane({ database }: LedgerDatabase) {
  const client = await database.owner.connect();
  const plans: string[] = [];
  client.on('notice', ({ message }) => plans.push(message ?? ''));
  await client.query(`load 'auto_explain'`);
  for (const setting of EXPLAINING) await client.query(`set auto_explain.${setting}`);
  return { client, plans };
}

test(`WA-07 a batch of ${MANY} wallets never compares all row pairs`, async (t) => {
  const fresh = await createLedgerDatabase();
  t.after(() => fresh.close());
  const users = Array.from({ length: MANY }, (_, index) => `many-${index}`);
  const runOn = async ({ client }: Awaited<ReturnType<typeof explainingLane>>, of: readonly string[]) => {
    const requests = of.map((user) => holdOf(user, 10));
    await placeHolds(client, fresh.instance, requests);
    const next = of.map((user) => holdOf(user, 10));
    await takeTurn(client, fresh.instance, {
      settlements: requests.map((request) => endOf(request, 1)),
      requests: next,
    });
    await endHolds(
      client,
      next.map((request) => endOf(request, 1)),
    );
  };
  const early = await explainingLane(fresh);
  await runOn(early, ['nobody', 'nobody-else']); // Two, because a call alone is no turn.
  for (const user of users) await fresh.open(user, 1_000);
  await runOn(early, users); // Their month begins.
  await fresh.database.owner.query('analyze');
  const late = await explainingLane(fresh);
  for (const lane of [early, late]) await runOn(lane, users);
  for (const { client } of [early, late]) client.release(true);
  for (const lane of [early, late]) {
    const told = lane.plans.join('\n');
    const compared = [...told.matchAll(/Rows Removed by Join Filter: (\d+)/g)].map(([, rows]) => Number(rows));
    assert.match(told, /Update on wallets/);
    assert.deepEqual(compared, []);
  }
});

test('WA-07 an ended call is found without a scan', async (t) => {
  const { fresh, owner, early, flush } = await setFreshLane(t, 'live');
  for (const user of USERS) await fresh.open(user, 1_000);
  const by = await insertInstance(early, LEASE_MS);
  for (const { reserve } of Object.values(WAYS)) {
    await reserve(
      early,
      by,
      USERS.map((user) => holdOf(user, 1)),
    );
  }
  await flush();
  const { rows } = await owner.query<{ name: string }>(
    `select indexrelname as name from pg_stat_user_indexes where relid in ${PARTS_OF_CALLS} and idx_scan > 0`,
  );
  assert.deepEqual(
    rows.map(({ name }) => name.replace(/_\d{4}_\d{2}/, '')),
    ['calls_pkey'], // Of one month: calls of other months cannot have this id.
  );
});

const callsOf = (names: string): Promise<number> =>
  counted(`select coalesce(sum(calls), 0) as counted from pg_stat_user_functions where funcname = any ('${names}')`);

test('WA-09 one prepared function call checks an entry’s books', async () => {
  const overrun = async (): Promise<void> => {
    const requests = USERS.map((user) => holdOf(user, 10));
    await placeHolds(lane, instance, requests);
    await endHolds(
      lane,
      requests.map((request) => endOf(request, 11)),
    );
  };
  await overrun();
  const before = await callsOf('{moves_between}');
  await overrun();
  assert.equal(
    (await callsOf('{moves_between}')) - before,
    USERS.length,
    'if it were inlined into the check, it would be planned anew',
  );
  assert.equal(await callsOf('{debit_of,credit_of}'), 0, 'both are inlined into the plan of that call');
});

const COUNTED = ['seq_scan', 'seq_tup_read', 'idx_scan', 'idx_tup_fetch', 'n_tup_ins', 'n_tup_upd', 'n_tup_del'];

/** All that the tables of the service count of one session, for each table. It may only be compared within one transaction. */
async function tableCounts(db: Queryable): Promise<ReadonlyMap<string, readonly number[]>> {
  const { rows } = await db.query<{ name: string; counts: readonly string[] }>(
    `select schemaname || '.' || relname as name, array[${COUNTED.join(', ')}]::text[] as counts from pg_stat_xact_user_tables`,
  );
  return new Map(rows.map(({ name, counts }) => [name, counts.map(Number)]));
}

/** What a call for this user costs the database, and what it is told. Nothing of it stays. */
async function costOf(user: string, options: Parameters<typeof holdOf>[2]): Promise<unknown> {
  const client = await lane.connect();
  let statements = 0;
  const db: Queryable = {
    query: ((...given: Parameters<typeof client.query>) => {
      statements += 1;
      return client.query(...given);
    }) as unknown as Queryable['query'],
  };
  const request = holdOf(user, { least: 2, most: 9 }, options);
  try {
    await client.query('begin');
    const before = await tableCounts(client);
    const [row] = await placeHolds(db, instance, [request]);
    const wallet = await createWallets(db).findConnected(request.appId, request.userId); // As `/balance` and the like do.
    const after = await tableCounts(client);
    const { rows } = await client.query<{ xid: string | null }>('select pg_current_xact_id_if_assigned()::text as xid');
    const touched = [...after].map(([name, counts]) => [
      name,
      counts.map((count, place) => count - (before.get(name)?.[place] ?? 0)),
    ]);
    const blocks = [
      await blocksOf(client, 'ledger.reserve($1, $2)', request),
      await blocksOf(client, `ledger.turn($1, '{}', $2)`, request),
    ];
    return {
      outcome: row?.outcome,
      wallet,
      statements,
      // A transaction gets an id with the first row that it locks or writes.
      hasLockedOrWritten: rows[0]?.xid !== null,
      touched: touched.filter(([, counts]) => (counts as number[]).some((count) => count > 0)),
      blocks,
    };
  } finally {
    await client.query('rollback');
    client.release();
  }
}

/** How many pages of tables and indexes one call of a function looks at. */
async function blocksOf(db: Queryable, call: string, request: HoldRequest): Promise<number> {
  type Plan = readonly [{ readonly Plan: Readonly<Record<string, number>> }];
  const { rows } = await db.query<{ 'QUERY PLAN': Plan }>(`explain (analyze, buffers, format json) select ${call}`, [
    instance,
    holdRequests([request]),
  ]);
  const plan = rows[0]?.['QUERY PLAN'][0].Plan ?? {};
  return (plan['Shared Hit Blocks'] ?? Number.NaN) + (plan['Shared Read Blocks'] ?? Number.NaN);
}

test('WA-02 a disconnected user costs what a stranger does', async () => {
  const key = { digest: Buffer.alloc(16, 7), body: Buffer.alloc(16, 8), joins: true };
  await ledger.open('revoked', 1_000_000);
  const running = holdOf('revoked', 100, { streamsMax: 1, idempotencyKey: { ...key, joins: false } });
  assert.deepEqual(await ledger.reserve([running]), [100]);
  await ledger.setWallet('revoked', 'is_connected = false');
  // As the server does within a minute of a change: until then, an index leads to the row's dead version, a page further.
  await ledger.database.owner.query('vacuum ledger.wallets');
  for (const options of [{}, { streamsMax: 1 }, { idempotencyKey: key }, { streamsMax: 1, idempotencyKey: key }]) {
    for (const user of ['revoked', 'nobody']) await costOf(user, options); // Its plans are made now.
    const [revoked, stranger] = [await costOf('revoked', options), await costOf('nobody', options)];
    assert.deepEqual(revoked, stranger);
    const { outcome, hasLockedOrWritten } = revoked as Readonly<Record<string, unknown>>;
    assert.deepEqual({ outcome, hasLockedOrWritten }, { outcome: 'payment_required', hasLockedOrWritten: false });
    assert.match(JSON.stringify(revoked), /ledger\.wallets/);
  }
});
