import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { oldestAfter } from '../../packages/service/src/db/schema/judge-upgrade.ts';
import { SCHEMA_VERSION } from '../../packages/service/src/db/schema/migrate.ts';
import { runHere } from '../support/commands.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

/** What `purser upgrade --check` says of a database that an older or a newer build has left. */

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

async function check(t: TestContext, url: string = database.url) {
  const { status, lines } = await runHere(t, ['upgrade', '--check'], { environment: { DATABASE_URL: url } });
  return { status, said: lines.join('\n') };
}

test('OP-10 an upgrade that only adds is rolling, and the check adds nothing', async (t) => {
  const { rows } = await database.owner.query('delete from db.migrations where version > 20 returning version, name');
  const { status, said } = await check(t);
  const left = await database.owner.query('select max(version) as newest from db.migrations');
  for (const row of rows as { version: number; name: string }[]) {
    await database.owner.query('insert into db.migrations (version, name) values ($1, $2)', [row.version, row.name]);
  }
  assert.equal(status, 0, said);
  assert.match(
    said,
    new RegExp(`has schema 20, and this build ${SCHEMA_VERSION}\\..* applies ${rows.length} migrations`),
  );
  assert.match(said, /Rolling: yes/);
  assert.deepEqual(left.rows, [{ newest: 20 }]);
});

test('OP-10 the check of an older build says whether it can go back', async (t) => {
  const { owner } = database;
  await owner.query(`insert into db.migrations (version, name) values (9000, '9000_later.sql')`);
  const usable = await check(t);
  assert.equal(usable.status, 0, usable.said);
  assert.match(usable.said, /has schema 9000, and this older build/);
  await owner.query('update db.compatibility set oldest_schema = 9000');
  const refused = await check(t);
  assert.equal(refused.status, 1);
  assert.match(refused.said, /^No start: .*builds from schema 9000 on can use/);
  await owner.query('update db.compatibility set oldest_schema = 20');
  await owner.query('delete from db.migrations where version = 9000');
});

test('OP-10 the check of an empty database names DATABASE_URL', async (t) => {
  const empty = await createTestDatabase({ isEmpty: true });
  t.after(empty.close);
  const { status, said } = await check(t, empty.url);
  assert.deepEqual([status, said], [1, 'Nothing to upgrade: no Purser has used this database. Check DATABASE_URL.']);
});

const takes = (number: number) => `drop table db.t;\nupdate db.compatibility set oldest_schema = ${number};`;

test('OP-10 a migration that takes something away ends what may run beside it', () => {
  assert.equal(oldestAfter(['create table db.t ();']), undefined);
  assert.equal(oldestAfter([takes(24), 'create table db.u ();', takes(26)]), 26);
});
