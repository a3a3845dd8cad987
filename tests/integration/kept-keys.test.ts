import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openKeptKeys, replaceSecret } from '../../packages/service/src/db/kept-keys.ts';
import { deriveKey } from '../../packages/service/src/kernel/crypto.ts';
import { KEPT_PURPOSES, type KeptKeys } from '../../packages/service/src/kernel/keys.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const [OLD, NEW, THIRD] = ['the old', 'the new', 'a third'].map((which) =>
  Buffer.from(`${which} secret of this test, long enough`),
) as [Buffer, Buffer, Buffer];

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
});

after(() => database.close());

/** The database as it is before its first start. */
async function newDatabase() {
  const { owner } = database;
  await owner.query(
    'delete from db.kept_keys; delete from db.instances; update db.identity set secret_fingerprint = null',
  );
  /** The keys as a process with these secrets opens them. Undefined if it refuses to start. */
  const start = async (secret: Buffer, secretAlso?: Buffer, isGateway = true) =>
    textOf((await openKeptKeys(owner, { secret, secretAlso }, { isGateway }))?.keys);
  const replace = (secret: Buffer, secretAlso: Buffer | undefined, isLost: boolean) =>
    replaceSecret(owner, { secret, secretAlso }, { isLost });
  return { owner, start, replace };
}

function textOf(keys: KeptKeys | undefined) {
  return keys && Object.fromEntries(Object.entries(keys).map(([purpose, key]) => [purpose, key.toString('hex')]));
}

test('B5 CC-14 the keys of a database stay the same while PURSER_SECRET changes, in any order of starts', async () => {
  const { start } = await newDatabase();
  const first = await start(OLD);
  assert.equal(new Set(Object.values(first ?? {})).size, KEPT_PURPOSES.length, 'each purpose has a key of its own');
  assert.equal(await start(NEW), undefined, 'another secret does not open it');
  // Processes of both kinds, started and restarted in turn.
  for (const [secret, also] of [
    [OLD, NEW],
    [NEW, OLD],
    [OLD, NEW],
    [OLD, undefined], // One that was forgotten, and crashed. It ends a change that goes on.
    [NEW, OLD],
    [NEW, undefined],
  ] as const) {
    assert.deepEqual(await start(secret, also), first);
  }
  assert.equal(await start(OLD), undefined, 'the old secret alone no longer opens it');
  assert.deepEqual(await start(OLD, NEW), first, 'it does beside the new one');
});

test('B5 CC-14 a command with one secret ends no change, and only the last gateway does', async () => {
  const { start } = await newDatabase();
  const first = await start(OLD);
  await start(NEW, OLD);
  assert.deepEqual(await start(NEW, undefined, false), first);
  assert.deepEqual(await start(OLD, undefined, false), first);
  assert.deepEqual(await start(NEW), first);
  assert.equal(await start(OLD, undefined, false), undefined);
});

test('B5 CC-14 a database from before keys were kept keeps the ones that were derived from its secret', async () => {
  const { owner, start } = await newDatabase();
  await start(OLD); // For the fingerprint, which such a database has.
  await owner.query('delete from db.kept_keys');
  assert.equal(await start(NEW), undefined);
  const opened = await start(NEW, OLD);
  assert.equal(opened?.['provider-user'], deriveKey(OLD, 'provider-user').toString('hex'));
  assert.deepEqual(await start(NEW), opened);
});

test('B5 CC-14 a purpose that is new in this build gets its key, and one of a newer build is kept', async () => {
  const { owner, start } = await newDatabase();
  const first = await start(OLD);
  await owner.query(`delete from db.kept_keys where purpose = 'audit-head'`);
  await owner.query(
    `insert into db.kept_keys select 'of-later', fingerprint, sealed from db.kept_keys where purpose = 'attempts'`,
  );
  await assert.rejects(start(OLD), /authenticate/, 'a key that was copied to another purpose is not opened');
  await owner.query(`delete from db.kept_keys where purpose = 'of-later'`);
  const second = await start(OLD);
  assert.notEqual(second?.['audit-head'], first?.['audit-head']);
  assert.deepEqual({ ...second, 'audit-head': '' }, { ...first, 'audit-head': '' });
  assert.deepEqual(await start(OLD), second);
});

test('B5 `secret replace` keeps the keys that it can open, and gives up others only when told that the secret is lost', async () => {
  const { owner, start, replace } = await newDatabase();
  const first = await start(OLD);
  assert.equal(await replace(NEW, undefined, false), 'unopened');
  assert.deepEqual(await start(OLD), first, 'nothing was changed');
  const kept = await replace(NEW, OLD, true);
  assert.ok(typeof kept === 'object');
  assert.deepEqual(textOf(kept), first);
  assert.equal(await start(OLD), undefined, 'the old secret is void at once');
  const lost = await replace(THIRD, undefined, true);
  assert.ok(typeof lost === 'object');
  assert.equal(Object.entries(textOf(lost) ?? {}).filter(([purpose, key]) => first?.[purpose] === key).length, 0);
  assert.deepEqual(await start(THIRD), textOf(lost));
  assert.equal(await start(NEW), undefined);
  await owner.query(`insert into db.instances (lease_until) values (clock_timestamp() + interval '1 minute')`);
  assert.equal(await replace(NEW, THIRD, true), 'running');
});
