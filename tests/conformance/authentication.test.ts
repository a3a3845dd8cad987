import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { newApiKey } from '../../packages/service/src/developers/keys/key-text.ts';
import { chat, send } from '../support/client.ts';
import { callRoute, DATA_PLANE, everyRouteRefuses, FOR_USER } from '../support/every-route-refuses.ts';
import { setApp, untilRefused } from '../support/operator-acts.ts';
import { completionBody } from '../support/scripted-upstream.ts';
import { sql } from '../support/sql.ts';
import { setStage } from '../support/stage.ts';

const { upstream, service, app, callAs } = await setStage();
upstream.script({
  body: completionBody({ model: 'm', content: 'Hi.', usage: { prompt_tokens: 1, completion_tokens: 1 } }),
});

function mistyped(key: string): string {
  return key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a');
}

const UNAUTHORIZED = { code: 'UNAUTHORIZED', param: null, hasLink: false } as const;

test('AU-01 a call without a key is unauthorized on every route', async () => {
  await everyRouteRefuses(DATA_PLANE, { url: service.url, user: 'u' }, UNAUTHORIZED);
});

test('AU-01 a malformed authorization header is unauthorized on every route', async () => {
  const key = app.liveKey;
  const malformed = [
    '',
    'Bearer',
    `Basic ${key}`,
    key,
    `Bearer ${key} ${key}`,
    `Bearer ${key},`,
    `Bearer: ${key}`,
    'Bearer é',
  ];
  for (const authorization of malformed) {
    await everyRouteRefuses(DATA_PLANE, { url: service.url, user: 'u', headers: { authorization } }, UNAUTHORIZED);
  }
});

test('AU-01 an unknown key is unauthorized on every route', async () => {
  const unknown = [newApiKey('live'), newApiKey('sandbox'), mistyped(app.liveKey), 'sk-123', `${app.liveKey}0`];
  for (const key of unknown) await everyRouteRefuses(DATA_PLANE, { url: service.url, key, user: 'u' }, UNAUTHORIZED);
});

test('AU-01 an unauthorized answer names the expected scheme', async () => {
  const reply = await send('/v1/models', { url: service.url });
  assert.equal(reply.headers.get('www-authenticate'), 'Bearer');
});

test('AU-01 the authorization scheme is case-insensitive', async () => {
  for (const scheme of ['bearer', 'BEARER', 'Bearer ']) {
    const reply = await send('/v1/models', {
      url: service.url,
      headers: { authorization: `${scheme} ${app.liveKey}` },
    });
    assert.equal(reply.status, 200, reply.text);
  }
});

test('AU-02 a suspended app’s key is refused as suspended on every route', async () => {
  const suspended = await service.addApp();
  await setApp(service, suspended, `status = 'suspended'`);
  for (const key of [suspended.liveKey, suspended.testKey]) {
    await untilRefused(service.url, key, 'APP_SUSPENDED');
    const expected = { code: 'APP_SUSPENDED', param: null, hasLink: false } as const;
    await everyRouteRefuses(DATA_PLANE, { url: service.url, key, user: 'u' }, expected);
  }
  await everyRouteRefuses(DATA_PLANE, { url: service.url, key: mistyped(suspended.liveKey), user: 'u' }, UNAUTHORIZED);
});

const NO_USER = { code: 'BAD_REQUEST', param: 'x-service-user', hasLink: false } as const;

test('AU-03 end-user routes refuse a call without a user', async () => {
  for (const key of [app.liveKey, app.testKey]) {
    await everyRouteRefuses(FOR_USER, { url: service.url, key }, NO_USER);
    await everyRouteRefuses(FOR_USER, { url: service.url, key, user: '' }, NO_USER);
  }
});

test('AU-03 the model routes ignore the user header', async () => {
  for (const route of DATA_PLANE.filter(({ isForUser }) => !isForUser)) {
    for (const call of [{}, { user: 'not well formed' }]) {
      const reply = await callRoute(route, { url: service.url, key: app.liveKey, ...call });
      assert.equal(reply.status, 200, reply.text);
    }
  }
});

test('AU-04 a user that is not 1 to 256 visible ASCII characters is refused', async () => {
  for (const user of ['a'.repeat(257), 'a b', 'a\tb', 'user-\u00e9', '\u00ff', 'a, b']) {
    await everyRouteRefuses(FOR_USER, { url: service.url, key: app.liveKey, user }, NO_USER);
  }
});

test('AU-04 a user named twice is refused', async () => {
  const names = ['first', 'second'] as unknown as string; // Node sends each on a header line of its own.
  const call = { url: service.url, key: app.liveKey, headers: { 'x-service-user': names } };
  await everyRouteRefuses(FOR_USER, call, NO_USER);
});

test('AU-04 users are distinguished byte by byte', async () => {
  const visible = Array.from({ length: 94 }, (_, index) => String.fromCodePoint(0x21 + index)).join('');
  const users = ['Anna', 'anna', 'ANNA', 'anna.', '0', visible, 'a'.repeat(256), 'a'.repeat(255)];
  for (const [index, user] of users.entries()) await service.fund(app, user, 1_000_000 + index);
  for (const [index, user] of users.entries()) {
    const reply = await send('/balance', { url: service.url, key: app.liveKey, user });
    assert.equal(reply.body['userId'], user);
    assert.equal(reply.body['balanceMicros'], 1_000_000 + index);
    const call = await callAs(user);
    assert.equal(call.status, 200, call.text);
    assert.equal((await service.wallet(app, user)).balance, 1_000_000 + index - 6); // (1 + 4) x 1.1, rounded up.
  }
});

test('AU-07 the prefix of a key shows its mode', async () => {
  assert.match(app.testKey, /^svc_test_/);
  assert.match(app.liveKey, /^svc_live_/);
  for (const [key, mode] of [
    [app.testKey, 'sandbox'],
    [app.liveKey, null],
  ] as const) {
    const reply = await chat({ url: service.url, key, user: 'mode' });
    assert.equal(reply.headers.get('x-service-mode'), mode);
  }
});

test('AU-07 the database refuses to change a key’s mode, digest or app', async () => {
  const other = await service.addApp();
  const changes = [`mode = 'live'`, `digest = sha256('x')`, `app_id = '${other.appId}'`, `key_id = 'key_other'`];
  for (const change of changes) {
    const statement = `update accounts.api_keys set ${change} where app_id = $1 and mode = 'sandbox'`;
    await assert.rejects(service.database.owner.query(statement, [app.appId]), /only revoked/);
  }
});

test('AU-08 the database stores only the digest of a key', async () => {
  const rows = await sql<{ digest: Buffer; hint: string; mode: string }>(service)`select digest, hint, mode
    from accounts.api_keys where app_id = ${app.appId}`;
  const digests = new Map(rows.map((row) => [row.mode, row.digest.toString('hex')]));
  assert.equal(digests.get('live'), sha256Of(app.liveKey));
  assert.equal(digests.get('sandbox'), sha256Of(app.testKey));
  for (const { hint } of rows) assert.ok(hint.length <= 'svc_live_'.length + 7, `${hint} reveals too much`);

  const secret = app.liveKey.slice('svc_live_'.length);
  for (const table of await tables()) {
    const { rows: found } = await service.database.owner.query(`select 1 from ${table} t where t::text like $1`, [
      `%${secret}%`,
    ]);
    const { rows: asBytes } = await service.database.owner.query(`select 1 from ${table} t where t::text like $1`, [
      `%${Buffer.from(secret).toString('hex')}%`,
    ]);
    assert.equal(found.length + asBytes.length, 0, `${table} holds the key`);
  }
});

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

async function tables(): Promise<readonly string[]> {
  const rows = await sql<{ name: string }>(service)`select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`;
  assert.ok(rows.length >= 10);
  return rows.map(({ name }) => name);
}
