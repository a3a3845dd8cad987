import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPool } from '../../../packages/service/src/db/pool/pool.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { send } from '../../support/client.ts';
import { newOwner } from '../../support/control.ts';
import { untilWaiting } from '../../support/lock-wait.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { scenariosOf } from '../../support/scenarios.ts';
import { startSecondGateway } from '../../support/service.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';

const stage = await setStage();
const scenarios = scenariosOf(stage);
const { service } = stage;
const owner = await newOwner(service);
const stranger = await newOwner(service);

interface Key {
  readonly keyId: string;
  readonly apiKey: string;
}

async function newApp(name = 'App'): Promise<string> {
  const { appId } = await owner.get(201, 'POST', '/apps', { name, redirectUris: ['https://app.test/back?x=1'] });
  return String(appId);
}

function models(url: string, key: string): Promise<number> {
  return send('/v1/models', { url, key }).then(({ status }) => status);
}

test('CP-02 an app’s owner creates, lists, reads and changes it', async () => {
  const appId = await newApp('First');
  const app = await owner.get(200, 'GET', `/apps/${appId}`);
  const { createdAt, ...rest } = app;
  const redirectUris = ['https://app.test/back?x=1'];
  assert.deepEqual(rest, { appId, name: 'First', redirectUris, returnUri: null, status: 'active', role: 'owner' });
  assert.ok(Date.parse(String(createdAt)) > 0);
  const changed = await owner.get(200, 'PATCH', `/apps/${appId}`, { name: 'Second' });
  assert.deepEqual(changed, { ...app, name: 'Second' });
  assert.deepEqual(await owner.get(200, 'PATCH', `/apps/${appId}`, {}), changed);
  const named = { ...changed, returnUri: redirectUris[0] };
  assert.deepEqual(await owner.get(200, 'PATCH', `/apps/${appId}`, { returnUri: redirectUris[0] }), named);
  assert.deepEqual(await owner.get(200, 'PATCH', `/apps/${appId}`, {}), named);
  const emptied = await owner.get(200, 'PATCH', `/apps/${appId}`, { redirectUris: [] });
  assert.deepEqual(
    [emptied['redirectUris'], emptied['returnUri']],
    [[], null],
    'an address off the list is used nowhere',
  );
  const { apps } = (await owner.get(200, 'GET', '/apps')) as { apps: unknown[] };
  assert.deepEqual(apps.at(-1), emptied);
});

test('CP-02 owners’ changes wait for each other for longer than calls do', async (t) => {
  const calls = createPool({ url: service.database.url, role: 'live', connectionsMax: 1, log: createLog('silent') });
  t.after(() => calls.end());
  const changing = `update db.generations set generation = generation where topic = 'accounts'`;
  const other = await service.database.owner.connect();
  await other.query(`begin; ${changing}`);
  const making = owner.ask('POST', '/apps', { name: 'Waits' });
  try {
    await untilWaiting(service.database, 1);
    await assert.rejects(calls.query(changing), { code: '55P03' }); // The lock timeout of calls has gone by.
  } finally {
    await other.query('commit');
    other.release();
  }
  assert.equal((await making).status, 201);
});

test('CP-02 a redirect address is complete https, or http on this machine', async () => {
  const good = [
    'https://a.test',
    'https://a.test/x?y=z',
    'http://localhost:3000/',
    'http://127.0.0.1',
    'http://[::1]:1/',
  ];
  await owner.get(201, 'POST', '/apps', { name: 'x', redirectUris: good });
});

const BAD_ADDRESSES = [
  'http://a.test/',
  'javascript:alert(1)',
  'data:text/html,x',
  '//a.test',
  '/x',
  'https://a.test/#x',
  'https://a@b.test/',
  'https://a.test/\\x',
  'https://a.test/ x',
  'https://ä.test/',
  '',
  'https://',
  'HTTP://a.test/',
  'https:\\\\a.test',
];

scenarios(
  { as: owner, request: 'POST /apps', code: 'BAD_REQUEST', param: 'redirectUris[0]', hasLink: false },
  BAD_ADDRESSES.map((uri) => ({
    name: `CP-02 a redirect address is not \`${uri}\``,
    body: { name: 'x', redirectUris: [uri] },
  })),
);

test('BI-02 the page return address is on the allow-list, or none', async () => {
  const appId = await newApp();
  const path = `/apps/${appId}`;
  const other = 'https://evil.test/';
  for (const body of [{ returnUri: other }, { returnUri: 'https://app.test/back' }, { returnUri: '' }]) {
    const reply = await owner.ask('PATCH', path, { ...body, name: 'Renamed' });
    assertRefusal(reply, { code: 'BAD_REQUEST', param: 'returnUri', hasLink: false });
  }
  const { name, returnUri } = await owner.get(200, 'GET', path);
  assert.deepEqual([name, returnUri], ['App', null], 'a refused change changes nothing');
  const both = await owner.get(200, 'PATCH', path, { redirectUris: [other], returnUri: other });
  assert.deepEqual([both['redirectUris'], both['returnUri']], [[other], other]);
  assert.equal((await owner.get(200, 'PATCH', path, { returnUri: null }))['returnUri'], null);
});

test('AU-06 another owner’s app looks like no app', async () => {
  const appId = await newApp();
  const { keyId } = await owner.get(201, 'POST', `/apps/${appId}/keys`, { mode: 'live' });
  for (const [method, rest, body] of [
    ['GET', '', undefined],
    ['PATCH', '', { name: 'mine' }],
    ['GET', '/keys', undefined],
    ['POST', '/keys', { mode: 'live' }],
    ['DELETE', `/keys/${String(keyId)}`, undefined],
    ['GET', '/sandbox', undefined],
    ['POST', '/sandbox/users/u/reset', {}],
    ['GET', '/usage', undefined],
    ['GET', '/stats', undefined],
    ['GET', '/calls?correlationId=x', undefined],
    ['GET', '/calls/00000000-0000-0000-0000-000000000000', undefined],
  ] as const) {
    const theirs = await stranger.ask(method, `/apps/${appId}${rest}`, body);
    const none = await stranger.ask(method, `/apps/app_0000000000000000000000${rest}`, body);
    assert.equal(theirs.status, 404, theirs.text);
    assert.deepEqual({ ...theirs.error, correlationId: '' }, { ...none.error, correlationId: '' });
  }
});

test('CP-03 AU-07 AU-08 a key is shown once and listed by its hint', async () => {
  const appId = await newApp();
  for (const [mode, prefix] of [
    ['live', 'svc_live_'],
    ['sandbox', 'svc_test_'],
  ] as const) {
    const minted = (await owner.get(201, 'POST', `/apps/${appId}/keys`, { mode })) as unknown as Key;
    assert.deepEqual(Object.keys(minted).toSorted(), ['apiKey', 'appId', 'keyId', 'mode']);
    assert.ok(minted.apiKey.startsWith(prefix));
    assert.equal(await models(service.url, minted.apiKey), 200);
    const reply = await owner.ask('GET', `/apps/${appId}/keys`);
    const { keys } = reply.body as { keys: { keyId: string; mode: string; hint: string; revokedAt: unknown }[] };
    const listed = keys.find(({ keyId }) => keyId === minted.keyId);
    assert.deepEqual([listed?.mode, listed?.revokedAt], [mode, null]);
    assert.equal(listed?.hint, `${prefix}...${minted.apiKey.slice(-4)}`);
    assert.ok(!reply.text.includes(minted.apiKey));
  }
  const refused = await owner.ask('POST', `/apps/${appId}/keys`, { mode: 'other' });
  assertRefusal(refused, { code: 'BAD_REQUEST', param: 'mode', hasLink: false }, refused.text);
});

test('AU-09 a revoked key is refused everywhere within a second', async (t) => {
  const second = await startSecondGateway(service);
  t.after(second.close);
  const appId = await newApp();
  const { keyId, apiKey } = (await owner.get(201, 'POST', `/apps/${appId}/keys`, { mode: 'live' })) as unknown as Key;
  assert.deepEqual([await models(service.url, apiKey), await models(second.url, apiKey)], [200, 200]);
  await owner.get(204, 'DELETE', `/apps/${appId}/keys/${keyId}`);
  assert.equal(await models(service.url, apiKey), 401);
  await waitUntil('the other gateway refuses it', async () => (await models(second.url, apiKey)) === 401);
  await owner.get(204, 'DELETE', `/apps/${appId}/keys/${keyId}`);
  const { keys } = (await owner.get(200, 'GET', `/apps/${appId}/keys`)) as { keys: { revokedAt: string }[] };
  assert.ok(Date.parse(keys[0]?.revokedAt ?? '') > 0);
  assertRefusal(
    await owner.ask('DELETE', `/apps/${appId}/keys/key_x`),
    { code: 'NOT_FOUND', param: null, hasLink: false },
    'no such key',
  );
});
