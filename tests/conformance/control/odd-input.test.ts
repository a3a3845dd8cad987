// Addresses, queries and texts that no browser sends: refused in the envelope, never a fault of ours.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newOperator, newOwner, personWith } from '../../support/control.ts';
import { lockTable } from '../../support/lock-wait.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { startSecondGateway } from '../../support/service.ts';
import { setStage } from '../../support/stage.ts';

const { service, app } = await setStage();
const owner = await newOwner(service);
const operator = await newOperator(service);
const nobody = personWith(service.url, undefined);
const own = await owner.get(201, 'POST', '/apps', { name: 'App', redirectUris: [] });
const appId = String(own['appId']);
const NUL = '\u0000';

test('ER-01 an unreadable or overlong address is not found', async () => {
  const long = 'x'.repeat(769);
  for (const person of [nobody, owner, operator]) {
    for (const path of ['/apps/%zz', `/apps/${long}`, '/v1/models/%zz', `/operator/apps/${appId}/wallets/${long}`]) {
      assertRefusal(await person.ask('GET', path), { code: 'NOT_FOUND' }, path);
    }
  }
});

test('AU-04 a user of 256 encoded characters is found by address', async () => {
  const userId = '/'.repeat(256);
  const path = `/apps/${appId}/sandbox/users/${encodeURIComponent(userId)}/reset`;
  const user = await owner.get(200, 'POST', path, {});
  assert.equal(user['userId'], userId);
  assertRefusal(await nobody.ask('POST', path, {}), { code: 'UNAUTHORIZED' });
});

test('ER-08 NUL in an address, query or body is refused by name', async () => {
  const wallets = `/operator/apps/${app.appId}/wallets`;
  const money = { amountMicros: 1, idempotencyKey: 'k' };
  for (const [person, method, path, param, body] of [
    [owner, 'GET', '/apps/a%00', 'appId'],
    [owner, 'DELETE', '/sessions/a%00', 'sessionId'],
    [owner, 'DELETE', `/apps/${appId}/keys/a%00`, 'keyId'],
    [owner, 'GET', `/apps/${appId}/sandbox?after=a%00`, 'after'],
    [operator, 'GET', '/operator/apps?query=a%00', 'query'],
    [owner, 'POST', '/apps', 'name', { name: `a${NUL}`, redirectUris: [] }],
    [owner, 'PATCH', `/apps/${appId}`, 'name', { name: `a\ud800` }],
    [operator, 'POST', `/operator/apps/${appId}/suspend`, 'reason', { reason: `a${NUL}` }],
    [operator, 'POST', `${wallets}/u/credit`, 'reason', { ...money, reason: `a${NUL}` }],
    [nobody, 'POST', '/sessions', 'email', { email: `a${NUL}`, password: 'x' }],
    [nobody, 'POST', '/accounts', 'name', { email: 'a@b.test', password: 'x'.repeat(10), name: `a${NUL}` }],
    [nobody, 'POST', '/password-resets', 'email', { email: `a${NUL}` }],
  ] as const) {
    assertRefusal(await person.ask(method, path, body), { code: 'BAD_REQUEST', param }, `${method} ${path}`);
  }
});

test('ER-08 a page length must be a whole number in digits', async () => {
  const lists = [
    [owner, `/apps/${appId}/sandbox`, 1_000],
    [owner, `/apps/${appId}/usage`, 10_000],
    [operator, '/operator/audit', 500],
  ] as const;
  for (const [person, path, most] of lists) {
    for (const limit of ['1', '002', String(most)]) await person.get(200, 'GET', `${path}?limit=${limit}`);
    for (const limit of ['0x2', '%202%20', '2e0', '2.0', '', 'two', 'NaN', '-1', '0', String(most + 1)]) {
      const reply = await person.ask('GET', `${path}?limit=${limit}`);
      assertRefusal(reply, { code: 'BAD_REQUEST', param: 'limit' }, `${path} ${limit}`);
      const [accepted, sent] = String(reply.error['message']).split('. ');
      assert.equal(accepted, `\`limit\`: must be a whole number from 1 to ${most}`);
      assert.match(sent ?? '', /^You sent /);
    }
  }
});

test('BI-02 a redirect address is stored in normal form', async () => {
  for (const uri of [
    'https:a.test',
    'https:/a.test',
    'https:///a.test',
    'https://@a.test',
    'https://:@a.test/',
    'https://127.1/',
    'https://2130706433/',
    'https://%61.test/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f.0.0.1/',
    'http:localhost/',
  ]) {
    const reply = await owner.ask('POST', '/apps', { name: 'x', redirectUris: [uri] });
    assertRefusal(reply, { code: 'BAD_REQUEST', param: 'redirectUris[0]' }, uri);
  }
  const good = [
    'https://A.test',
    'https://a.test:8443/x',
    'https://a.test?x',
    'https://[2001:db8::1]:1',
    'http://localhost',
  ];
  await owner.get(201, 'POST', '/apps', { name: 'x', redirectUris: good });
});

test('ER-03 a fault is logged by its route, without user ids', async () => {
  const gateway = await startSecondGateway(service);
  const release = await lockTable(service.database, 'ledger.wallets');
  try {
    const path = `/operator/apps/${appId}/wallets/jane.doe@example.test`;
    const reply = await personWith(gateway.url, operator.token).ask('GET', path);
    assertRefusal(reply, { code: 'INTERNAL_SERVER_ERROR' });
  } finally {
    await release();
  }
  await gateway.close();
  const failed = gateway.logged().filter((line) => line.includes('a call failed'));
  assert.equal(failed.length, 1);
  assert.match(String(failed[0]), /"route":"\/operator\/apps\/:appId\/wallets\/:userId"/);
  assert.ok(!gateway.logged().some((line) => line.includes('jane.doe')));
});
