import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  openAuthenticator,
  sealAuthenticator,
} from '../../packages/service/src/developers/factors/authenticator-secret.ts';
import {
  insertAuthenticator,
  selectAuthenticatorSecret,
} from '../../packages/service/src/developers/factors/queries.ts';
import { replaceSecretNow } from '../../packages/service/src/app/secrets/open-keys.ts';
import { openKeptKeys } from '../../packages/service/src/db/identity/kept-keys.ts';
import { deriveKey } from '../../packages/service/src/kernel/crypto/crypto.ts';
import type { AccountId } from '../../packages/service/src/kernel/values/ids.ts';
import { KEPT_PURPOSES, type KeptKeys } from '../../packages/service/src/kernel/crypto/keys.ts';
import { selectSubscription, upsertSubscription } from '../../packages/service/src/webhooks/subscriptions/queries.ts';
import { createSigningSecrets } from '../../packages/service/src/webhooks/delivery/signing-secret.ts';
import { catalogueAt } from '../support/catalogue.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestGround } from '../support/service.ts';
import { sql } from '../support/sql.ts';

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
  await sql(owner)`delete from db.kept_keys; delete from db.instances; update db.identity
    set secret_fingerprint = null`;
  /** The keys as a process with these secrets opens them. Undefined if it refuses to start. */
  const start = async (secret: Buffer, secretAlso?: Buffer, isGateway = true) =>
    textOf((await openKeptKeys(owner, { secret, secretAlso }, { isGateway }))?.keys);
  const replace = (secret: Buffer, { secretAlso, isLost = false }: { secretAlso?: Buffer; isLost?: boolean } = {}) =>
    replaceSecretNow(owner, { secret, secretAlso }, { isLost });
  return { owner, start, replace };
}

/** The purposes whose keys differ. */
function differing(...[first, second]: readonly ReturnType<typeof textOf>[]): readonly string[] {
  return KEPT_PURPOSES.filter((purpose) => first?.[purpose] !== second?.[purpose]).toSorted();
}

function textOf(keys: KeptKeys | undefined) {
  return keys && Object.fromEntries(Object.entries(keys).map(([purpose, key]) => [purpose, key.toString('hex')]));
}

test('OP-13 a database’s keys stay the same while PURSER_SECRET changes', async () => {
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

test('OP-13 the last gateway alone ends a secret change', async () => {
  const { start } = await newDatabase();
  const first = await start(OLD);
  await start(NEW, OLD);
  assert.deepEqual(await start(NEW, undefined, false), first);
  assert.deepEqual(await start(OLD, undefined, false), first);
  assert.deepEqual(await start(NEW), first);
  assert.equal(await start(OLD, undefined, false), undefined);
});

test('OP-13 an older database keeps its derived keys', async () => {
  const { owner, start } = await newDatabase();
  await start(OLD); // For the fingerprint, which such a database has.
  await sql(owner)`delete from db.kept_keys`;
  assert.equal(await start(NEW), undefined);
  const opened = await start(NEW, OLD);
  assert.equal(opened?.['provider-user'], deriveKey(OLD, 'provider-user').toString('hex'));
  assert.deepEqual(await start(NEW), opened);
});

test('OP-13 keys of unknown purposes are kept', async () => {
  const { owner, start } = await newDatabase();
  const first = await start(OLD);
  await sql(owner)`delete from db.kept_keys where purpose = 'audit-head'`;
  await sql(owner)`insert into db.kept_keys select 'of-later', fingerprint, sealed from db.kept_keys
    where purpose = 'attempts'`;
  await assert.rejects(start(OLD), /authenticate/, 'a key that was copied to another purpose is not opened');
  await sql(owner)`delete from db.kept_keys where purpose = 'of-later'`;
  const second = await start(OLD);
  assert.notEqual(second?.['audit-head'], first?.['audit-head']);
  assert.deepEqual({ ...second, 'audit-head': '' }, { ...first, 'audit-head': '' });
  assert.deepEqual(await start(OLD), second);
});

test('OP-13 `secret replace` gives up only what it cannot open', async () => {
  const { owner, start, replace } = await newDatabase();
  const first = await start(OLD);
  await assert.rejects(replace(NEW), /Neither PURSER_SECRET nor PURSER_SECRET_ALSO opens this database/);
  assert.deepEqual(await start(OLD), first, 'nothing was changed');
  assert.equal(await replace(NEW, { secretAlso: OLD, isLost: true }), 'replaced');
  assert.equal(await start(OLD), undefined, 'the old secret is void at once');
  const second = (await start(NEW)) ?? assert.fail();
  assert.deepEqual(differing(first, second), ['account-authenticator', 'audit-head', 'webhook-secrets']);
  assert.equal(await replace(THIRD, { isLost: true }), 'lost');
  assert.deepEqual(differing(second, await start(THIRD)), KEPT_PURPOSES.toSorted());
  assert.equal(await start(NEW), undefined);
  await sql(owner)`insert into db.instances (lease_until) values (clock_timestamp() + interval '1 minute')`;
  await assert.rejects(replace(NEW, { secretAlso: THIRD }), /A gateway runs on this database/);
});

test('OP-13 `secret replace` reseals stored secrets without anyone noticing', async () => {
  const { owner, replace } = await newDatabase();
  const { addApp } = await createTestGround(catalogueAt('http://127.0.0.1:9'), database);
  const { appId } = await addApp();
  const accountId = (
    (await owner.query('select account_id from accounts.accounts')).rows[0] as { account_id: AccountId }
  ).account_id;
  const keysBy = async (secret: Buffer) =>
    (await openKeptKeys(owner, { secret }, { isGateway: true }))?.keys ?? assert.fail();
  const before = await keysBy(OLD);
  const sealed = createSigningSecrets(before['webhook-secrets']).seal(appId, 'whsec_1');
  const subscribed = {
    appId,
    endpointUrl: 'https://app.test/hook',
    events: ['topup.completed'],
    threshold: undefined,
  } as const;
  await upsertSubscription(owner, subscribed, { sealed, fingerprint: '0123456789abcdef' });
  const secret = sealAuthenticator(before['account-authenticator'], accountId, Buffer.from('totp'));
  await insertAuthenticator(owner, { accountId, secret, step: 1 });

  await replace(NEW, { secretAlso: OLD });
  const after = await keysBy(NEW);
  const row = await selectSubscription(owner, appId);
  const open = (keys: KeptKeys) => row && createSigningSecrets(keys['webhook-secrets']).open(appId, row.sealed_secret);
  assert.deepEqual([open(after), open(before), row?.secret_fingerprint], ['whsec_1', undefined, '0123456789abcdef']);
  const kept = (await selectAuthenticatorSecret(owner, accountId)) ?? assert.fail();
  const opened = [after, before].map((keys) =>
    openAuthenticator(keys['account-authenticator'], accountId, kept)?.toString(),
  );
  assert.deepEqual(opened, ['totp', undefined]);
});
