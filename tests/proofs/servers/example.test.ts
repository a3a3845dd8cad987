import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { signTestPayload, type WebhookEvent } from '../../../packages/sdk/src/sdk.ts';
import { layOutExample, standBetween, whenReady } from '../../support/example.ts';
import { visitorsOf } from '../../support/example-visitors.ts';
import { streamSteps } from '../../support/scripted-upstream.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** The example over plain HTTP, with an app and a webhook created by hand. */

const SECRET = 'whsec_of_this_test';
const stage = await setStage({ model: { timeoutMs: 60_000 } }); // So that the timeout does not end an abandoned call.
const { service, app, upstream } = stage;
const dataDirectory = mkdtempSync(path.join(os.tmpdir(), 'purser-example-'));
after(() => rmSync(dataDirectory, { recursive: true, force: true }));
const startExample = await layOutExample();
const between = await standBetween(service.url);
const settings = {
  PURSER_URL: between.url,
  PURSER_API_KEY: app.liveKey,
  PURSER_WEBHOOK_SECRET: SECRET,
  PURSER_DATA_DIR: dataDirectory,
  CHAT_MODEL: 'large',
};
const example = await whenReady(startExample(settings));
const { ask, signIn, say, follow } = visitorsOf(example, dataDirectory);
await sql(service)`update accounts.apps set redirect_uris = ${[`${example.url}/back`]} where app_id = ${app.appId}`;

function script(text: string): void {
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
  upstream.script({ body: streamSteps({ model: 'm', pieces: [text], usage, includeUsageChunk: true }) });
}

test('SDK-02 the example charges the signed-in user', async () => {
  const [anna, berta] = [await signIn('Anna'), await signIn('Berta')];
  assert.match(anna.user, /^chat_[\w-]{16}$/); // Someone who signs up under the same name later is another user.
  await service.fund(app, anna.user, 1_000_000);
  await service.fund(app, berta.user, 2_000_000);
  script('For Anna <script>alert(1)</script>');
  const reply = await say(anna.cookie, 'A secret of Anna & "quotes"');
  assert.equal(reply.status, 200);
  assert.deepEqual(
    reply.text.split('\n').filter((line) => line !== ''),
    ['{"type":"text","text":"For Anna <script>alert(1)</script>"}', '{"type":"done"}'],
  );
  assert.deepEqual((await ask('GET', '/balance', anna)).body, {
    isConnected: true,
    isBlocked: false,
    availableMicros: 999_945,
    currency: 'EUR',
  });
  assert.equal((await ask('GET', '/balance', berta)).body['availableMicros'], 2_000_000);

  const own = await ask('GET', '/', anna);
  assert.ok(own.text.includes('A secret of Anna &amp; &quot;quotes&quot;'), own.text);
  assert.ok(own.text.includes('For Anna &lt;script&gt;alert(1)&lt;/script&gt;'), own.text);
  assert.ok(!(await ask('GET', '/', berta)).text.includes('secret'));

  script('For Berta');
  await say(berta.cookie, 'And I?');
  assert.ok(!String(upstream.requests.at(-1)?.rawBody).includes('Anna'));
});

test('OP-18 the example escapes the names it shows', async () => {
  const { cookie } = await signIn('<b title="x">Carl</b>');
  const { text } = await ask('GET', '/', { cookie });
  assert.ok(text.includes('&lt;b title=&quot;x&quot;&gt;Carl&lt;/b&gt;'), text);
  assert.ok(!text.includes('<b title'));
});

test('OP-18 the example lets nobody in without a valid session', async () => {
  const { cookie, user } = await signIn('Dora');
  const wrong = await ask('POST', '/sign-in', { body: 'name=Dora&password=another+one' });
  assert.equal(wrong.status, 422);
  assert.match(wrong.text, /its password is a different one/);
  assert.equal(wrong.headers.get('set-cookie'), null);
  assert.equal((await signIn('Dora')).user, user);
  assert.equal(statSync(path.join(dataDirectory, 'example-chat.json')).mode & 0o777, 0o600);
  const routes = ['GET /balance', 'GET /events', 'POST /messages', 'POST /connect'] as const;
  const assertShut = async (kept?: string): Promise<void> => {
    for (const route of routes) {
      const [method, at] = route.split(' ') as ['GET' | 'POST', string];
      const refused = await ask(method, at, kept === undefined ? {} : { cookie: kept });
      assert.equal(refused.status, 401, `${route}: ${refused.text}`);
    }
  };
  await assertShut();
  await assertShut(`chat-session=${'x'.repeat(43)}`);
  assert.equal((await ask('GET', '/balance', { cookie })).status, 200);
  assert.match((await ask('POST', '/sign-out', { cookie })).headers.get('set-cookie') ?? '', /Max-Age=0/);
  await assertShut(cookie);
});

test('OP-18 the example’s pages and cookie exclude other sites', async () => {
  const { headers } = await ask('GET', '/');
  assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none';.*frame-ancestors 'none'$/);
  assert.doesNotMatch(headers.get('content-security-policy') ?? '', /unsafe/);
  const form = { body: 'name=Emil&password=correct+horse' };
  const cookie = (await ask('POST', '/sign-in', form)).headers.get('set-cookie') ?? '';
  assert.match(cookie, /; HttpOnly; SameSite=Lax/);
  for (const origin of ['http://evil.test', 'null', '']) {
    assert.equal((await ask('POST', '/sign-in', { ...form, headers: { origin } })).status, 403, origin);
  }
  assert.equal((await ask('GET', '/', { headers: { host: 'evil.test' } })).status, 421);
});

test('SDK-02 the example accepts a return once', async () => {
  const [anna, berta] = [await signIn('Way-Anna'), await signIn('Way-Berta')];
  const { url } = (await ask('POST', '/connect', anna)).body;
  assert.match(String(url), /\/connect\//);
  const [state = ''] = between.states.slice(-1);
  assert.match(state, /^[\w-]{43}$/);
  const assertRefused = async (query: string, cookie?: string): Promise<void> => {
    const reply = await ask('GET', `/back${query}`, cookie === undefined ? {} : { cookie });
    assert.equal(reply.status, 400, reply.text);
    assert.match(reply.text, /was not begun here/);
  };
  for (const query of ['', '?state=', `?status=connected&state=${'x'.repeat(43)}`])
    await assertRefused(query, anna.cookie);
  await ask('POST', '/connect', berta);
  const back = `?status=connected&state=${state}`;
  await assertRefused(back);
  await assertRefused(back, berta.cookie);
  const taken = await ask('GET', `/back${back}`, anna);
  assert.equal(taken.status, 303);
  assert.equal(taken.headers.get('location'), '/');
  // An address that claims success connects nobody.
  assert.match((await ask('GET', '/', anna)).text, /You have not connected a wallet\./);
  await assertRefused(back, anna.cookie);
});

function topUpOf(userId: string): WebhookEvent {
  const data = { userId, balanceMicros: 1, availableMicros: 1, currency: 'EUR' };
  return { id: 'evt_1', type: 'topup.completed', createdAt: '2026-01-01T00:00:00.000Z', appId: app.appId, data };
}

function connectionOf(id: string, userId: string): WebhookEvent {
  const createdAt = '2026-01-01T00:00:00.000Z';
  return { id, type: 'connection.created', createdAt, appId: app.appId, data: { userId, connectedAt: createdAt } };
}

test('SDK-03 the example shows a signed event once to its user', async () => {
  const [anna, berta] = [await signIn('Hook-Anna'), await signIn('Hook-Berta')];
  const pages = [await follow(anna.cookie), await follow(berta.cookie)] as const;
  const deliver = async (event: WebhookEvent, secret: string, change = '') => {
    const { body, headers } = await signTestPayload(event, { secret });
    return ask('POST', '/hook', { body: body + change, headers: { ...headers, host: 'forwarded.test' } });
  };
  const event = topUpOf(anna.user);
  for (const [secret, change] of [
    ['whsec_of_somebody', ''],
    [SECRET, ' '],
  ] as const) {
    const refused = await deliver(event, secret, change);
    assert.equal(refused.status, 400);
    assert.equal(refused.text, 'signature');
  }
  assert.equal((await ask('POST', '/hook', { body: JSON.stringify(event) })).text, 'header');
  assert.equal((await deliver(event, SECRET)).status, 204);
  assert.equal((await deliver(event, SECRET)).status, 204);
  await deliver(connectionOf('evt_2', anna.user), SECRET);
  await deliver(connectionOf('evt_3', berta.user), SECRET);
  const last = 'data: {"type":"connection.created"}\n\n';
  for (const page of pages) await waitUntil('the last event is told', () => page.heard().includes(last));
  const told = pages.map((page) =>
    page
      .heard()
      .split('\n\n')
      .filter((line) => line.startsWith('data: ')),
  );
  assert.deepEqual(told, [['data: {"type":"topup.completed"}', last.trim()], [last.trim()]]);
  for (const page of pages) page.leave();
});

test('OP-18 the example refuses an unsuitable question', async () => {
  const { cookie, user } = await signIn('Fritz');
  await service.fund(app, user, 1_000_000);
  for (const text of ['', ' ', 'x'.repeat(4_001)]) assert.equal((await say(cookie, text)).status, 400);
  assert.equal((await ask('POST', '/messages', { cookie, body: 'not JSON' })).status, 400);
  assert.equal(
    (await ask('POST', '/messages', { cookie, body: `{"text":"Hi","more":"${'x'.repeat(70_000)}"}` })).status,
    400,
  );
  const { promise, resolve } = Promise.withResolvers<void>();
  const before = upstream.requests.length;
  upstream.script({ body: [{ waitFor: promise }] });
  const first = say(cookie, 'One');
  await upstream.arrival(before);
  assert.equal((await say(cookie, 'Two')).status, 409);
  resolve();
  await first;
  script('Three');
  assert.equal((await say(cookie, 'Three')).status, 200);
});

test('SDK-02 the example cancels the call when its reader leaves', async () => {
  const { cookie, user } = await signIn('Gerda');
  await service.fund(app, user, 1_000_000);
  const index = upstream.requests.length;
  const { promise, resolve } = Promise.withResolvers<void>();
  upstream.script({ body: [{ waitFor: promise }] });
  const { host, origin } = new URL(example.url);
  const asked = request(`${example.address}/messages`, { method: 'POST', headers: { host, origin, cookie } });
  asked.on('error', () => {});
  asked.end(JSON.stringify({ text: 'Hello' }));
  await upstream.arrival(index);
  asked.destroy();
  script('Back');
  await waitUntil('the next question is taken', async () => (await say(cookie, 'Hello')).status === 200);
  resolve();
});

async function startedWith(environment: Readonly<Record<string, string>>) {
  const run = startExample(environment);
  return { status: await run.ended, said: run.said() };
}

test('OP-18 the example says why it cannot start', async () => {
  const { PURSER_API_KEY: _key, ...demo } = settings;
  const noDemo = await startedWith(demo);
  assert.match(noDemo.said, /^There is no demo here yet\. Start Purser with `npm start` first.*\n$/);
  const { port } = new URL(example.url);
  const taken = await startedWith({ ...settings, CHAT_PORT: port });
  assert.equal(taken.said, `Port ${port} is already in use. Name another one in CHAT_PORT.\n`);
  const nowhere = 'http://127.0.0.1:1';
  const absent = await startedWith({ ...demo, PURSER_URL: nowhere });
  assert.equal(
    absent.said,
    `No Purser answers at ${nowhere}. Start it with \`npm start\`, or set PURSER_URL to its address.\n`,
  );
  const odd = await startedWith({ ...settings, PURSER_URL: 'purser' });
  assert.equal(odd.said, 'PURSER_URL is not a web address.\n');
  for (const { status } of [noDemo, taken, absent, odd]) assert.equal(status, 1);
});
