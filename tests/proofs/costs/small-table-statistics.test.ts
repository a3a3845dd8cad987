import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createPool, type Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { analyzeSmallTable } from '../../../packages/service/src/db/health/queries.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { catalogueAt } from '../../support/catalogue.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { GROWTH } from '../../support/grown-tables.ts';
import { startTestService } from '../../support/service.ts';
import { sql, sqlValue } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';

// Which tables are analyzed, and when. An analyze makes every connection plan its statements again.

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
  await sql(database)`analyze`;
});

async function fill(from: number, to: number): Promise<void> {
  await database.owner.query(`insert into ${TABLE} select 'app_' || n, 0, 0 from generate_series($1::int, $2::int) n`, [
    from,
    to,
  ]);
}

/** The pages of the table as the planner knows them. */
async function pagesKnown(table = TABLE, { owner } = database): Promise<number> {
  const relpages = await sqlValue<number>(owner)`select relpages from pg_class where oid = ${table}::regclass`;
  return relpages ?? Number.NaN;
}

/** How many tables are analyzed now. */
async function analyzed(): Promise<number> {
  let tables = 0;
  while (await analyzeSmallTable(live)) tables += 1;
  return tables;
}

test('a table is analyzed once it has doubled', async () => {
  const found: number[] = [];
  for (const [from, to] of [
    [1, 1],
    [2, 2],
    [3, 5_000],
    [5_001, 9_000],
    [9_001, 12_000],
  ] as const) {
    await fill(from, to);
    found.push(await analyzed());
  }
  assert.deepEqual(found, [1, 0, 1, 0, 1]);
  assert.ok((await pagesKnown()) > 100);
});

test('large tables are left to the server', async () => {
  await fill(1, 150_000);
  assert.equal(await analyzed(), 1);
  const pages = await pagesKnown();
  assert.ok(pages > 2_000 && pages < 4_000, `${pages} pages`);
  await fill(150_001, 400_000);
  assert.equal(await analyzed(), 0);
  await database.owner.query(`update pg_class set relpages = 0 where oid = '${TABLE}'::regclass`);
  assert.equal(await analyzed(), 0, 'not even if it was never analyzed');
});

test('each of our tables can be analyzed, and no others', async (t) => {
  t.after(() => database.owner.query('drop schema others cascade'));
  await sql(database)`create schema others`;
  await sql(database)`create table others.filled as select generate_series(1, 1000) n`;
  const rows = await sql<{ schema: string }>(database)`select distinct schemaname as schema from pg_tables
    where schemaname !~ '^(pg_|information_schema$|public$|others$)' and strpos(${await sourceOf('db.analyze_small_table')}, quote_literal(schemaname)) = 0`;
  assert.deepEqual(rows, []);
  assert.equal(await analyzed(), 0);
});

async function sourceOf(name: string): Promise<string> {
  const source = await sqlValue<string>(database)`select prosrc as source from pg_proc where oid = ${name}::regproc`;
  return source ?? '';
}

/** Does the work while another session has run the statement in an open transaction. */
async function beside(statement: string, work: () => Promise<void>, { owner } = database): Promise<void> {
  const other = await owner.connect();
  try {
    await sql(other)`begin`;
    await other.query(statement);
    await work();
  } finally {
    await sql(other)`rollback`;
    other.release();
  }
}

test('one process analyzes at a time', async () => {
  await beside('select db.analyze_small_table()', async () => {
    await fill(1, 1);
    assert.equal(await analyzed(), 0);
  });
  assert.equal(await analyzed(), 1);
});

for (const mode of ['share update exclusive', 'access exclusive']) {
  test(`a table locked in ${mode} mode is skipped without waiting`, async (t) => {
    const other = 'idempotency.kept_answers';
    t.after(() => database.owner.query(`truncate ${other}`));
    await fill(1, 1);
    await database.owner.query(`insert into ${other} (call_id, key_digest, body_digest, sealed, expires_at)
      values (gen_random_uuid(), '', '', '', now())`);
    await beside(`lock table ${TABLE} in ${mode} mode`, async () => {
      assert.equal(await analyzed(), 1); // Waiting a quarter of a second would throw.
      assert.equal(await pagesKnown(other), 1);
    });
    assert.equal(await analyzed(), 1);
    assert.equal(await pagesKnown(), 1);
  });
}

test('a lock in another database does not count', async (t) => {
  const sibling = await createTestDatabase(); // Copied from the same template, so its tables have the same ids.
  t.after(sibling.close);
  await fill(1, 1);
  let tables = 0;
  const work = async (): Promise<void> => void (tables = await analyzed());
  await beside(`lock table ${TABLE} in access exclusive mode`, work, sibling);
  assert.equal(tables, 1);
});

test('a running service keeps analyzing its tables', async (t) => {
  const service = await startTestService(catalogueAt('http://127.0.0.1:9/v1'), {}, await createTestDatabase());
  t.after(service.close);
  const app = await service.addApp();
  const growsTo = (pages: number) => async () => (await pagesKnown('ledger.wallets', service.database)) > pages;
  await service.fund(app, 'ann', 1);
  await waitUntil('the wallets are analyzed', growsTo(0));
  // An insert during a pass could still count for that pass.
  await waitUntil('the pass is over', async () => {
    const { rowCount } = await service.database.owner.query(
      `select from pg_stat_activity where datname = current_database() and state <> 'idle' and query like '%small_table()%'`,
    );
    return rowCount === 1; // This statement.
  });
  await service.database.owner.query(GROWTH['ledger.wallets']);
  await waitUntil('the wallets are analyzed again', growsTo(10));
});
