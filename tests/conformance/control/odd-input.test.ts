// Addresses, queries and texts that no browser sends: refused in the envelope, never a fault of ours.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newOperator, newOwner, personWith } from '../../support/control.ts';
import { lockTable } from '../../support/lock-wait.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { scenariosOf } from '../../support/scenarios.ts';
import { startSecondGateway } from '../../support/service.ts';
import { setStage } from '../../support/stage.ts';

const stage = await setStage();
const scenarios = scenariosOf(stage);
const { service, app } = stage;
const owner = await newOwner(service);
const operator = await newOperator(service);
const own = await owner.get(201, 'POST', '/apps', { name: 'App', redirectUris: [] });
const appId = String(own['appId']);
const NUL = 'a\u0000';
const wallets = `/operator/apps/${app.appId}/wallets`;
const MONEY = { amountMicros: 1, idempotencyKey: 'k' };

const LONG = 'x'.repeat(769);

scenarios(
  {
    name: 'ER-01 an unreadable or overlong address is not found',
    as: ['nobody', 'owner', 'operator'],
    code: 'NOT_FOUND',
  },
  [
    { request: 'GET /apps/%zz' },
    { request: `GET /apps/${LONG}` },
    { request: 'GET /v1/models/%zz' },
    { request: `GET /operator/apps/${appId}/wallets/${LONG}` },
  ],
);

const LONGEST = '/'.repeat(256);

scenarios({ request: `POST /apps/${appId}/sandbox/users/${encodeURIComponent(LONGEST)}/reset`, body: {} }, [
  { name: 'AU-04 a user of 256 encoded characters is found by address', as: owner, answers: { userId: LONGEST } },
  { name: 'AU-04 such an address needs a session as well', code: 'UNAUTHORIZED' },
]);

scenarios({ name: 'ER-08 NUL is refused by the name of its field', code: 'BAD_REQUEST' }, [
  { as: owner, request: 'GET /apps/a%00', param: 'appId' },
  { as: owner, request: 'DELETE /sessions/a%00', param: 'sessionId' },
  { as: owner, request: `DELETE /apps/${appId}/keys/a%00`, param: 'keyId' },
  { as: owner, request: `GET /apps/${appId}/sandbox?after=a%00`, param: 'after' },
  { as: operator, request: 'GET /operator/apps?query=a%00', param: 'query' },
  { as: owner, request: 'POST /apps', body: { name: NUL, redirectUris: [] }, param: 'name' },
  { as: owner, request: `PATCH /apps/${appId}`, body: { name: 'a\ud800' }, param: 'name' },
  { as: operator, request: `POST /operator/apps/${appId}/suspend`, body: { reason: NUL }, param: 'reason' },
  { as: operator, request: `POST ${wallets}/u/credit`, body: { ...MONEY, reason: NUL }, param: 'reason' },
  { request: 'POST /sessions', body: { email: NUL, password: 'x' }, param: 'email' },
  { request: 'POST /accounts', body: { email: 'a@b.test', password: 'x'.repeat(10), name: NUL }, param: 'name' },
  { request: 'POST /password-resets', body: { email: NUL }, param: 'email' },
]);

for (const [as, path, most] of [
  [owner, `/apps/${appId}/sandbox`, 1_000],
  [owner, `/apps/${appId}/usage`, 10_000],
  [operator, '/operator/audit', 500],
] as const) {
  const accepted = { name: 'ER-08 a page length in digits is accepted', as };
  scenarios(
    accepted,
    ['1', '002', most].map((limit) => ({ request: `GET ${path}?limit=${limit}` })),
  );
  const refused = { code: 'BAD_REQUEST', param: 'limit' } as const;
  const contains = [new RegExp(`^\`limit\`: must be a whole number from 1 to ${most}\\. You sent `)];
  scenarios(
    { name: 'ER-08 any other page length is refused', as, ...refused, contains },
    ['0x2', '%202%20', '2e0', '2.0', '', 'two', 'NaN', '-1', '0', most + 1].map((limit) => ({
      request: `GET ${path}?limit=${limit}`,
    })),
  );
}

const newApp = { as: owner, request: 'POST /apps' };

scenarios(
  { ...newApp, name: 'BI-02 a redirect address in another form', code: 'BAD_REQUEST', param: 'redirectUris[0]' },
  [
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
  ].map((uri) => ({ body: { name: 'x', redirectUris: [uri] } })),
);

test('BI-02 a redirect address in normal form is stored', async () => {
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
