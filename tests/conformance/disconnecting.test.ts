import assert from 'node:assert/strict';
import { test } from 'node:test';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { chat, type Reply, send } from '../support/client.ts';
import { connectionsOf } from '../support/connections.ts';
import { newOwnApp, newOwner } from '../support/control.ts';
import { createGate } from '../support/gate.ts';
import { openStream } from '../support/open-stream.ts';
import { assertPage, IN_CONSOLE, signedInBrowser } from '../support/page.ts';
import { assertRefusal } from '../support/refusal.ts';
import { completionBody, streamSteps } from '../support/scripted-upstream.ts';
import { sql } from '../support/sql.ts';
import { setStage } from '../support/stage.ts';

const { service, upstream, app, callAs: ask } = await setStage();
const connections = connectionsOf(service.database);
const { appId } = app;
const USAGE = { prompt_tokens: 100, completion_tokens: 10 };

upstream.script({ body: completionBody({ model: 'm', content: 'Hi', usage: USAGE }) });

let users = 0;

/** A connected user with money. */
async function newOwnerOfWallet(amount = 1_000_000, cap?: number) {
  const identity = await connections.newIdentity();
  const user = `user-${String((users += 1)).padStart(3, '0')}`;
  await service.fund(app, user, amount);
  const { connectionId } = await connections.connect({ identity, appId, user, cap });
  return { user, owner: { ...identity, connectionId } };
}

function look(path: string, user: string): Promise<Reply> {
  return send(path, { url: service.url, key: app.liveKey, user });
}

/** The whole answer, except for the parts that differ in each call: its ids, its link, its date. */
function wholeOf({ status, headers, text, body }: Reply): string {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`).toSorted();
  const own = [headers.get('x-correlation-id'), headers.get('x-service-call-id'), headers.get('date')];
  let whole = [String(status), ...lines, '', text].join('\n');
  for (const one of own.filter((value) => value !== null)) whole = whole.replaceAll(one, '*'.repeat(one.length));
  const link = String(body['topupUrl']);
  assert.match(link, /^https:\/\/purser\.test\/topup\/[A-Za-z0-9_-]+$/);
  // Every call lowers the remaining rate, no matter who makes it.
  return whole
    .replaceAll(link, '*'.repeat(link.length))
    .replace(/^(ratelimit: .*;r=|x-ratelimit-remaining-requests: )\d+/gm, '$1*');
}

test('ON-05 WA-02 after a disconnection the next call gets a stranger’s refusal', async () => {
  const { user, owner } = await newOwnerOfWallet();
  assert.equal((await ask(user)).status, 200);
  await connections.setConnected(owner, false);
  for (const stream of [false, true]) {
    const refused = await ask(user, { stream });
    assertRefusal(refused, { code: 'PAYMENT_REQUIRED', param: null, hasLink: true });
    assert.equal(wholeOf(refused), wholeOf(await ask('user-n0b', { stream })));
  }
  assert.equal(wholeOf(await look('/balance', user)), wholeOf(await look('/balance', 'user-n0b')));
  const usage = (await look('/usage/summary', user)).text;
  assert.equal(usage.replace(user, 'user-n0b'), (await look('/usage/summary', 'user-n0b')).text);
});

test('ON-05 a reconnected user spends from the same wallet', async () => {
  const { user, owner } = await newOwnerOfWallet(500_000);
  await connections.setConnected(owner, false);
  await connections.setConnected(owner, true);
  assert.equal((await ask(user)).status, 200);
  const { balance } = await service.wallet(app, user);
  assert.ok(balance < 500_000 && balance > 0);
});

test('WA-11 a suspended and disconnected wallet answers like a stranger’s', async () => {
  const { user, owner } = await newOwnerOfWallet();
  await service.setWallet(app, user, 'is_suspended = true');
  assertRefusal(await ask(user), { code: 'WALLET_SUSPENDED', hasLink: false });
  await connections.setConnected(owner, false);
  assert.equal(wholeOf(await ask(user)), wholeOf(await ask('user-n0b')));
});

test('ON-04 WA-03 a paused wallet refuses calls as over cap until resumed', async () => {
  const { user, owner } = await newOwnerOfWallet(1_000_000, 900_000);
  await connections.setPaused(owner, true);
  assertRefusal(await ask(user), { code: 'APP_SPEND_CAP_EXCEEDED', hasLink: true });
  await connections.setPaused(owner, false);
  assert.equal((await ask(user)).status, 200);
});

const CHANGES = {
  disconnecting: (owner: Owner) => connections.setConnected(owner, false),
  pausing: (owner: Owner) => connections.setPaused(owner, true),
  'lowering the cap': (owner: Owner) => connections.setCap(owner, micros(1n)),
} as const;
type Owner = Awaited<ReturnType<typeof newOwnerOfWallet>>['owner'];

for (const [name, change] of Object.entries(CHANGES)) {
  test(`AU-10 ${name} cuts no running call, and the next is refused`, async () => {
    const { user, owner } = await newOwnerOfWallet();
    const gate = createGate();
    const steps = streamSteps({ model: 'm', pieces: ['First piece', 'last'], usage: USAGE, includeUsageChunk: true });
    upstream.script({
      headers: { 'content-type': 'text/event-stream' },
      body: [...steps.slice(0, 2), { waitFor: gate.opened }, ...steps.slice(2)],
    });
    const stream = await openStream({ url: service.url, key: app.liveKey, user });
    await stream.until('First piece');
    assert.equal(await change(owner), true);
    assert.equal((await ask(user)).status, 402);
    gate.open();
    assert.match(await stream.whole(), /last[^]*data: \[DONE\]\n\n$/);
    const { balance, held } = await service.wallet(app, user);
    assert.equal(held, 0);
    assert.ok(balance < 1_000_000, 'the running call is charged');
    assert.deepEqual(await service.check(), []);
  });
}

test('CC-25 a disconnected user gets neither a kept answer nor a conflict', async () => {
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi', usage: USAGE }) });
  const { user, owner } = await newOwnerOfWallet();
  const headers = { 'idempotency-key': 'kept' };
  const retry = (who: string, fields = {}) => ask(who, fields, { headers });
  assert.equal((await retry(user)).status, 200);
  assert.equal((await retry(user)).headers.get('x-service-replayed'), 'true');
  await connections.setConnected(owner, false);
  for (const fields of [{}, { temperature: 1 }]) {
    assert.equal(wholeOf(await retry(user, fields)), wholeOf(await retry('user-n0b', fields)));
  }
  await connections.setConnected(owner, true);
  assert.equal((await retry(user)).headers.get('x-service-replayed'), 'true');
});

test('CC-15 a remembered rejection is not given to a disconnected user', async () => {
  const { user, owner } = await newOwnerOfWallet();
  upstream.script({ status: 400, body: '{}' });
  assert.equal((await ask(user)).status, 502);
  await connections.setConnected(owner, false);
  assert.equal(wholeOf(await ask(user)), wholeOf(await ask('user-n0b')));
  await connections.setConnected(owner, true);
  const before = upstream.requests.length;
  assert.equal((await ask(user)).status, 502);
  assert.equal(upstream.requests.length, before);
  assert.deepEqual(await service.wallet(app, user), { balance: 1_000_000, held: 0, openStreams: 0 });
});

test('CC-10 a disconnected user’s running streams are not counted', async () => {
  const user = `user-${String((users += 1)).padStart(3, '0')}`;
  const gate = createGate();
  const steps = streamSteps({ model: 'm', pieces: ['First piece', 'last'], usage: USAGE, includeUsageChunk: true });
  upstream.script({
    headers: { 'content-type': 'text/event-stream' },
    body: [...steps.slice(0, 2), { waitFor: gate.opened }, ...steps.slice(2)],
  });
  const single = await service.addApp({ maxStreamsPerUser: 1 });
  await service.fund(single, user, 1_000_000);
  const stream = await openStream({ url: service.url, key: single.liveKey, user });
  await stream.until('First piece');
  const next = (who: string) => chat({ url: service.url, key: single.liveKey, user: who }, { stream: true });
  assertRefusal(await next(user), { code: 'CONCURRENT_STREAM_LIMIT', hasLink: false });
  await service.setWallet(single, user, 'is_connected = false');
  assert.equal(wholeOf(await next(user)), wholeOf(await next('user-n0b')));
  gate.open();
  assert.match(await stream.whole(), /last/);
});

/** An app with users, some of whom have spent their cap. */
async function newAppWithUsers() {
  const owner = await newOwner(service);
  const other = await newOwnApp(owner);
  await service.fund(other, 'anna-of-another', 1);
  const own = await newOwnApp(owner);
  for (const user of ['anna', 'anna-2', 'an~', 'bert', '<b>']) await service.fund(own, user, 7_654_321);
  await service.setWallet(own, 'anna', 'cap_micros = 20, cap_spent_micros = 20, cap_month = db.current_month()');
  await service.setWallet(own, 'anna-2', 'cap_micros = 20, cap_spent_micros = 19, cap_month = db.current_month()');
  await service.setWallet(own, 'bert', "cap_micros = 20, cap_spent_micros = 20, cap_month = '2020-01-01'");
  const identity = await connections.newIdentity('zoe-behind-the-wallet@example.test');
  const zoe = { identity, appId: own.appId, user: 'zoe', cap: 7_000_000, userLabel: 'Zoe Label' };
  const { connectionId } = await connections.connect(zoe);
  return { owner, own, zoe: { ...identity, connectionId } };
}

interface Listed {
  readonly users: readonly Readonly<Record<string, unknown>>[];
  readonly next: string | null;
}

test('WA-02 developers list only users with a connected wallet', async () => {
  const { owner, own, zoe } = await newAppWithUsers();
  const path = `/apps/${own.appId}/users`;
  const listed = async (query = '') => (await owner.get(200, 'GET', `${path}?${query}`)) as unknown as Listed;
  const idsOf = async (query = '') => (await listed(query)).users.map(({ userId }) => userId);
  const whole = await listed();
  assert.equal(whole.next, null);
  assert.deepEqual(
    whole.users.map((user) =>
      Object.values({ ...user, connectedSince: Date.parse(String(user['connectedSince'])) > 0 }),
    ),
    [
      ['<b>', true, 0, false, null],
      ['anna', true, 20, true, null],
      ['anna-2', true, 19, false, null],
      ['an~', true, 0, false, null],
      ['bert', true, 0, false, null],
      ['zoe', true, 0, false, null],
    ],
  );
  assert.deepEqual(await idsOf('beginsWith=an'), ['anna', 'anna-2', 'an~']);
  assert.deepEqual(await idsOf('beginsWith=anna&after=anna'), ['anna-2']);
  const paged: unknown[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const page = await listed(`limit=4&after=${encodeURIComponent(after)}`);
    paged.push(...page.users);
    after = page.next;
  }
  assert.deepEqual(paged, whole.users);

  // A pause looks like a cap that is reached, as it does to calls.
  await connections.setPaused(zoe, true);
  assert.equal((await listed('beginsWith=zoe')).users[0]?.['capReached'], true);
  await connections.setConnected(zoe, false);
  assert.deepEqual(await idsOf(), ['<b>', 'anna', 'anna-2', 'an~', 'bert']);
  const stranger = await newOwner(service);
  await stranger.get(404, 'GET', path);
});

test('WA-02 the users page shows no balances, people or disconnected users', async () => {
  const { owner, own, zoe } = await newAppWithUsers();
  const browser = await signedInBrowser(service, owner.email);
  const path = `/console/${own.appId}`;
  const page = await browser.open(`${path}/users`);
  assertPage(page, 200, 'Users', IN_CONSOLE);
  assert.ok(page.text.includes(`href="${path}/user?id=anna-2"`), page.text);
  assert.equal(page.text.match(/Cap reached/g)?.length, 1);
  for (const hidden of ['behind-the-wallet', 'Zoe Label', '7.65', '<b>', 'anna-of-another']) {
    assert.ok(!page.text.includes(hidden), hidden);
  }
  const narrowed = await browser.open(`${path}/users?user=anna`);
  assert.ok(narrowed.text.includes('id=anna-2') && !narrowed.text.includes('id=bert'));
  assertPage(await browser.open(`${path}/users?mode=sandbox`), 200, 'Sandbox', IN_CONSOLE);
  await connections.setConnected(zoe, false);
  const gone = await browser.open(`${path}/users?user=zoe`);
  const never = await browser.open(`${path}/users?user=eve`);
  assert.match(gone.text, /No users with a connected wallet match/);
  assert.equal(gone.text.replaceAll('zoe', 'eve'), never.text);

  await sql(service)`insert into ledger.wallets (app_id, user_id, currency)
    select ${own.appId}, 'user-' || n, 'EUR' from generate_series(101, 160) n`;
  const first = await browser.open(`${path}/users?user=user-`);
  assert.equal(first.text.match(/user\?id=/g)?.length, 50);
  const [, more = ''] = /href="([^"]*after=user-150)"/.exec(first.text) ?? [];
  const second = await browser.open(more.replaceAll('&#38;', '&'));
  assert.equal(second.text.match(/user\?id=/g)?.length, 10, more);
});
