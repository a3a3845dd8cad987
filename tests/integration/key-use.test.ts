import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newApiKey } from '../../packages/service/src/developers/keys/key-text.ts';
import { touchKeys } from '../../packages/service/src/developers/keys/queries.ts';
import { register } from '../../packages/service/src/developers/registration.ts';
import { type KeyId, newAccountId, newAppId, newKeyId } from '../../packages/service/src/kernel/values/ids.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { untilWaiting } from '../support/lock-wait.ts';
import { sqlValue } from '../support/sql.ts';

let database: TestDatabase;
const keys = [newKeyId(), newKeyId()].toSorted() as [KeyId, KeyId];

before(async () => {
  database = await createTestDatabase();
  await register(database.owner, {
    account: { accountId: newAccountId(), email: 'owner@example.test', name: 'Owner' },
    app: { appId: newAppId(), name: 'App', redirectUris: [], isFirstParty: false, limits: undefined },
    keys: keys.toReversed().map((keyId) => ({ keyId, apiKey: newApiKey('live') })),
  });
});

after(() => database.close());

async function secondsAgo(keyId: KeyId): Promise<number> {
  const ago = await sqlValue<number>(database)`select round(extract(epoch
    from clock_timestamp() - last_used_at) / 100)::int * 100 as ago from accounts.api_keys where key_id = ${keyId}`;
  return ago ?? Number.NaN;
}

test('CP-03 an earlier use never replaces a later one', async () => {
  const [keyId] = keys;
  await touchKeys(database.owner, [{ keyId, agoMs: 3_000_000 }]);
  assert.equal(await secondsAgo(keyId), 3_000);
  await touchKeys(database.owner, [{ keyId, agoMs: 1_000_000 }]);
  assert.equal(await secondsAgo(keyId), 1_000);
  await touchKeys(database.owner, [{ keyId, agoMs: 2_000_000 }]);
  assert.equal(await secondsAgo(keyId), 1_000);
});

test('CP-03 two processes never await each other’s key locks', async () => {
  const [first, last] = keys;
  const client = await database.owner.connect();
  await client.query('begin');
  await client.query('select from accounts.api_keys where key_id = $1 for update', [first]);
  const uses = [last, first].map((keyId) => ({ keyId, agoMs: 0 }));
  const noted = touchKeys(database.owner, uses);
  try {
    await untilWaiting(database, 1);
    // A statement that waits for the first key has not locked the last one, though it comes first in statement and table.
    await client.query('select from accounts.api_keys where key_id = $1 for update nowait', [last]);
  } finally {
    await client.query('rollback');
    client.release();
    await noted;
  }
});
