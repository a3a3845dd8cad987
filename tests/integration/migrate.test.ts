import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { MigrationError, migrate, SCHEMA_VERSION } from '../../packages/service/src/db/migrate.ts';
import { createPool, type Pool } from '../../packages/service/src/db/pool.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
const pools: Pool[] = [];

before(async () => {
  database = await createTestDatabase({ isEmpty: true });
});

after(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await database.close();
});

function anotherProcess(): Pool {
  const pool = createPool({ url: database.url, role: 'owner', connectionsMax: 1, log: createLog('silent') });
  pools.push(pool);
  return pool;
}

test('processes that start at once apply each migration once, whoever comes first', async () => {
  const applied = await Promise.all([0, 1, 2].map(() => migrate(anotherProcess())));
  assert.equal(applied.flat().length, SCHEMA_VERSION);
  assert.equal(new Set(applied.flat()).size, SCHEMA_VERSION);
  const { rows } = await database.owner.query('select count(*)::int as count from db.migrations');
  assert.deepEqual(rows, [{ count: SCHEMA_VERSION }]);
});

test('a schema that is up to date is left alone', async () => {
  assert.deepEqual(await migrate(anotherProcess()), []);
});

test('a schema newer than this build is refused by name of both', async () => {
  await database.owner.query(`insert into db.migrations (version, name) values ($1, 'from the future')`, [
    SCHEMA_VERSION + 1,
  ]);
  const refused = migrate(anotherProcess());
  await assert.rejects(refused, (fault) => {
    return fault instanceof MigrationError && fault.message.includes(`schema ${SCHEMA_VERSION + 1}`);
  });
});

test('a user who may not create roles is told so', async () => {
  const bare = await createTestDatabase({ isEmpty: true });
  await bare.owner.query(`create role bare_${process.pid} login password 'bare'`);
  const { rows } = await bare.owner.query<{ name: string }>('select current_database() as name');
  await bare.owner.query(`alter database ${rows[0]?.name} owner to bare_${process.pid}`);
  // The roles exist on this server already, so that what is missing is the right to be granted them.
  const url = new URL(bare.url);
  url.username = `bare_${process.pid}`;
  url.password = 'bare';
  const pool = createPool({ url: url.href, role: 'owner', connectionsMax: 1, log: createLog('silent') });
  try {
    await assert.rejects(migrate(pool), /may create roles/);
  } finally {
    await pool.end();
    await bare.close();
  }
});
