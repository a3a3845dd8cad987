import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestOfApiKey, modeOfApiKey, newApiKey } from '#developers/keys/key-text.ts';
import { createKeyDirectory } from '#developers/keys/directory.ts';
import type { Queryable } from '#db/pool/pool.ts';
import { newAppId, newKeyId } from '#kernel/values/ids.ts';

const DEFAULTS = {
  ratePerMinute: 600,
  rateBurst: 100,
  maxStreamsPerUser: 4,
  maxCallsPerUser: 16,
  maxCallsPerApp: 1_000,
};

/** A database without keys that counts its queries. */
function emptyDatabase() {
  let asked = 0;
  const query = async () => {
    asked += 1;
    return { rows: [], rowCount: 0 };
  };
  return { db: { query } as unknown as Queryable, asked: () => asked };
}

test('AU-08 a mistyped key is refused without a database read', async () => {
  const { db, asked } = emptyDatabase();
  const keys = createKeyDirectory(db, DEFAULTS, () => {});
  const key = newApiKey('live');
  const mistyped = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
  for (const text of [mistyped, '', 'sk-123', key.slice(1), `${key}0`, key.replace('live', 'test')]) {
    assert.equal(await keys.find(text), undefined);
  }
  assert.equal(asked(), 0);
});

test('AU-01 an unknown key is looked up once', async () => {
  const { db, asked } = emptyDatabase();
  const keys = createKeyDirectory(db, DEFAULTS, () => {});
  const key = newApiKey('live');
  assert.equal(await keys.find(key), undefined);
  const once = asked();
  assert.ok(once > 0);
  for (let count = 0; count < 10; count += 1) assert.equal(await keys.find(key), undefined);
  assert.equal(asked(), once);
});

test('AU-01 concurrent calls with an uncached key share one look-up', async () => {
  const apiKey = newApiKey('live');
  const { app, key } = rowsOf(apiKey);
  const asked: string[] = [];
  const db = {
    query: async (text: string) => {
      asked.push(text);
      return { rows: [text.includes('digest = $1') ? key : app] };
    },
  } as unknown as Queryable;
  const keys = createKeyDirectory(db, DEFAULTS, () => {});
  const found = await Promise.all(Array.from({ length: 20 }, async () => keys.find(apiKey)));
  assert.ok(found.every((caller) => caller?.app.appId === app.app_id));
  assert.ok(!(keys.find(apiKey) instanceof Promise), 'and from then on nothing is asked');
  assert.equal(asked.length, 2);
});

test('AU-01 a failed look-up is not remembered', async () => {
  const apiKey = newApiKey('live');
  const { app, key } = rowsOf(apiKey);
  let isBroken = true;
  const db = {
    query: async (text: string) => {
      if (isBroken) throw new Error('gone');
      return { rows: [text.includes('digest = $1') ? key : app] };
    },
  } as unknown as Queryable;
  const keys = createKeyDirectory(db, DEFAULTS, () => {});
  await assert.rejects(async () => keys.find(apiKey), /gone/);
  isBroken = false;
  assert.equal((await keys.find(apiKey))?.app.appId, app.app_id);
});

/** The database rows of a key and its app. */
function rowsOf(apiKey: string) {
  const appId = newAppId();
  const generation = 7n;
  return {
    app: {
      app_id: appId,
      status: 'active',
      is_first_party: false,
      rate_per_minute: null,
      rate_burst: null,
      max_streams_per_user: null,
      generation,
    },
    key: {
      key_id: newKeyId(),
      app_id: appId,
      digest: digestOfApiKey(apiKey),
      mode: modeOfApiKey(apiKey),
      revoked_at: null,
      generation,
      counts_as: null,
      expires_at: null,
      models: null,
      addresses: null,
      rate_per_minute: null,
      budget_micros: null,
    },
  };
}

test('AU-01 a key registered during a refresh works', async () => {
  const apiKey = newApiKey('live');
  const { app, key } = rowsOf(apiKey);
  let isRegistered = false;
  const db = {
    query: async (text: string) => {
      const isOfApps = text.includes('from accounts.apps');
      if (text.includes('greatest')) return { rows: [{ newest: 6n }] };
      if (isRegistered) return { rows: [isOfApps ? app : key] };
      // The registration commits just after the first of the two statements, which may be either of them.
      isRegistered = true;
      return { rows: [] };
    },
  } as unknown as Queryable;
  const keys = createKeyDirectory(db, DEFAULTS, () => {});
  await keys.refresh();
  assert.equal((await keys.find(apiKey))?.app.appId, app.app_id);
});

test('AU-09 a stale look-up does not undo a revocation', async () => {
  const apiKey = newApiKey('live');
  const { app, key } = rowsOf(apiKey);
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const revoked = { ...key, revoked_at: new Date(0), generation: 8n };
  const db = {
    query: async (text: string) => {
      if (text.includes('greatest')) return { rows: [{ newest: 8n }] };
      if (text.includes('digest = $1')) {
        await answered; // This row was read before the revocation and arrives after it.
        return { rows: [key] };
      }
      if (text.includes('from accounts.apps')) return { rows: [app] };
      return { rows: [revoked] };
    },
  } as unknown as Queryable;
  const keys = createKeyDirectory(db, DEFAULTS, () => {});
  const found = keys.find(apiKey);
  await keys.refresh();
  answer();
  assert.equal(await found, undefined);
  assert.equal(await keys.find(apiKey), undefined);
});
