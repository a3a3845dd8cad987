import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chargeFor } from '../support/catalogue.ts';
import { chat, type Reply, send } from '../support/client.ts';
import { connectionsOf } from '../support/connections.ts';
import { newOwnApp, newOwner } from '../support/control.ts';
import { assertPage, IN_CONSOLE, signedInBrowser } from '../support/page.ts';
import { assertRefusal } from '../support/refusal.ts';
import { completionBody } from '../support/scripted-upstream.ts';
import { waitUntil } from '../support/wait-until.ts';
import { setStage } from '../support/stage.ts';

const USAGE = { prompt_tokens: 100, completion_tokens: 10 };
const CHARGE = chargeFor({ prompt: 100, completion: 10 });

const { upstream, service, app, callAs } = await setStage({ model: { timeoutMs: 60_000 } });
upstream.script({ body: completionBody({ model: 'm', content: 'Hi', usage: USAGE }) });

function balanceOf(user: string, key = app.liveKey): Promise<Reply> {
  return send('/balance', { url: service.url, key, user });
}

test('BI-01 a fresh wallet’s balance has exactly these fields', async () => {
  await service.fund(app, 'fresh', 1_234_567);
  const reply = await balanceOf('fresh');
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(reply.headers.get('x-service-mode'), null);
  assert.deepEqual(reply.body, {
    userId: 'fresh',
    balanceMicros: 1_234_567,
    reservedMicros: 0,
    availableMicros: 1_234_567,
    currency: 'EUR',
    spendCapMicros: null,
    spentThisMonthMicros: 0,
    status: 'active',
  });
});

test('BI-01 the balance shows cap and this month’s spending', async () => {
  await service.fund(app, 'capped', 1_000_000, 500_000);
  await callAs('capped');
  const { body } = await balanceOf('capped');
  assert.equal(body['spendCapMicros'], 500_000);
  assert.equal(body['spentThisMonthMicros'], CHARGE);
  assert.equal(body['balanceMicros'], 1_000_000 - CHARGE);
});

test('BI-01 earlier spending does not count towards this month', async () => {
  await service.fund(app, 'last-month', 1_000_000, 500_000);
  await service.setWallet(app, 'last-month', `cap_month = '2020-01-01', cap_spent_micros = 400000`);
  assert.equal((await balanceOf('last-month')).body['spentThisMonthMicros'], 0);
});

test('BI-01 a running call’s hold counts as reserved', async () => {
  await service.fund(app, 'running', 1_000_000);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const answer = { write: completionBody({ model: 'm', content: 'Hi', usage: USAGE }) };
  upstream.script({ body: [{ waitFor: held }, answer] });
  const arrived = upstream.arrival(upstream.requests.length);
  const call = callAs('running');
  await arrived;
  const { body } = await balanceOf('running');
  const reserved = Number(body['reservedMicros']);
  assert.ok(reserved > CHARGE);
  assert.equal(body['balanceMicros'], 1_000_000);
  assert.equal(body['availableMicros'], 1_000_000 - reserved);
  assert.equal(body['spentThisMonthMicros'], 0);
  release();
  assert.equal((await call).status, 200);
  const after = (await balanceOf('running')).body;
  assert.deepEqual([after['reservedMicros'], after['availableMicros']], [0, 1_000_000 - CHARGE]);
});

test('BI-01 the available amount is never shown below zero', async () => {
  await service.fund(app, 'clawed', 100);
  await service.setWallet(app, 'clawed', 'is_clawed = true, held_micros = 150');
  assert.equal((await balanceOf('clawed')).body['availableMicros'], 0);
  await service.setWallet(app, 'clawed', 'is_clawed = false, held_micros = 0');
});

test('BI-01 a suspended wallet answers as suspended', async () => {
  await service.fund(app, 'suspended', 5);
  await service.setWallet(app, 'suspended', 'is_suspended = true');
  const reply = await balanceOf('suspended');
  assert.equal(reply.status, 200);
  assert.equal(reply.body['status'], 'suspended');
  assert.equal(reply.body['balanceMicros'], 5);
});

test('BI-01 an empty wallet is still a wallet', async () => {
  await service.fund(app, 'empty', 0);
  const reply = await balanceOf('empty');
  assert.equal(reply.status, 200);
  assert.equal(reply.body['balanceMicros'], 0);
});

test('BI-01 the largest amount is shown exactly', async () => {
  await service.fund(app, 'rich', 2 ** 53 - 1);
  assert.match((await balanceOf('rich')).text, /"balanceMicros":9007199254740991,/);
});

test('BI-01 missing and disconnected wallets answer like a payment-required call', async () => {
  await service.fund(app, 'disconnected', 1_000_000);
  await service.setWallet(app, 'disconnected', 'is_connected = false');
  await service.fund(app, 'both', 1_000_000);
  await service.setWallet(app, 'both', 'is_connected = false, is_suspended = true');
  const call = await callAs('nobody');
  for (const user of ['nobody', 'disconnected', 'both']) {
    const reply = await balanceOf(user);
    assertRefusal(reply, { code: 'PAYMENT_REQUIRED', param: null, hasLink: true }, user);
    assert.equal(reply.error['message'], call.error['message']);
  }
});

test('BI-01 only its own app can see a wallet', async () => {
  await service.fund(app, 'mine', 1_000_000);
  const other = await service.addApp();
  assertRefusal(await balanceOf('mine', other.liveKey), { code: 'PAYMENT_REQUIRED', hasLink: true });
});

test('SB-09 a test key gets the sandbox’s payment-required refusal', async () => {
  await service.fund(app, 'tester', 1_000_000);
  await chat({ url: service.url, key: app.testKey, user: 'tester' });
  for (const user of ['tester', 'nobody']) {
    const reply = await balanceOf(user, app.testKey);
    assertRefusal(reply, { code: 'PAYMENT_REQUIRED', param: null, hasLink: true });
    assert.equal(reply.body['topupUrl'], 'https://purser.test/topup/sandbox');
    assert.equal(reply.headers.get('x-service-mode'), null);
  }
  const live = await balanceOf('nobody');
  const sandbox = await balanceOf('nobody', app.testKey);
  assert.equal(sandbox.error['message'], live.error['message']);
});

test('CP-17 WA-02 developers see a user’s spending, cap and calls only while connected', async () => {
  const connections = connectionsOf(service.database);
  const owner = await newOwner(service);
  const own = await newOwnApp(owner);
  const identity = await connections.newIdentity('una-behind-the-wallet@example.test');
  const una = { identity, appId: own.appId, user: 'una', cap: 900_000, userLabel: 'Una Label' };
  await service.fund(own, 'una', 7_654_321);
  const { connectionId } = await connections.connect(una);
  const path = `/apps/${own.appId}/users`;
  const never = await owner.get(200, 'GET', `${path}/una`);
  assert.deepEqual([never['lastChargedAt'], never['spentMicros'], never['spendCapMicros']], [null, 0, 900_000]);
  const asked = { url: service.url, key: own.liveKey, user: 'una' };
  assert.equal((await chat(asked)).status, 200);
  assert.equal((await chat(asked)).status, 200);
  assert.equal((await chat(asked, { model: 'no-such-model' })).status, 400);
  const { balance } = await service.wallet(own, 'una');
  // The month counts from then on, what was spent in all does not change with it.
  await service.setWallet(own, 'una', "cap_month = '2020-01-01'");
  const seen = await owner.get(200, 'GET', `${path}/una`);
  const { users } = (await owner.get(200, 'GET', path)) as { users: readonly Readonly<Record<string, unknown>>[] };
  assert.deepEqual(Object.keys(seen).toSorted(), [
    'capReached',
    'connectedSince',
    'lastChargedAt',
    'spendCapMicros',
    'spentMicros',
    'spentThisMonthMicros',
    'userId',
  ]);
  assert.deepEqual([seen['spentMicros'], seen['spentThisMonthMicros']], [7_654_321 - balance, 0]);
  assert.ok(Math.abs(Date.parse(String(seen['lastChargedAt'])) - Date.now()) < 60_000, String(seen['lastChargedAt']));
  assert.equal(users[0]?.['lastChargedAt'], seen['lastChargedAt']);

  const browser = await signedInBrowser(service, owner.email);
  const address = (id: string) => `/console/${own.appId}/user?id=${id}`;
  // Traces are written a moment after their calls.
  const { text } = await waitUntil('the calls are listed', async () => {
    const shown = await browser.open(address('una'));
    return shown.text.match(/\/call\?id=/g)?.length === 3 ? shown : undefined;
  });
  assertPage({ ...(await browser.open(address('una'))) }, 200, 'una', IN_CONSOLE);
  assert.match(text, /EUR 0.90 a month|€0.90 a month/);
  assert.match(text, /UNKNOWN_MODEL|MODEL_NOT_FOUND|BAD_REQUEST/);
  for (const hidden of ['behind-the-wallet', 'Una Label']) assert.ok(!text.includes(hidden), hidden);
  assert.doesNotMatch(text, /(EUR\s?|€)[67]\./, 'what is in the wallet'); // A call may take 6.7 ms.
  assertPage(await browser.open(`${address('una')}&mode=sandbox`), 200, 'Sandbox', IN_CONSOLE);
  await connections.setConnected({ ...identity, connectionId }, false);
  const [left, stranger] = await Promise.all(['una', 'eve'].map((user) => owner.get(404, 'GET', `${path}/${user}`)));
  const messageOf = (reply: typeof left) => (reply?.['error'] as { message: string } | undefined)?.message;
  assert.equal(messageOf(left), messageOf(stranger));
  const gone = await browser.open(address('una'));
  assertPage(gone, 404, 'No such user', IN_CONSOLE);
  assert.equal(gone.text.replaceAll('una', 'eve'), (await browser.open(address('eve'))).text.replaceAll('una', 'eve'));
});
