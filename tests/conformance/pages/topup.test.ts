import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLinks } from '../../../packages/service/src/connections/link.ts';
import type { EndUserId } from '../../../packages/service/src/kernel/ids.ts';
import { micros } from '../../../packages/service/src/kernel/micros.ts';
import { type Browser, openBrowser } from '../../support/browser.ts';
import { chat, send } from '../../support/client.ts';
import { connectionsOf } from '../../support/connections.ts';
import { assertPage, mainOf } from '../../support/page.ts';
import { browserOf } from '../../support/people.ts';
import { completionBody } from '../../support/scripted-upstream.ts';
import { setStage } from '../../support/stage.ts';
import { beginTopup, hurry, payBy, refusedPath } from '../../support/topup.ts';

const SECRET = 'a secret of this test, of which there are enough bytes';
const PRICE = { inputMicrosPerMillion: 3_000_000_000, outputMicrosPerMillion: 4_000_000 };
const { service, upstream, app } = await setStage({
  model: { price: PRICE },
  environment: { PURSER_SECRET: SECRET, PURSER_PROXY_HOPS: '1' },
});
upstream.script({
  body: completionBody({ model: 'm', content: 'Hi', usage: { prompt_tokens: 1, completion_tokens: 1 } }),
});
const connections = connectionsOf(service.database);
const links = createLinks({
  secret: Buffer.from(SECRET),
  publicUrl: 'https://purser.test',
  clock: { nowMs: () => Date.now() },
});
const VOID = 'This link does not work any more';

let users = 0;

/** Somebody with a connected wallet, and his browser. */
async function newPerson(amount = 0, cap?: number) {
  const user = `person-${(users += 1)}`;
  const email = `${user}@example.test`;
  const identity = await connections.newIdentity(email);
  await service.fund(app, user, amount);
  const { connectionId } = await connections.connect({ identity, appId: app.appId, user, cap });
  return { user, email, identity, connectionId, browser: await browserOf(service, email) };
}

function linkFor(user: string, least?: bigint, purpose: 'topup' | 'cap' = 'topup'): string {
  const subject = { appId: app.appId, userId: user as EndUserId };
  return new URL(links[purpose](subject, least === undefined ? undefined : micros(least))).pathname;
}

async function balanceOf(user: string): Promise<number> {
  assert.deepEqual(await service.check(), []);
  return (await service.wallet(app, user)).balance;
}

function call(user: string) {
  return chat({ url: service.url, key: app.liveKey, user });
}

/** How many rows each table has, of all that a page could write to. */
async function rowCounts(): Promise<unknown> {
  const { rows } = await service.database.owner.query<{ tables: string }>(
    `select string_agg(format('select %L as name, count(*) from %I.%I', t.schemaname || '.' || t.tablename, t.schemaname,
       t.tablename), ' union all ' order by t.schemaname, t.tablename) as tables
     from pg_tables t where t.schemaname in ('payments', 'connections', 'ledger', 'mail', 'audit', 'identities', 'limits')`,
  );
  return (await service.database.owner.query(`${rows[0]?.tables} order by name`)).rows;
}

/** Pays five units and lets everything happen that the card leads to. */
async function payFive(browser: Browser, user: string, card: Parameters<typeof payBy>[2]): Promise<string> {
  const address = await beginTopup(browser, linkFor(user), { amount: '5000000' });
  await payBy(browser, address, card);
  return address;
}

test('ON-02 from a refused call to a funded wallet to the same call succeeding', async () => {
  const { user, browser } = await newPerson();
  const path = await refusedPath(service, app, user);
  assertPage(await browser.open(path), 200, 'Top up your wallet for Test app');
  const address = await beginTopup(browser, path, { amount: '10000000' });
  assert.match(mainOf(browser.page()), /€10\.00/);
  const waiting = await payBy(browser, address, 'success');
  assertPage(waiting, 200, 'Your payment is on its way', { hasScript: true });
  await hurry(service, address);
  const [, checkout = ''] = /checkoutId|(chk_\w+)/.exec(waiting.text) ?? [];
  assert.equal(checkout, '');
  assert.equal(await balanceOf(user), 10_000_000);
  assert.equal((await call(user)).status, 200);
});

test('BI-04 the least that lets the refused call through does so, and a cent less does not', async () => {
  const one = await newPerson();
  const path = await refusedPath(service, app, one.user);
  await one.browser.open(path);
  const [, least = ''] =
    /<input id="least" type="radio" name="amount" value="(\d+)">/.exec(one.browser.page().text) ?? [];
  assert.ok(Number(least) > 1_000_000 && Number(least) % 10_000 === 0, least);
  const address = await beginTopup(one.browser, path, { amount: least });
  await payBy(one.browser, address, 'success');
  await hurry(service, address);
  assert.equal(await balanceOf(one.user), Number(least));
  assert.equal((await call(one.user)).status, 200);

  const other = await newPerson();
  const cent = await beginTopup(other.browser, await refusedPath(service, app, other.user), {
    other: ((Number(least) - 10_000) / 1_000_000).toFixed(2),
  });
  await payBy(other.browser, cent, 'success');
  await hurry(service, cent);
  assert.equal(await balanceOf(other.user), Number(least) - 10_000);
  assert.equal((await call(other.user)).status, 402);
});

test('ON-02 coming back from the processor credits nothing, whatever the address says', async () => {
  const { user, browser } = await newPerson();
  await beginTopup(browser, linkFor(user), { amount: '5000000' });
  const { rows } = await service.database.owner.query<{ checkout_id: string }>(
    'select checkout_id from payments.checkouts where user_id = $1',
    [user],
  );
  const path = `/checkout/${rows[0]?.checkout_id}`;
  for (const query of ['', '?paid=yes', '?state=paid&amount=5000000', '?session_id=cs_1', '?payment=tpa_1']) {
    assertPage(await browser.open(path + query), 200, 'Your payment is on its way', { hasScript: true });
  }
  assertPage(await browser.open(`${path}?paid=no`), 200, 'Not paid yet', { hasScript: true });
  const [, again = ''] = /href="(\/topup\/[^"]+)">Try again/.exec(browser.page().text) ?? [];
  assertPage(await browser.open(again), 200, 'Top up your wallet for Test app');
  assert.equal(await balanceOf(user), 0);
});

test('ON-02 the page of a checkout shows the money arriving, and the wallet to its owner alone', async () => {
  const { user, browser } = await newPerson(1_000_000);
  const address = await beginTopup(browser, linkFor(user), { other: '7,50' });
  const waiting = await payBy(browser, address, 'success');
  const { rows } = await service.database.owner.query<{ checkout_id: string }>(
    'select checkout_id from payments.checkouts where user_id = $1',
    [user],
  );
  const path = `/checkout/${rows[0]?.checkout_id}`;
  assert.match(waiting.text, /<section id="arrival" aria-live="polite">/);
  assert.match(waiting.text, /<noscript><meta http-equiv="refresh" content="3">/);
  await hurry(service, address);
  assertPage(await browser.open(path), 200, 'The money has arrived');
  assert.match(browser.page().text, /€7\.50 is in the wallet[^]*€8\.50/);
  const strangers = [openBrowser(service.url), (await newPerson()).browser];
  for (const stranger of strangers) {
    assertPage(await stranger.open(path), 200, 'The money has arrived');
    assert.doesNotMatch(stranger.page().text, /8\.50|href="\/wallet"|\/topup\//);
  }
  for (const none of ['/checkout/chk_none', '/checkout/%00']) {
    assertPage(await browser.open(none), 404, 'Nothing to see here');
  }
});

test('ON-03 each test card does what it says, by the pages', async () => {
  const declined = await newPerson();
  const address = await beginTopup(declined.browser, linkFor(declined.user), { amount: '5000000' });
  assertPage(await payBy(declined.browser, address, 'decline'), 402, 'Test payment');
  assert.match(declined.browser.page().text, /The card was declined\. Nothing was paid\./);
  await payBy(declined.browser, address, 'success');
  await declined.browser.open(address);
  assertPage(declined.browser.page(), 200, 'Paid');
  await hurry(service, address);
  assert.equal(await balanceOf(declined.user), 5_000_000);

  const stepped = await newPerson();
  const second = await beginTopup(stepped.browser, linkFor(stepped.user), { amount: '5000000' });
  assertPage(await payBy(stepped.browser, second, 'confirm'), 200, 'Confirm the payment');
  assertPage(await stepped.browser.submit(second, { step: 'refuse' }), 402, 'Test payment');
  assert.equal(await balanceOf(stepped.user), 0);
  await payBy(stepped.browser, second, 'confirm');
  const paid = await stepped.browser.submit(second, { step: 'confirm' });
  assertPage(paid, 200, 'Your payment is on its way', { hasScript: true });
  await hurry(service, second);
  assert.equal(await balanceOf(stepped.user), 5_000_000);

  const won = await newPerson();
  await hurry(service, await payFive(won.browser, won.user, 'chargeback_won'));
  assert.equal(await balanceOf(won.user), 5_000_000);
});

test('WA-05 a later refund or chargeback takes the money back, and suspends a wallet that has spent it', async () => {
  for (const card of ['refund', 'chargeback'] as const) {
    const kept = await newPerson();
    await hurry(service, await payFive(kept.browser, kept.user, card));
    assert.equal(await balanceOf(kept.user), 0);
    assert.equal((await call(kept.user)).error['code'], 'PAYMENT_REQUIRED');

    const spent = await newPerson();
    const address = await payFive(spent.browser, spent.user, card);
    await hurry(service, address, 'payment.paid');
    assert.equal((await call(spent.user)).status, 200);
    await hurry(service, address);
    assert.equal(await balanceOf(spent.user), 0);
    const refused = await call(spent.user);
    assert.deepEqual([refused.error['code'], refused.body['topupUrl']], ['WALLET_SUSPENDED', undefined]);

    await spent.browser.open(linkFor(spent.user));
    assert.match(spent.browser.page().text, /This wallet is blocked.*Contact Purser/);
    assert.doesNotMatch(spent.browser.page().text, /You can spend now/);
    await hurry(service, await payFive(spent.browser, spent.user, 'success')); // WA-04: paid, and blocked still.
    assert.equal((await call(spent.user)).error['code'], 'WALLET_SUSPENDED');
  }
});

test('ON-03 a number that is no test card is refused, and is kept nowhere', async () => {
  const { user, browser } = await newPerson();
  const address = await beginTopup(browser, linkFor(user), { amount: '5000000' });
  const real = [
    '5555 5555 5555 4444',
    '4111111111111111',
    '4242424242424241',
    '42424242424242420',
    '',
    ' ',
    'x'.repeat(99),
  ];
  for (const number of real) {
    assertPage(await browser.submit(address, { number }), 402, 'Test payment');
    if (number.trim() !== '') assert.ok(!browser.page().text.includes(`"${number}"`), number);
    assert.match(browser.page().text, /That is not one of the test cards/);
  }
  assert.equal(await balanceOf(user), 0);
  assertPage(await browser.open('/test-processor/tch_none'), 404, 'Nothing to pay here');
});

test('BI-04 links that are spent, expired, forged, altered or of another purpose give one page, and change nothing', async () => {
  const { user, browser } = await newPerson();
  const spent = linkFor(user);
  const address = await beginTopup(browser, spent, { amount: '5000000' });
  await payBy(browser, address, 'success');
  await browser.open(spent);
  const form = browser.fieldsOf(`${spent}/pay`);
  await hurry(service, address);
  const old = createLinks({
    secret: Buffer.from(SECRET),
    publicUrl: 'https://purser.test',
    clock: { nowMs: () => Date.now() - 16 * 60 * 1_000 },
  });
  const subject = { appId: app.appId, userId: user as EndUserId };
  const other = createLinks({ secret: Buffer.alloc(32), publicUrl: 'https://purser.test', clock: { nowMs: Date.now } });
  const connect = links.connect({ ...subject, redirect: 'x', state: undefined, userLabel: undefined });
  const fresh = linkFor(user);
  const altered = fresh.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
  const paths = [
    spent,
    new URL(old.topup(subject)).pathname,
    new URL(other.topup(subject)).pathname,
    new URL(connect.url).pathname.replace('connect', 'topup'),
    altered,
    '/topup/x',
    `${fresh}A`,
  ];
  const before = await rowCounts();
  const pages = new Set<string>();
  for (const path of paths) {
    for (const who of [browser, openBrowser(service.url)]) {
      for (const end of ['', '/pay']) {
        assertPage(await who.open(path + end), 404, VOID);
        pages.add(who.page().text);
      }
    }
  }
  assert.equal(pages.size, 1);
  assertPage(await browser.ask(`${spent}/pay`, { form: { ...form, amount: '5000000' } }), 404, VOID);
  assert.deepEqual(await rowCounts(), before);
});

test('BI-04 opening a link changes nothing, however often, and signs nobody in', async () => {
  const { user, browser } = await newPerson(3_000_000);
  const [link, capLink] = [linkFor(user, 9_000_000n), linkFor(user, 9_000_000n, 'cap')];
  await browser.open(link);
  const before = await rowCounts();
  for (const path of [link, capLink, `${link}/pay`, link]) await browser.open(path);
  assert.deepEqual(await rowCounts(), before);
  const stranger = openBrowser(service.url);
  for (const path of [link, `${link}/pay`]) {
    const reply = await stranger.ask(path);
    assertPage(reply, 303);
    assert.equal(reply.headers.get('location'), `/wallet/sign-in?then=${encodeURIComponent(link)}`);
  }
  assert.deepEqual(await rowCounts(), before);
});

test('BI-04 another identity sees nothing of the wallet, and may pay into it', async () => {
  const { user, connectionId, identity } = await newPerson(3_210_000, 7_770_000);
  const { browser } = await newPerson();
  for (const path of [linkFor(user, 9_000_000n), linkFor(user, 9_000_000n, 'cap')]) {
    assertPage(await browser.open(path), 200, 'Pay into a wallet for Test app');
    assert.match(browser.page().text, /belongs to somebody else/);
    assert.doesNotMatch(browser.page().text, /3\.21|5\.79|7\.77|id="least"|You can spend now/);
    assertPage(await browser.open(`${path}/pay?cap=set`), 200, 'Pay into a wallet for Test app');
    assert.doesNotMatch(browser.page().text, /The cap is set/);
    assertPage(await browser.open(path), 200, 'Pay into a wallet for Test app');
  }
  const shown = mainOf(await browser.open(linkFor(user))).replaceAll(/\/topup\/[\w-]+|value="[^"]*"/g, '');
  await connections.setConnected({ connectionId, identityId: identity.identityId }, false);
  await service.setWallet(app, user, 'is_suspended = true');
  const later = mainOf(await browser.open(linkFor(user))).replaceAll(/\/topup\/[\w-]+|value="[^"]*"/g, '');
  assert.equal(later, shown);
  await service.setWallet(app, user, 'is_suspended = false');
  const address = await beginTopup(browser, linkFor(user), { amount: '5000000' });
  await payBy(browser, address, 'success');
  await hurry(service, address);
  assert.equal(await balanceOf(user), 8_210_000);
});

test('WA-03 a link that the monthly cap led to shows the cap first, and its owner sets another or goes on to pay', async () => {
  const { user, browser } = await newPerson(50_000_000, 100);
  const refused = await call(user);
  assert.equal(refused.error['code'], 'APP_SPEND_CAP_EXCEEDED');
  const path = new URL(String(refused.body['topupUrl'])).pathname;
  assertPage(await browser.open(path), 200, 'Your monthly cap for Test app');
  assert.match(browser.page().text, /<dt>Cap<\/dt><dd>€0\.0001<\/dd>\n<dt>Spent this month<\/dt><dd>€0\.00<\/dd>/);
  const wrong = await browser.submit(`${path}/cap`, { cap: '1e3', set: 'cap' });
  assertPage(wrong, 400, 'Your monthly cap for Test app');
  assert.equal((await call(user)).error['code'], 'APP_SPEND_CAP_EXCEEDED');
  await browser.submit(`${path}/cap`, { cap: '12,50', set: 'cap' });
  assertPage(browser.page(), 200, 'Top up your wallet for Test app');
  assert.match(browser.page().text, /The cap is set, and Test app can go on within it\./);
  assert.equal((await call(user)).status, 200);
  await browser.open(path);
  await browser.submit(`${path}/cap`, { set: 'none' });
  const { rows } = await service.database.owner.query('select cap_micros from ledger.wallets where user_id = $1', [
    user,
  ]);
  assert.deepEqual(rows, [{ cap_micros: null }]);
});

test('ON-02 amounts are shown by the locale of the reader', async () => {
  const { user, browser } = await newPerson(1_234_567_891);
  const path = linkFor(user);
  const shown: Readonly<Record<string, string>> = {
    de: '1.234,567891\u00a0€',
    'en-GB': '€1,234.567891',
    '': '€1,234.567891',
  };
  for (const [language, text] of Object.entries(shown)) {
    const reply = await browser.ask(path, { headers: { 'accept-language': language } });
    assert.ok(reply.text.includes(text), mainOf(reply));
  }
});

test('ON-02 amounts that cannot be paid are refused by the form, which keeps what was typed', async () => {
  const { user, browser } = await newPerson();
  const path = linkFor(user);
  await browser.open(path);
  const wrong = [{}, { amount: '5000000', other: '5' }, { other: '0.99' }, { other: '1000.01' }, { other: '5.001' }];
  for (const fields of [...wrong, { amount: '1' }, { amount: 'x' }]) {
    assertPage(await browser.submit(`${path}/pay`, { amount: '', ...fields }), 400, 'Top up your wallet for Test app');
  }
  await browser.submit(`${path}/pay`, { amount: '', other: '"><b>' });
  assert.match(browser.page().text, /value="&#34;&#62;&#60;b&#62;"/);
  const { rowCount } = await service.database.owner.query('select from payments.checkouts where user_id = $1', [user]);
  assert.equal(rowCount, 0);
});

test('ON-02 one address begins forty payments at once, and the form says when the next may be begun', async () => {
  const { user, browser } = await newPerson();
  const path = linkFor(user);
  await browser.open(path);
  const form = { ...browser.fieldsOf(`${path}/pay`), amount: '5000000' };
  const headers = { 'x-forwarded-for': '198.51.100.7' };
  const statuses: number[] = [];
  for (let count = 0; count < 45; count += 1) {
    const reply = await browser.ask(`${path}/pay`, { form, headers });
    statuses.push(reply.status);
    if (reply.status === 429) assert.match(reply.headers.get('retry-after') ?? '', /^\d+$/);
  }
  assert.equal(
    statuses.slice(0, 40).every((status) => status === 303),
    true,
    statuses.join(),
  );
  assert.equal(statuses.at(-1), 429);
});

test('SB-06 the placeholder link of play money leads to a calm page, for whoever is there', async () => {
  for (const browser of [openBrowser(service.url), (await newPerson()).browser]) {
    assertPage(await browser.open('/topup/sandbox'), 200, 'This is the sandbox');
    assertPage(await browser.open('/topup/sandbox/pay'), 200, 'This is the sandbox');
  }
});

test('ON-03 every page says that no real money moves', async () => {
  const { user, browser } = await newPerson();
  const path = linkFor(user);
  const shown = [(await browser.open(path)).text, (await browser.open(linkFor(user, undefined, 'cap'))).text];
  const address = await beginTopup(browser, path, { amount: '5000000' });
  shown.push(browser.page().text, (await payBy(browser, address, 'success')).text, (await browser.open(address)).text);
  shown.push((await browser.open('/topup/x')).text, (await browser.open('/topup/sandbox')).text);
  for (const text of shown) assert.match(text, /<p class="test-money">Test processor: no real money moves<\/p>/);
  assert.equal((await send('/test-processor', { url: service.url })).status, 404);
});
