import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { createReadiness } from '../../../packages/service/src/app/monitoring/readiness.ts';
import { readFunctions } from '../../../packages/service/src/db/schema/functions.ts';
import { MigrationError, migrate, SCHEMA_VERSION } from '../../../packages/service/src/db/schema/migrate.ts';
import { startInstance } from '../../../packages/service/src/db/processes/instance.ts';
import { createPool, type Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { BackupError } from '../../../packages/service/src/backup/backup-error.ts';
import { createBackup } from '../../../packages/service/src/backup/create.ts';
import { listSystems } from '../../../packages/service/src/backup/folder.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { describeSchema } from '../../../tools/schema/describe.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { FROM_BEFORE } from '../../support/other-builds.ts';
import { runToEnd } from '../../support/service-process.ts';
import { mountSmallDisk } from '../crashes/small-disk.ts';
import { waitUntil } from '../../support/wait-until.ts';

const MIGRATIONS = new URL('../../../packages/service/migrations/', import.meta.url);

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

test('OP-10 simultaneous starts apply each migration once', async () => {
  const applied = await Promise.all([0, 1, 2].map(() => migrate(anotherProcess())));
  const migrations = applied.flatMap((one) => one.migrations);
  const functions = applied.flatMap((one) => one.functions);
  const files = readdirSync(MIGRATIONS).length;
  assert.equal(migrations.length, files);
  assert.equal(new Set(migrations).size, files);
  assert.equal(functions.length, readFunctions().length);
  assert.equal(new Set(functions).size, functions.length);
  const { rows } = await database.owner.query('select count(*)::int as count from db.migrations');
  assert.deepEqual(rows, [{ count: files }]);
});

test('OP-10 an up-to-date schema is left alone', async () => {
  assert.deepEqual(await migrate(anotherProcess()), { migrations: [], functions: [], isNewer: false });
});

test('OP-10 wrong functions are put right with their dependents', async () => {
  const expected = await describeSchema(database.owner, { bodies: true });
  await database.owner.query(`
    drop function ledger.set_cap;
    create function ledger.set_cap(p_app text) returns text language sql as 'select p_app';
    create function ledger.set_cap(p_app text, p_user text) returns text language sql as 'select p_app';
    create or replace function audit.refuse_change() returns trigger language plpgsql as 'begin return new; end';
    grant execute on function ledger.credit to purser_sandbox;
    create function db.gone() returns int language sql as 'select 1';
    insert into db.functions (name, digest, version) values ('db.gone', sha256('gone'), '0.0.1');
    update db.functions set digest = sha256('older'), version = '0.0.1'
    where name in ('ledger.set_cap', 'audit.refuse_change', 'ledger.credit')`);
  assert.notEqual(await describeSchema(database.owner, { bodies: true }), expected);
  const { migrations, functions } = await migrate(anotherProcess());
  assert.deepEqual(migrations, []);
  const names = ['audit.refuse_change', 'db.gone', 'ledger.credit', 'ledger.set_cap'];
  assert.deepEqual(functions.toSorted(), names);
  assert.equal(await describeSchema(database.owner, { bodies: true }), expected);
  const { rows } = await database.owner.query(`select name from db.functions where version = '0.0.1'`);
  assert.deepEqual(rows, []);
});

test('OP-10 a function in use by a trigger stays', async () => {
  await database.owner.query(`
    create function db.hung() returns trigger language plpgsql as 'begin return new; end';
    create trigger hung before insert on db.identity for each row execute function db.hung();
    insert into db.functions (name, digest, version) values ('db.hung', sha256('hung'), '0.0.1')`);
  await assert.rejects(migrate(anotherProcess()), /other objects depend on it/);
  await database.owner.query(`drop trigger hung on db.identity`);
  assert.deepEqual(await migrate(anotherProcess()), { migrations: [], functions: ['db.hung'], isNewer: false });
});

test('OP-10 functions of a newer version are left alone', async () => {
  const asMade = await database.owner.query<{ version: string }>(
    `with made as (select version from db.functions where name = 'ledger.credit')
     update db.functions f set digest = sha256('newer'), version = '0.10.0' from made where f.name = 'ledger.credit'
     returning made.version`,
  );
  assert.deepEqual(await migrate(anotherProcess()), { migrations: [], functions: [], isNewer: true });
  await database.owner.query('update db.compatibility set oldest_schema = oldest_schema + 1000');
  await assert.rejects(migrate(anotherProcess()), (fault) => {
    return fault instanceof MigrationError && /builds from schema 1\d\d\d on can use/.test(fault.message);
  });
  await database.owner.query('update db.compatibility set oldest_schema = oldest_schema - 1000');
  const { rows } = await database.owner.query(`select version from db.functions where digest = sha256('newer')`);
  assert.deepEqual(rows, [{ version: '0.10.0' }]);
  await database.owner.query(`update db.functions set version = $1 where name = 'ledger.credit'`, [
    asMade.rows[0]?.version,
  ]);
  assert.deepEqual((await migrate(anotherProcess())).functions, ['ledger.credit']);
});

test('OP-10 every function’s body is valid for the schema', async () => {
  const client = await database.owner.connect();
  await client.query('begin');
  try {
    // A start creates them without this check.
    await client.query('set local check_function_bodies = on');
    for (const { name, sql } of readFunctions()) await assert.doesNotReject(client.query(sql), name);
  } finally {
    await client.query('rollback');
    client.release();
  }
});

test('OP-09 a backup on a full disk leaves nothing broken', async (t) => {
  const disk = mountSmallDisk(t);
  if (disk === undefined) return t.skip('This process may not mount a small disk.');
  const { url } = database;
  const server = { url, pool: anotherProcess() };
  await migrate(server.pool);
  const create = () => createBackup({ server, dataDirectory: os.tmpdir(), backups: disk.directory, keep: undefined });
  await assert.rejects(
    create(),
    (fault) => fault instanceof BackupError && /nothing of it is left: ENOSPC/.test(fault.message),
  );
  const [systemId = ''] = await listSystems(disk.directory);
  assert.deepEqual(readdirSync(path.join(disk.directory, systemId, 'base')), []);
  disk.fill();
  await assert.rejects(create(), BackupError, 'not even its folder can be made');
});

test('OP-04 readiness says in words what is wrong', async (t) => {
  const pool = createPool({ url: database.url, role: 'live', connectionsMax: 2, log: createLog('silent') });
  t.after(() => pool.end());
  const log = createLog('silent');
  const instance = await startInstance(pool, log);
  t.after(instance.leave);
  const disk = mountSmallDisk(t);
  let isRefused = false;
  const readinessAt = (dataDirectory: string) =>
    createReadiness({ ...instance, pool, dataDirectory, log, takesNoWrites: () => isRefused });
  const ready = readinessAt(os.tmpdir());
  assert.equal(await ready(), undefined);
  const { owner } = database;
  await owner.query('insert into db.migrations (version, name) values ($1, $2)', [SCHEMA_VERSION + 1, 'later.sql']);
  assert.equal(await ready(), undefined, 'a newer schema that this build can use');
  await owner.query('update db.compatibility set oldest_schema = oldest_schema + 1000');
  assert.match((await ready()) ?? '', /^The database has a newer schema than this build\. Start a build/);
  await owner.query('update db.compatibility set oldest_schema = oldest_schema - 1000');
  await owner.query('delete from db.migrations where version = $1', [SCHEMA_VERSION + 1]);
  assert.equal(await ready(), undefined);
  assert.equal(await readinessAt('/nowhere')(), 'The data directory cannot be written to.');
  if (disk !== undefined) {
    disk.fill();
    assert.equal(await readinessAt(disk.directory)(), 'The disk of the data directory is full.');
    disk.grow();
    assert.equal(await readinessAt(disk.directory)(), undefined);
  }
  isRefused = true;
  assert.equal(await ready(), 'The database takes no writes.');
  isRefused = false;
  assert.equal(await ready(), undefined);
  await owner.query('revoke update on db.instances from purser_live'); // As a server that only lets itself be read.
  await waitUntil('two renewals have failed', async () => (await ready()) === 'The database takes no writes.');
  await owner.query('grant update on db.instances to purser_live');
  await waitUntil('it takes writes again', async () => (await ready()) === undefined);
});

test('OP-10 a newer schema is left as it is', async () => {
  await database.owner.query(`insert into db.migrations (version, name) values ($1, 'from the future')`, [
    SCHEMA_VERSION + 1,
  ]);
  await database.owner.query(`update db.functions set digest = sha256('newer') where name = 'ledger.credit'`);
  assert.deepEqual(await migrate(anotherProcess()), { migrations: [], functions: [], isNewer: true });
  const { rows } = await database.owner.query(`select name from db.functions where digest = sha256('newer')`);
  assert.deepEqual(rows, [{ name: 'ledger.credit' }]);
  await database.owner.query('update db.compatibility set oldest_schema = $1', [SCHEMA_VERSION + 1]);
  const refused = migrate(anotherProcess());
  await assert.rejects(refused, (fault) => {
    return fault instanceof MigrationError && fault.message.includes(`schema ${SCHEMA_VERSION + 1}`);
  });
});

test('OP-10 a database from before the release is refused in one sentence', async () => {
  const before = await createTestDatabase({ isEmpty: true });
  const dataDirectory = mkdtempSync(path.join(os.tmpdir(), 'purser-before-'));
  await before.owner.query(FROM_BEFORE);
  const options = { dataDirectory, catalogue: {}, databaseUrl: before.url };
  try {
    const started = await runToEnd({ ...options, environment: { PURSER_CATALOGUE: '' } }, 'serve');
    assert.equal(started.status, 78);
    assert.equal(
      started.said,
      'The database was made by a build from before version 0.1.0 was released and cannot be upgraded: keep that build for it, or name ' +
        'an empty database in DATABASE_URL or, where Purser starts its own, another directory in PURSER_DATA_DIR.\n',
    );
    const examined = await runToEnd(options, 'doctor', '--local');
    assert.equal(examined.status, 1);
    assert.match(
      examined.said,
      /^BAD {2}schema: The database was made by a build from before version 0\.1\.0 was released and cannot be upgraded\.\n.*\n {5}Keep that build for it, or name an empty database in DATABASE_URL\.$/m,
    );
  } finally {
    rmSync(dataDirectory, { recursive: true });
    await before.close();
  }
});

test('OP-10 a user who may not create roles is told so', async () => {
  const bare = await createTestDatabase({ isEmpty: true });
  await bare.owner.query(`create role bare_${process.pid} login password 'bare'`);
  const { rows } = await bare.owner.query<{ name: string }>('select current_database() as name');
  await bare.owner.query(`alter database ${rows[0]?.name} owner to bare_${process.pid}`);
  // The roles already exist on this server, so the user lacks only the right to be granted them.
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
