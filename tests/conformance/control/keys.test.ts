import { sealedEmail } from '../../support/database.ts';
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import pg from 'pg';
import { digestOfApiKey, newApiKey } from '../../../packages/service/src/developers/keys/key-text.ts';
import { newKeyId } from '../../../packages/service/src/kernel/values/ids.ts';
import { type Reply, send } from '../../support/client.ts';
import { newOperator, newOwner } from '../../support/control.ts';
import { signedInBrowser } from '../../support/page.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { scenariosOf } from '../../support/scenarios.ts';
import { startSecondGateway } from '../../support/service.ts';
import { sql, sqlValue } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';

const stage = await setStage();
const scenarios = scenariosOf(stage);
const { service } = stage;
const owner = await newOwner(service);
const operator = await newOperator(service);

interface Key {
  readonly keyId: string;
  readonly apiKey: string;
}

interface ListedKey {
  readonly keyId: string;
  readonly hint: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
}

async function newApp(): Promise<string> {
  return String((await owner.get(201, 'POST', '/apps', { name: 'App' }))['appId']);
}

async function mint(appId: string, mode: 'live' | 'sandbox' = 'live'): Promise<Key> {
  return (await owner.get(201, 'POST', `/apps/${appId}/keys`, { mode })) as unknown as Key;
}

async function listKeys(appId: string): Promise<readonly ListedKey[]> {
  const { keys } = await owner.get(200, 'GET', `/apps/${appId}/keys`);
  return keys as ListedKey[];
}

function models(url: string, key: string): Promise<number> {
  return send('/v1/models', { url, key }).then(({ status }) => status);
}

/** Counts this process’s queries for one key or one app. Its queries for changes are not counted. */
function watchLooks(t: TestContext): () => number {
  const query = t.mock.method(pg.Client.prototype, 'query');
  return () => {
    const said = query.mock.calls.map(({ arguments: [asked] }) => JSON.stringify(asked) ?? '');
    return said.filter((text) => /accounts\.(apps|api_keys) where (digest|app_id) = /.test(text)).length;
  };
}

const OTHERS = `0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-.~+/=!#$%&'*^|{}"(),:;<>?@[]\\`;

/** The test of `isApiKey` tries every change of a key. A request for each would take eight seconds, so this one takes a few of each place. */
const EVERY = 31;

test('AU-08 a key with one character changed is refused without a query', async (t) => {
  const appId = await newApp();
  for (const mode of ['live', 'sandbox'] as const) {
    const { apiKey } = await mint(appId, mode);
    assert.equal(await models(service.url, apiKey), 200);
    const all = Array.from(apiKey).flatMap((own, index) =>
      Array.from(OTHERS)
        .filter((other) => other !== own)
        .map((other) => apiKey.slice(0, index) + other + apiKey.slice(index + 1)),
    );
    const changed = all.filter((_, index) => index % EVERY === 0);
    const counted = watchLooks(t);
    for (let from = 0; from < changed.length; from += 50) {
      const asked = changed.slice(from, from + 50);
      const statuses = await Promise.all(asked.map((key) => models(service.url, key)));
      assert.deepEqual(
        asked.filter((_, index) => statuses[index] !== 401),
        [],
      );
    }
    assert.equal(counted(), 0);
    t.mock.restoreAll();
    t.diagnostic(`${changed.length} changes of a ${mode} key, each a 401`);
  }
});

test('AU-08 an unknown key costs one database query, and none later', async (t) => {
  const counted = watchLooks(t);
  const key = newApiKey('live');
  for (let count = 0; count < 5; count += 1) assert.equal(await models(service.url, key), 401);
  assert.equal(counted(), 1);
});

test('AU-09 calls with a known key query neither keys nor apps', async (t) => {
  const [appId, suspended] = [await newApp(), await newApp()];
  const [inForce, revoked, other] = [await mint(appId), await mint(appId), await mint(suspended)];
  for (const { apiKey } of [inForce, revoked, other]) assert.equal(await models(service.url, apiKey), 200);
  await owner.get(204, 'DELETE', `/apps/${appId}/keys/${revoked.keyId}`);
  assert.equal(
    await models(service.url, revoked.apiKey),
    401,
    'the revocation holds at once on the process that did it',
  );
  await operator.get(200, 'POST', `/operator/apps/${suspended}/suspend`, { reason: 'a test' });
  assert.equal(await models(service.url, other.apiKey), 403, 'so does the suspension');
  const statuses = async () => Promise.all([inForce, revoked, other].map(({ apiKey }) => models(service.url, apiKey)));
  const counted = watchLooks(t);
  for (let count = 0; count < 50; count += 1) assert.deepEqual(await statuses(), [200, 401, 403]);
  assert.equal(counted(), 0);
});

test('AU-09 a revocation or suspension answers once every process has confirmed it', async (t) => {
  const second = await startSecondGateway(service);
  t.after(second.close);
  const [appId, suspended] = [await newApp(), await newApp()];
  const [revoked, other] = [await mint(appId), await mint(suspended, 'sandbox')];
  for (const { apiKey } of [revoked, other]) assert.equal(await models(second.url, apiKey), 200);
  const sinceMs = performance.now();
  const acted = async (act: Promise<Reply>, { apiKey }: Key, status: number) => {
    const { headers } = await act;
    assert.equal(await models(second.url, apiKey), status, 'the very next request, at the other process');
    assert.equal(headers.get('x-service-unconfirmed'), null);
  };
  const operators = (act: string) => operator.ask('POST', `/operator/apps/${suspended}/${act}`, { reason: 'a test' });
  await acted(owner.ask('DELETE', `/apps/${appId}/keys/${revoked.keyId}`), revoked, 401);
  for (let times = 0; times < 2; times += 1) {
    await acted(operators('suspend'), other, 403);
    await acted(operators('resume'), other, 200);
  }
  await acted(
    owner.ask('PATCH', `/apps/${suspended}/keys/${other.keyId}`, { limits: { addresses: ['192.0.2.1'] } }),
    other,
    403,
  );
  t.diagnostic(`six acts took ${Math.round(performance.now() - sinceMs)} ms`);
});

test('AU-09 an act names the process that has not confirmed it in time', async (t) => {
  const db = service.database.owner;
  const silent = await sqlValue<string>(db)`insert into db.instances (lease_until)
    values (clock_timestamp() + interval '1 minute') returning instance_id::text as id`;
  t.after(() => sql(db)`update db.instances set state = 'dead' where instance_id = ${silent}`);
  const appId = await newApp();
  const { keyId, apiKey } = await mint(appId, 'sandbox');
  const { status, headers } = await owner.ask('DELETE', `/apps/${appId}/keys/${keyId}`);
  assert.deepEqual([status, headers.get('x-service-unconfirmed')], [204, silent]);
  assert.equal(await models(service.url, apiKey), 401);
  const browser = await signedInBrowser(service, owner.email);
  const other = await mint(appId);
  const page = `/console/${appId}/key?id=${other.keyId}`;
  await browser.open(page);
  const { text } = await browser.submit(page, { act: 'revoke' }, 'Revoke');
  assert.match(text, new RegExp(`Not confirmed within a second by process ${silent} of this service`));
});

test('CP-03 another process’s key use is reported with its own time', async (t) => {
  const second = await startSecondGateway(service);
  t.after(second.close);
  const appId = await newApp();
  const [used, revoked, later, idle] = [await mint(appId), await mint(appId), await mint(appId), await mint(appId)];
  for (const { apiKey } of [revoked, used]) assert.equal(await models(second.url, apiKey), 200);
  const usedMs = performance.now();
  await owner.get(204, 'DELETE', `/apps/${appId}/keys/${revoked.keyId}`);
  assert.deepEqual(
    (await listKeys(appId)).map(({ lastUsedAt }) => lastUsedAt),
    [null, null, null, null],
  );
  const apartMs = performance.now() - usedMs;
  assert.equal(await models(second.url, later.apiKey), 200);
  await second.close(); // The process writes down the uses it saw.
  const keys = new Map((await listKeys(appId)).map((key) => [key.keyId, key]));
  const atMs = ({ keyId }: Key) => Date.parse(keys.get(keyId)?.lastUsedAt ?? '');
  const revokedAtMs = Date.parse(keys.get(revoked.keyId)?.revokedAt ?? '');
  assert.ok(atMs(used) >= Date.parse(keys.get(used.keyId)?.createdAt ?? ''));
  assert.ok(atMs(later) - atMs(used) > apartMs - 2, 'not the time of the report, which is the same for both');
  assert.ok(atMs(revoked) <= revokedAtMs, 'a revoked key was last used before it was revoked');
  assert.equal(keys.get(idle.keyId)?.lastUsedAt, null);
});

test('AU-07 AU-08 the database holds only a key’s digest and hint', async () => {
  const appId = await newApp();
  const { apiKey } = await mint(appId);
  const rows = await sql<{ digest: Buffer; row: string }>(service)`select digest, k::text as row
    from accounts.api_keys k where app_id = ${appId}`;
  assert.deepEqual(rows[0]?.digest, digestOfApiKey(apiKey));
  assert.ok(rows[0]?.row.includes(`svc_live_...${apiKey.slice(-4)}`));
  const body = apiKey.slice('svc_live_'.length, -4);
  assert.ok(!rows[0]?.row.includes(body.slice(0, 8)));
});

test('AU-09 a revoked key keeps its first revocation time', async () => {
  const [appId, other] = [await newApp(), await newApp()];
  const { keyId, apiKey } = await mint(appId);
  const elsewhere = await owner.ask('DELETE', `/apps/${other}/keys/${keyId}`);
  assertRefusal(elsewhere, { code: 'NOT_FOUND', param: null, hasLink: false });
  assert.equal(await models(service.url, apiKey), 200);
  await owner.get(204, 'DELETE', `/apps/${appId}/keys/${keyId}`);
  const [first] = await listKeys(appId);
  await owner.get(204, 'DELETE', `/apps/${appId}/keys/${keyId}`);
  assert.deepEqual(await listKeys(appId), [first]);
});

async function addKeys(appId: string, count: number, revokedAt: string): Promise<void> {
  await service.database.owner.query(
    `insert into accounts.api_keys (key_id, app_id, digest, mode, hint, generation, revoked_at)
     select $1 || i, $2, sha256(($1 || i)::bytea), 'live', 'svc_live_...' || i, 0, ${revokedAt}
     from generate_series(1, $3) i`,
    [newKeyId(), appId, count],
  );
}

test('CP-03 an app has at most 100 unrevoked keys', async () => {
  const appId = await newApp();
  await addKeys(appId, 98, 'null');
  const replies = await Promise.all(
    Array.from({ length: 8 }, () => owner.ask('POST', `/apps/${appId}/keys`, { mode: 'live' })),
  );
  const refused = replies.filter(({ status }) => status !== 201);
  assert.equal(refused.length, 6);
  for (const reply of refused) assertRefusal(reply, { code: 'CONFLICT', param: null, hasLink: false });
  const [minted] = replies.filter(({ status }) => status === 201);
  await owner.get(204, 'DELETE', `/apps/${appId}/keys/${String(minted?.body['keyId'])}`);
  const { keyId } = await mint(appId);
  // A key that has expired makes room, and comes back only if there is some.
  const expire = 'update accounts.api_keys set expires_at = clock_timestamp() where key_id = $1';
  await service.database.owner.query(expire, [keyId]);
  await mint(appId);
  const back = { expiresAt: null };
  assertRefusal(await owner.ask('PATCH', `/apps/${appId}/keys/${keyId}`, back), { code: 'CONFLICT', hasLink: false });
  await owner.get(200, 'PATCH', `/apps/${appId}/keys/${keyId}`, { name: 'Ended' });
});

test('CP-03 the list shows all valid keys and the last hundred revoked', async () => {
  const appId = await newApp();
  await addKeys(appId, 130, `clock_timestamp() - i * interval '1 minute'`);
  const { keyId } = await mint(appId);
  const keys = await listKeys(appId);
  assert.equal(keys.length, 101);
  assert.equal(keys.filter((key) => key.keyId === keyId && key.revokedAt === null).length, 1);
  const hints = new Set(keys.map(({ hint }) => hint));
  assert.ok(hints.has('svc_live_...1') && hints.has('svc_live_...100') && !hints.has('svc_live_...101'));
});

test('CP-02 an account has at most 100 apps', async () => {
  const collector = await newOwner(service);
  const { apps } = (await collector.get(200, 'GET', '/apps')) as { apps: unknown[] };
  assert.deepEqual(apps, []);
  await collector.get(201, 'POST', '/apps', { name: 'First' });
  await sql(service)`insert into accounts.apps (app_id, account_id, name, generation)
    select app_id || i, account_id, 'More', 0 from accounts.apps join accounts.accounts a using (account_id),
      generate_series(1, 97) i where a.email = ${sealedEmail(collector.email)}`;
  const replies = await Promise.all(
    Array.from({ length: 8 }, () => collector.ask('POST', '/apps', { name: 'One more' })),
  );
  assert.equal(replies.filter(({ status }) => status === 201).length, 2);
  for (const reply of replies.filter(({ status }) => status !== 201)) {
    assertRefusal(reply, { code: 'CONFLICT', param: null, hasLink: false });
  }
});

const unkeyed = await newApp();

scenarios({ as: owner, request: `POST /apps/${unkeyed}/keys`, code: 'BAD_REQUEST', param: 'mode' }, [
  { name: 'CP-03 a key without a mode is refused', body: {} },
  { name: 'CP-03 a mode in capitals is refused', body: { mode: 'LIVE' } },
  { name: 'CP-03 a null mode is refused', body: { mode: null } },
  { name: 'CP-03 a list of modes is refused', body: { mode: ['live'] } },
  {
    name: 'CP-03 AU-07 who asks for a test key hears of the mode to send',
    body: { mode: 'test' },
    contains: [/`live` or `sandbox`.*test key.*`sandbox`/],
  },
  { name: 'CP-03 a key is not chosen by its owner', body: { mode: 'live', apiKey: 'mine' }, param: 'apiKey' },
  { name: 'CP-03 a list is no key', body: [], param: null },
  { name: 'CP-03 a text is no key', body: '"live"', param: null },
  { name: 'CP-03 a key needs a body', param: null },
]);

test('CP-03 a refused key is not made', async () => assert.deepEqual(await listKeys(unkeyed), []));
