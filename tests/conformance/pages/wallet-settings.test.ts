import { mailsTo } from '../../support/database.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWalletMail } from '../../../packages/service/src/app/compose/wallet-mail.ts';
import { sendCapAlerts } from '../../../packages/service/src/connections/alerts.ts';
import { writeLetter } from '../../../packages/service/src/mail/letter.ts';
import { insertMessage } from '../../../packages/service/src/mail/queries.ts';
import { createLinks } from '../../../packages/service/src/connections/link.ts';
import { systemClock } from '../../../packages/service/src/kernel/time/clock.ts';
import { chargeFor } from '../../support/catalogue.ts';
import type { Reply } from '../../support/client.ts';
import { createGate } from '../../support/gate.ts';
import { keysOf } from '../../support/keys.ts';
import { openStream } from '../../support/open-stream.ts';
import { assertPage } from '../../support/page.ts';
import { assertRefusal, type Code } from '../../support/refusal.ts';
import { completionBody, streamSteps } from '../../support/scripted-upstream.ts';
import { sql, sqlValue } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { type WalletOwner, walletOwnersOf } from '../../support/people.ts';

const PURSER_SECRET = 'a secret of these tests alone, long enough';
const {
  service,
  app,
  upstream,
  newUser,
  callAs: call,
} = await setStage({
  model: { timeoutMs: 60_000 },
  environment: { PURSER_SECRET },
});
const newWalletOwner = walletOwnersOf(service);
const links = createLinks({
  keysOf: keysOf(PURSER_SECRET).proof,
  publicUrl: 'https://purser.test',
  clock: systemClock,
});
const USAGE = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
const CHARGE = chargeFor({ prompt: 100, completion: 10 });
const ANSWER = { body: completionBody({ model: 'm', content: 'Hi', usage: USAGE }) };
upstream.script(ANSWER);

/** A person with a funded wallet, on its page. */
async function atWallet(amount = 5_000_000): Promise<WalletOwner & { readonly user: string; readonly path: string }> {
  const owner = await newWalletOwner();
  const user = await newUser(amount);
  const path = `/wallet/${await owner.connect(app, user)}`;
  assertPage(await owner.browser.open(path), 200, 'Your wallet for Test app');
  return { ...owner, user, path };
}

async function capOf(user: string): Promise<bigint | null | undefined> {
  return sqlValue<bigint | null>(service)`select cap_micros from ledger.wallets where app_id = ${app.appId}
    and user_id = ${user}`;
}

/** Everything in a refusal by which a caller could tell two users apart, without the parts that differ every time. */
function shapeOf(reply: Reply) {
  const { correlationId: _, topupUrl, ...error } = reply.error;
  const headers = [...reply.headers].filter(
    ([name]) => !/^(date|x-correlation-id|x-request-id|.*topup-url|ratelimit.*|x-ratelimit.*)$/.test(name),
  );
  return { status: reply.status, error, headers, length: String(topupUrl).length, keys: Object.keys(reply.body) };
}

test('WA-03 a refusal over the cap links to the cap', async () => {
  const { browser, user, path } = await atWallet();
  assert.equal((await call(user)).status, 200);
  const page = await browser.submit(`${path}/cap`, { cap: '0,000200' });
  assertPage(page, 200, 'Your wallet for Test app');
  assert.match(page.text, /role="status">The monthly cap was set\./);
  assert.equal(await capOf(user), 200n);
  const refused = await call(user);
  assertRefusal(refused, { code: 'APP_SPEND_CAP_EXCEEDED', hasLink: true });
  const token = String(refused.body['topupUrl']).replace('https://purser.test/topup/', '');
  assert.equal(links.read('topup', token)?.purpose, 'cap');

  // Below the amount already spent.
  await browser.submit(`${path}/cap`, { cap: '0.0001' });
  assertRefusal(await call(user), { code: 'APP_SPEND_CAP_EXCEEDED', hasLink: true });
  assert.match(
    (await browser.open(path)).text,
    new RegExp(`€0.${String(CHARGE).padStart(6, '0')}</dd>\n<dt>Monthly cap</dt><dd>€0.0001<`),
  );

  assert.match((await browser.submit(`${path}/cap`, {}, 'name="none"')).text, /The monthly cap was removed\./);
  assert.equal(await capOf(user), null);
  assert.equal((await call(user)).status, 200);
});

test('ON-04 an invalid cap changes nothing and stays as typed', async () => {
  const { browser, user, path } = await atWallet();
  await browser.submit(`${path}/cap`, { cap: '12.50' });
  const odd = ['', ' ', '-1', '+1', '1e3', '0x10', 'NaN', '12.5000001', '1.234', '1,234.50', '99999999999', '"><b>'];
  for (const cap of odd) {
    const page = await browser.submit(`${path}/cap`, { cap });
    assertPage(page, 400, 'Your wallet for Test app');
    assert.equal(browser.fieldsOf(`${path}/cap`)['cap'], cap);
    assert.equal(await capOf(user), 12_500_000n, cap);
  }
  await browser.open(path);
  await browser.submit(`${path}/cap`, { cap: '9007199254.740991' });
  assert.equal(await capOf(user), 9_007_199_254_740_991n);
});

test('ON-04 a pause refuses calls until it ends', async () => {
  for (const cap of [undefined, '3']) {
    const { browser, user, path } = await atWallet();
    if (cap !== undefined) await browser.submit(`${path}/cap`, { cap });
    const before = await capOf(user);
    const page = await browser.submit(`${path}/pause`);
    assert.match(page.text, /role="status">Paused\. /);
    assert.match(page.text, />Paused<\/span>/);
    const [balance = ''] = /<section aria-labelledby="balance">[^]*?<\/section>/.exec(page.text) ?? [];
    assert.match(balance, /<button>Resume spending<\/button>/, 'ON-04 the way out stands beside what it ends');
    if (cap !== undefined) assert.match(page.text, /<dt>Monthly cap<\/dt><dd>€3\.00/);
    assertRefusal(await call(user), { code: 'APP_SPEND_CAP_EXCEEDED', hasLink: true });
    const resumed = await browser.submit(`${path}/pause`);
    assert.match(resumed.text, /The app can spend again\./);
    assert.equal(await capOf(user), before);
    assert.equal((await call(user)).status, 200);
  }
});

/** Stores alerts as the service does. */
const { tellOwner } = createWalletMail({
  mail: {
    letterhead: { operatorName: 'Purser', publicUrl: 'https://purser.test', supportEmail: undefined },
    send: (recipient, letter, tx) => insertMessage(tx ?? service.database.owner, { recipient, ...writeLetter(letter) }),
  },
  isTestMoney: true,
  clock: systemClock,
});

/** A process that dies while it stores a mail. */
function crash(): Promise<never> {
  return Promise.reject(new Error('The process dies.'));
}

async function subjectsTo(email: string): Promise<readonly string[]> {
  return (await mailsTo(service.database.owner, email)).map(({ subject }) => subject);
}

test('ON-04 an owner gets one mail per cap share and month', async () => {
  const { owner: pool } = service.database;
  const { browser, email, user, path } = await atWallet();
  const spend = (spent: number, month = 'db.current_month()') =>
    service.setWallet(app, user, `cap_spent_micros = ${spent}, cap_month = ${month}`);
  const sweepAtOnce = () => Promise.all(Array.from({ length: 4 }, () => sendCapAlerts(pool, tellOwner)));
  await browser.submit(`${path}/cap`, { cap: '4' });
  await spend(3_990_000);
  await sweepAtOnce();
  assert.deepEqual(await subjectsTo(email), [], 'nobody gets a mail that they did not ask for');

  await spend(1_999_999);
  const shown = await browser.submit(`${path}/alerts`, { 'share-50': 'yes', 'share-80': '', 'share-100': 'yes' });
  assert.match(shown.text, /role="status">We will e-mail you[^]*E-mail me about the cap \(at 50, 100 %\)/);
  await sweepAtOnce();
  assert.deepEqual(await subjectsTo(email), []);
  await spend(2_000_000);
  await assert.rejects(sendCapAlerts(pool, crash));
  await sweepAtOnce();
  const half = 'Test app has spent 50 % of your monthly cap';
  assert.deepEqual(await subjectsTo(email), [half]);
  await spend(3_300_000); // 80 percent was not chosen.
  await sweepAtOnce();
  await spend(3_960_000);
  await sweepAtOnce();
  await sweepAtOnce();
  const all = 'Test app has used up your monthly cap';
  assert.deepEqual(await subjectsTo(email), [half, all]);

  await spend(3_990_000, `(db.current_month() - interval '1 month')::date`);
  await sweepAtOnce();
  assert.deepEqual(await subjectsTo(email), [half, all], 'spent last month');
  await sql(pool)`update connections.alerts set month = month - interval '1 month'`;
  await spend(3_990_000);
  await sweepAtOnce();
  assert.deepEqual(await subjectsTo(email), [half, all, all], 'a new month, and only the highest of several shares');

  await sql(pool)`update connections.alerts set told = 0`;
  await browser.submit(`${path}/alerts`, { 'share-50': '', 'share-80': '', 'share-100': '' });
  await sweepAtOnce();
  assert.equal((await subjectsTo(email)).length, 3);
  assert.match(browser.page().text, /We will not e-mail you about the cap any more\./);
  await spend(0);
});

test('ON-05 disconnecting asks first and refuses the next call', async () => {
  const { browser, user, path } = await atWallet();
  const asked = await browser.open(`${path}/disconnect`);
  assertPage(asked, 200, 'Disconnect Test app?');
  assert.match(asked.text, /Your balance stays in this wallet/);
  assert.equal((await call(user)).status, 200, 'the question alone changes nothing');
  const page = await browser.submit(`${path}/disconnect`);
  assertPage(page, 200, 'Your wallet for Test app');
  assert.match(page.text, /role="status">Disconnected\./);
  const refused = await call(user);
  assertRefusal(refused, { code: 'PAYMENT_REQUIRED', param: null, hasLink: true });
  const stranger = user.replace(/^user-/, 'none-');
  assert.deepEqual(shapeOf(refused), shapeOf(await call(stranger)));
  assert.equal((await service.wallet(app, user)).balance, 5_000_000 - CHARGE);
});

test('ON-05 connecting again finds the same wallet', async () => {
  const { browser, user, path } = await atWallet();
  await browser.submit(`${path}/cap`, { cap: '4' });
  assert.equal((await call(user)).status, 200);
  await browser.open(`${path}/disconnect`);
  const left = await browser.submit(`${path}/disconnect`);
  assert.doesNotMatch(left.text, /\/(topup|cap|pause)"/, 'a button without effect is not offered');
  assert.match(left.text, />1 call</);
  const page = await browser.submit(`${path}/reconnect`);
  assert.match(page.text, /Connected again\./);
  assert.equal(await capOf(user), 4_000_000n);
  assert.equal((await call(user)).status, 200);
  assert.equal((await service.wallet(app, user)).balance, 5_000_000 - 2 * CHARGE);
});

test('ON-05 no call is admitted after a disconnection is answered', async () => {
  const { browser, user, path } = await atWallet();
  await browser.open(`${path}/disconnect`);
  const calls = Array.from({ length: 20 }, () => call(user));
  await browser.submit(`${path}/disconnect`);
  const late = await Promise.all(Array.from({ length: 5 }, () => call(user)));
  for (const reply of late) assertRefusal(reply, { code: 'PAYMENT_REQUIRED', hasLink: true });
  const charged = (await Promise.all(calls)).filter(({ status }) => status === 200).length;
  assert.deepEqual(await service.wallet(app, user), {
    balance: 5_000_000 - charged * CHARGE,
    held: 0,
    openStreams: 0,
  });
  assert.deepEqual(await service.check(), []);
});

test('WA-11 connecting again does not lift a block', async () => {
  const { browser, user, path } = await atWallet();
  await service.setWallet(app, user, 'is_suspended = true, is_connected = false');
  await browser.open(path);
  await browser.submit(`${path}/reconnect`);
  assertRefusal(await call(user), { code: 'WALLET_SUSPENDED', hasLink: false });
});

const ACTS = [
  { name: 'disconnecting', page: '/disconnect', form: '/disconnect', fields: {}, code: 'PAYMENT_REQUIRED' },
  { name: 'a pause', page: '', form: '/pause', fields: {}, code: 'APP_SPEND_CAP_EXCEEDED' },
  { name: 'a lower cap', page: '', form: '/cap', fields: { cap: '0' }, code: 'APP_SPEND_CAP_EXCEEDED' },
] as const satisfies readonly { readonly code: Code; readonly [field: string]: unknown }[];

for (const { name, page, form, fields, code } of ACTS) {
  test(`AU-10 ${name} on the wallet page cuts no running stream`, async (context) => {
    const { browser, user, path } = await atWallet();
    const gate = createGate();
    context.after(() => gate.open()); // So that a failed test does not leave anything waiting for a silent provider.
    const steps = streamSteps({ model: 'm', pieces: ['begun', ' ended'], usage: USAGE, includeUsageChunk: true });
    upstream.script({ body: [...steps.slice(0, 2), { waitFor: gate.opened }, ...steps.slice(2)] });
    const stream = await openStream({ url: service.url, key: app.liveKey, user });
    await stream.until('begun');
    await browser.open(path + page);
    await browser.submit(path + form, fields);
    assertRefusal(await call(user), { code, hasLink: true });
    gate.open();
    const text = await stream.whole();
    assert.match(text, /ended/);
    assert.ok(text.endsWith('data: [DONE]\n\n'), text);
    assert.deepEqual(await service.wallet(app, user), { balance: 5_000_000 - CHARGE, held: 0, openStreams: 0 });
    upstream.script(ANSWER);
  });
}

test('ON-04 a top-up needs no app', async () => {
  const { browser, user, path } = await atWallet();
  const reply = await browser.ask(`${path}/topup`, { form: browser.fieldsOf(`${path}/topup`) });
  assertPage(reply, 303);
  const token = (reply.headers.get('location') ?? '').replace('/topup/', '');
  const link = links.read('topup', token);
  assert.deepEqual([link?.purpose, link?.appId, link?.userId], ['topup', app.appId, user]);
});
