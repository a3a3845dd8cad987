import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createPool, type Pool } from '../../packages/service/src/db/pool.ts';
import { analyzeYoungTables } from '../../packages/service/src/db/queries.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { catalogueAt } from '../support/catalogue.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestService } from '../support/service.ts';
import { waitUntil } from '../support/wait-until.ts';

// Which tables are analyzed, and when: the plans of every connection are made anew then.

const TABLE = 'limits.buckets';
const log = createLog('silent');

let database: TestDatabase;
let live: Pool;

before(async () => {
  database = await createTestDatabase();
  await database.owner.query(`alter table ${TABLE} set (autovacuum_enabled = off)`);
  live = createPool({ url: database.url, role: 'live', connectionsMax: 2, log });
});

after(async () => {
  await live.end();
  await database.close();
});

beforeEach(async () => {
  await database.owner.query(`truncate ${TABLE}`);
  await database.owner.query('analyze');
});

async function fill(from: number, to: number): Promise<void> {
  await database.owner.query(`insert into ${TABLE} select 'app_' || n, 0, 0 from generate_series($1::int, $2::int) n`, [
    from,
    to,
  ]);
}

/** Pages of the table as the plans know them. */
async function pagesKnown(table = TABLE, { owner } = database): Promise<number> {
  const { rows } = await owner.query<{ relpages: number }>('select relpages from pg_class where oid = $1::regclass', [
    table,
  ]);
  return rows[0]?.relpages ?? Number.NaN;
}

test('a table is analyzed when it has more than doubled, and not again before that', async () => {
  const analyzed: number[] = [];
  for (const [from, to] of [
    [1, 1],
    [2, 2],
    [3, 5_000],
    [5_001, 9_000],
    [9_001, 12_000],
  ] as const) {
    await fill(from, to);
    analyzed.push(await analyzeYoungTables(live));
  }
  assert.deepEqual(analyzed, [1, 0, 1, 0, 1]);
  assert.ok((await pagesKnown()) > 100);
});

test('a table that is large is left to the server', async () => {
  await fill(1, 60_000);
  assert.equal(await analyzeYoungTables(live), 1);
  assert.ok((await pagesKnown()) > 1_000);
  await fill(60_001, 200_000);
  assert.equal(await analyzeYoungTables(live), 0);
});

test('tables of others in the same database are not analyzed', async (t) => {
  t.after(() => database.owner.query('drop table public.others'));
  await database.owner.query('alter schema public owner to current_user');
  await database.owner.query('create table public.others as select generate_series(1, 1000) n');
  assert.equal(await analyzeYoungTables(live), 0);
});

/** Runs with another session in a transaction that has done this. */
async function beside(statement: string, work: () => Promise<void>): Promise<void> {
  const other = await database.owner.connect();
  try {
    await other.query('begin');
    await other.query(statement);
    await work();
  } finally {
    other.release(true);
  }
}

test('one process does it at a time', async () => {
  await beside('select db.analyze_young_tables()', async () => {
    await fill(1, 1);
    assert.equal(await analyzeYoungTables(live), 0);
  });
});

test('a table that is locked is passed over', async () => {
  await fill(1, 1);
  await beside(`lock table ${TABLE} in share update exclusive mode`, async () => {
    await analyzeYoungTables(live);
    assert.equal(await pagesKnown(), 0);
  });
  await analyzeYoungTables(live);
  assert.equal(await pagesKnown(), 1);
});

test('the service does it every second', async (t) => {
  const service = await startTestService(catalogueAt('http://127.0.0.1:9/v1'), {}, await createTestDatabase());
  t.after(service.close);
  await service.fund(await service.addApp(), 'ann', 1);
  await waitUntil('the wallets are analyzed', async () => (await pagesKnown('ledger.wallets', service.database)) > 0);
});
