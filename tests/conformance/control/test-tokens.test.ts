import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestOfApiKey, newApiKey } from '../../../packages/service/src/developers/keys/key-text.ts';
import { newKeyId } from '../../../packages/service/src/kernel/values/ids.ts';
import { sha256 } from '../../../packages/service/src/kernel/crypto/crypto.ts';
import { chat, send } from '../../support/client.ts';
import { newMember, newOwner, personWith } from '../../support/control.ts';
import { callRoute, DATA_PLANE } from '../../support/every-route-refuses.ts';
import { assertPage, IN_CONSOLE, signedInBrowser } from '../../support/page.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { FRESH_USER, GRANT } from '../../support/sandbox-user.ts';
import { sql, sqlValue } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';

/** Tokens of the control plane with which automated tests read and reset the test users of one app. */

const { service } = await setStage();
const { url } = service;

async function begin() {
  const owner = await newOwner(service);
  const appId = String((await owner.get(201, 'POST', '/apps', { name: 'App' }))['appId']);
  const { apiKey } = await owner.get(201, 'POST', `/apps/${appId}/keys`, { mode: 'sandbox' });
  const sandbox = `/apps/${appId}/sandbox`;
  const { testTokenId, testToken } = await owner.get(201, 'POST', `${sandbox}/tokens`);
  return {
    owner,
    appId,
    sandbox,
    tokenId: String(testTokenId),
    text: String(testToken),
    tester: personWith(url, String(testToken)),
    ask: () => chat({ url, key: String(apiKey), user: 'ci' }),
  };
}

test('SB-05 SB-06 SB-07 a test token sets up and reads test users', async () => {
  const { tester, sandbox, ask } = await begin();
  const reset = `${sandbox}/users/ci/reset`;
  for (const [body, code, hasLink] of [
    [{ balanceMicros: 0 }, 'PAYMENT_REQUIRED', true],
    [{ spendCapMicros: 1 }, 'APP_SPEND_CAP_EXCEEDED', true],
    [{ suspended: true }, 'WALLET_SUSPENDED', false],
  ] as const) {
    await tester.get(200, 'POST', reset, body);
    assertRefusal(await ask(), { code, hasLink });
  }
  assert.deepEqual(await tester.get(200, 'POST', reset), { ...FRESH_USER, userId: 'ci' }, 'without a body');
  const charge = Number((await ask()).headers.get('x-service-charge-micros'));
  const { users } = (await tester.get(200, 'GET', sandbox)) as { users: Record<string, unknown>[] };
  assert.deepEqual([users[0]?.['balanceMicros'], users[0]?.['requests']], [GRANT - charge, 1]);
  assertRefusal(await tester.ask('POST', reset, { balance: 1 }), { code: 'BAD_REQUEST' });
});

test('SB-07 AU-06 a test token opens two routes of its app and nothing else', async () => {
  const { owner, tester, text, sandbox, appId } = await begin();
  const other = await begin();
  for (const [method, path] of [
    ['GET', other.sandbox],
    ['POST', `${other.sandbox}/users/ci/reset`],
  ] as const) {
    assertRefusal(await tester.ask(method, path), { code: 'NOT_FOUND' });
  }
  for (const [method, path, body] of [
    ['PUT', `${sandbox}/users/ci/next`, { outcome: 'error' }],
    ['POST', `${sandbox}/tokens`, undefined],
    ['GET', `${sandbox}/tokens`, undefined],
    ['GET', `/apps/${appId}`, undefined],
    ['GET', `/apps/${appId}/keys`, undefined],
    ['POST', `/apps/${appId}/keys`, { mode: 'sandbox' }],
    ['GET', '/apps', undefined],
    ['GET', '/sessions/current', undefined],
    ['GET', '/accounts/current/audit', undefined],
    ['GET', '/operator/apps', undefined],
  ] as const) {
    assertRefusal(await tester.ask(method, path, body), { code: 'UNAUTHORIZED' }, path);
  }
  for (const route of DATA_PLANE) {
    assertRefusal(await callRoute(route, { url, key: text, user: 'ci' }), { code: 'UNAUTHORIZED' }, route.name);
  }
  for (const path of ['/sandbox/balance', '/sandbox/reset', '/sandbox/next']) {
    assert.equal((await send(path, { url, method: 'POST', key: text, user: 'ci', body: {} })).status, 404, path);
  }
  const made = await owner.ask('POST', `/apps/${appId}/keys`, { mode: 'sandbox', mayReset: true });
  assertRefusal(made, { code: 'BAD_REQUEST' });
});

test('SB-07 AU-08 owners make, list and revoke test tokens, kept as digests', async () => {
  const { owner, tester, text, tokenId, sandbox, appId } = await begin();
  const digest = await sqlValue<Buffer>(service)`select digest from accounts.test_tokens where token_id = ${tokenId}`;
  assert.deepEqual(digest, sha256(text));
  const developer = await newMember(service, appId, 'developer');
  assertRefusal(await developer.ask('POST', `${sandbox}/tokens`), { code: 'FORBIDDEN' });
  await tester.get(200, 'GET', sandbox);
  const { testTokens } = (await owner.get(200, 'GET', `${sandbox}/tokens`)) as {
    testTokens: Record<string, unknown>[];
  };
  assert.deepEqual(
    testTokens.map(({ testTokenId, madeBy, lastUsedAt }) => [testTokenId, madeBy, lastUsedAt !== null]),
    [[tokenId, owner.email, true]],
  );
  assert.ok(!JSON.stringify(testTokens).includes(text));
  await owner.get(204, 'DELETE', `${sandbox}/tokens/${tokenId}`);
  assertRefusal(await tester.ask('GET', sandbox), { code: 'UNAUTHORIZED' });
  assertRefusal(await owner.ask('DELETE', `${sandbox}/tokens/${tokenId}`), { code: 'NOT_FOUND' });
});

test('SB-07 CP-07 a test token ends with its maker’s ownership', async () => {
  const { owner, appId, sandbox } = await begin();
  const second = await newMember(service, appId, 'owner');
  const { testToken } = await second.get(201, 'POST', `${sandbox}/tokens`);
  const tester = personWith(url, String(testToken));
  await tester.get(200, 'GET', sandbox);
  const account = ((await second.get(200, 'GET', '/sessions/current')) as { account: { accountId: string } }).account;
  const appoint = (role: string) => owner.get(200, 'PATCH', `/apps/${appId}/team/${account.accountId}`, { role });
  await appoint('developer');
  assertRefusal(await tester.ask('GET', sandbox), { code: 'UNAUTHORIZED' });
  await appoint('owner');
  assertRefusal(await tester.ask('GET', sandbox), { code: 'UNAUTHORIZED' }, 'it does not come back');
  for (let made = 1; made < 10; made += 1) await second.get(201, 'POST', `${sandbox}/tokens`);
  await appoint('developer');
  await owner.get(201, 'POST', `${sandbox}/tokens`); // What nobody sees takes no room.
});

test('SB-07 CP-09 acts of a test token are in the trail, repeats within a minute once', async () => {
  const { owner, appId, tester, tokenId, sandbox } = await begin();
  for (const balanceMicros of [5, 5, 6]) await tester.get(200, 'POST', `${sandbox}/users/ci/reset`, { balanceMicros });
  await owner.get(204, 'DELETE', `${sandbox}/tokens/${tokenId}`);
  const { entries } = (await owner.get(200, 'GET', `/accounts/current/audit?appId=${appId}`)) as {
    entries: Record<string, unknown>[];
  };
  const acts = entries.toReversed().filter(({ action }) => String(action).startsWith('sandbox.'));
  const plain = { spendCapMicros: null, suspended: false, nextOutcome: null };
  assert.deepEqual(
    acts.map(({ actor, action, after }) => [actor === tokenId, action, after]),
    [
      [false, 'sandbox.token.create', null],
      [true, 'sandbox.reset', { ...plain, balanceMicros: 5 }],
      [true, 'sandbox.reset', { ...plain, balanceMicros: 6 }],
      [false, 'sandbox.token.revoke', null],
    ],
  );
});

test('SB-07 CP-10 the sandbox page makes a test token, shows it once and revokes it', async () => {
  const { owner, appId, sandbox } = await begin();
  const browser = await signedInBrowser(service, owner.email);
  const page = `/console/${appId}/sandbox?mode=sandbox`;
  await browser.open(page);
  const made = await browser.submit(page, { act: 'make-token' }, 'Make a test token');
  assertPage(made, 200, 'Sandbox', IN_CONSOLE);
  const [text = ''] = /svc_tester_[0-9A-Za-z]{43}/.exec(made.text) ?? [];
  await personWith(url, text).get(200, 'GET', sandbox);
  assert.ok(!(await browser.open(page)).text.includes(text));
  const gone = await browser.submit(page, { act: 'revoke-token' }, 'revoke-token');
  assert.match(gone.text, /The test token was revoked/);
});

test('SB-07 a key of version 0.1 that could reset test users counts as revoked', async () => {
  const { owner, appId } = await begin();
  const apiKey = newApiKey('sandbox');
  const keyId = newKeyId();
  await sql(service)`with bumped as (
      update db.generations set generation = generation + 1 where topic = 'accounts' returning generation
    )
    insert into accounts.api_keys (key_id, app_id, digest, mode, hint, may_reset, generation)
    select ${keyId}, ${appId}, ${digestOfApiKey(apiKey)}, 'sandbox', 'svc_test_...', true, generation from bumped`;
  assertRefusal(await send('/v1/models', { url, key: apiKey }), { code: 'UNAUTHORIZED' });
  const { revokedAt } = await owner.get(200, 'GET', `/apps/${appId}/keys/${keyId}`);
  assert.ok(revokedAt !== null);
});
