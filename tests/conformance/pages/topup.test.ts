import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { type Browser, openBrowser } from '../../support/page.ts';
import { assertPage, mainOf } from '../../support/page.ts';
import { signedInPerson } from '../../support/people.ts';
import { sql, sqlValue } from '../../support/sql.ts';
import { beginTopup, hurry, payBy, setTopupStage } from '../../support/topup.ts';

const { service, app, connections, personWith, linkFor, linksOf, balanceOf, callAs } = await setTopupStage();
const VOID = 'This link no longer works';

/** The row count of every table that a page could write to. */
async function rowCounts(): Promise<unknown> {
  const tables = await sqlValue<string>(service)`
    select string_agg(format('select %L as name, count(*) from %I.%I', t.schemaname || '.' || t.tablename, t.schemaname,
      t.tablename), ' union all ' order by t.schemaname, t.tablename) as tables
    from pg_tables t where t.schemaname in ('payments', 'connections', 'ledger', 'mail', 'audit', 'identities', 'limits')
      and t.tablename not in ('links', 'head')`;
  return (await service.database.owner.query(`${tables} order by name`)).rows;
}

/** The form of the amounts, filled in, with a decision about what stops the app from spending. */
function formFor(browser: Browser, path: string, spending: string): Record<string, string> {
  return { ...browser.fieldsOf(`${path}/pay`), amount: '5000000', spending };
}

test('BI-04 all unusable links give one page and change nothing', async () => {
  const { user, browser } = await personWith();
  const spent = linkFor(user);
  const address = await beginTopup(browser, spent, { amount: '5000000' });
  await payBy(browser, address, 'success');
  await browser.open(spent);
  const form = browser.fieldsOf(`${spent}/pay`);
  await hurry(service, address);
  const subject = { appId: app.appId, userId: user as EndUserId };
  const connect = linksOf(0).connect({ ...subject, redirect: 'x', state: undefined, userLabel: undefined });
  const fresh = linkFor(user);
  const altered = fresh.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
  const paths = [
    spent,
    new URL(linksOf(16 * 60).topup(subject)).pathname,
    new URL(linksOf(0, 'another secret').topup(subject)).pathname,
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

test('BI-04 spending a link also spends its renewals', async () => {
  const { user, email } = await personWith();
  const link = linkFor(user);
  const browser = await signedInPerson(service, email, link);
  const [, renewed = ''] = /action="(\/topup\/[^"]+)\/pay"/.exec(browser.page().text) ?? [];
  assert.notEqual(renewed, link);
  const address = await beginTopup(browser, renewed, { amount: '5000000' });
  await payBy(browser, address, 'success');
  await hurry(service, address);
  for (const spent of [link, renewed]) {
    assertPage(await browser.open(spent), 404, VOID);
    const stranger = openBrowser(service.url);
    const signIn = `/wallet/sign-in?then=${encodeURIComponent(spent)}`;
    assert.doesNotMatch((await stranger.open(signIn)).text, /Test app/);
    const form = { ...stranger.fieldsOf('/wallet/sign-in'), email: 'stranger@example.test' };
    const reply = await stranger.ask('/wallet/sign-in', { form });
    assert.equal(reply.headers.get('location'), `/wallet/code?then=${encodeURIComponent(spent)}`);
  }
});

test('BI-04 opening a link changes nothing and signs nobody in', async () => {
  const { user, browser } = await personWith(3_000_000);
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

test('BI-04 another identity may pay into the wallet but sees nothing', async () => {
  const { user, connectionId, identityId } = await personWith(3_210_000, { cap: 7_770_000 });
  const { browser } = await personWith();
  for (const path of [linkFor(user, 9_000_000n), linkFor(user, 9_000_000n, 'cap')]) {
    assertPage(await browser.open(path), 200, 'Pay into a wallet for Test app');
    assert.match(browser.page().text, /belongs to somebody else/);
    assert.doesNotMatch(browser.page().text, /3\.21|5\.79|7\.77|id="least"|You can spend now/);
    assertPage(await browser.open(`${path}/pay?cap=set`), 200, 'Pay into a wallet for Test app');
    assert.doesNotMatch(browser.page().text, /The cap is set/);
    assertPage(await browser.open(path), 200, 'Pay into a wallet for Test app');
  }
  const shownFor = async (who: string, path: string): Promise<string> =>
    mainOf(await browser.open(path))
      .replaceAll(/\/topup\/[\w-]+|value="[^"]*"/g, '')
      .replaceAll(who, 'USER');
  const shown = await shownFor(user, linkFor(user));
  await service.setWallet(app, user, 'is_suspended = true');
  assert.equal(await shownFor(user, linkFor(user)), shown);
  await service.setWallet(app, user, 'is_suspended = false');
  // WA-02: A user who has disconnected looks like one who never connected.
  await connections.setConnected({ connectionId, identityId }, false);
  for (const [least, purpose] of [[undefined], [9_000_000n], [9_000_000n, 'cap']] as const) {
    for (const step of ['', '/pay', '/cap', '/consent']) {
      const stranger = await shownFor('someone-new', linkFor('someone-new', least, purpose) + step);
      assert.match(stranger, /Monthly cap/);
      assert.equal(await shownFor(user, linkFor(user, least, purpose) + step), stranger, step);
    }
  }
  await connections.setConnected({ connectionId, identityId }, true);
  const address = await beginTopup(browser, linkFor(user), { amount: '5000000' });
  await payBy(browser, address, 'success');
  await hurry(service, address);
  assert.equal(await balanceOf(user), 8_210_000);
});

test('WA-03 a cap refusal’s link shows the cap first', async () => {
  const { user, browser } = await personWith(50_000_000, { cap: 100 });
  const refused = await callAs(user);
  assert.equal(refused.error['code'], 'APP_SPEND_CAP_EXCEEDED');
  const path = new URL(String(refused.body['topupUrl'])).pathname;
  assert.match((await browser.open(path)).text, /<p class="app">.*Test app<\/p>/);
  assertPage(await browser.open(path), 200, 'Your monthly cap for Test app');
  assert.match(
    browser.page().text,
    /<dt>Current cap<\/dt><dd>€0\.0001<\/dd>\n<dt>Spent this month<\/dt><dd>€0\.00<\/dd>/,
  );
  const wrong = await browser.submit(`${path}/cap`, { cap: '1e3', set: 'cap' });
  assertPage(wrong, 400, 'Your monthly cap for Test app');
  assert.equal((await callAs(user)).error['code'], 'APP_SPEND_CAP_EXCEEDED');
  await browser.submit(`${path}/cap`, { cap: '12,50', set: 'cap' });
  assertPage(browser.page(), 200, 'Top up your wallet for Test app');
  assert.match(browser.page().text, /The cap is set, and Test app can spend up to it\./);
  assert.equal((await callAs(user)).status, 200);
  await browser.open(path);
  await browser.submit(`${path}/cap`, { set: 'none' });
  const rows = await sql(service)`select cap_micros from ledger.wallets where user_id = ${user}`;
  assert.deepEqual(rows, [{ cap_micros: null }]);
});

test('WA-03 the payment page warns of a blocking cap and raises it', async () => {
  const { user, browser } = await personWith(50_000_000, { cap: 100 });
  const path = new URL(String((await callAs(user)).body['topupUrl'])).pathname;
  await browser.open(`${path}/pay`);
  assert.match(browser.page().text, /Paying in does not change that/);
  const undecided = await browser.submit(`${path}/pay`, { amount: '5000000', spending: '' });
  assertPage(undecided, 400, 'Top up your wallet for Test app');
  assert.match(undecided.text, /Choose whether to raise the monthly cap or keep it/);
  const [, raised = ''] = /name="spending" value="(\d+)"/.exec(undecided.text) ?? [];
  const kept = await browser.ask(`${path}/pay`, { form: formFor(browser, path, 'keep') });
  assert.equal(kept.status, 303, 'who wants to keep the cap may');
  assert.equal((await callAs(user)).error['code'], 'APP_SPEND_CAP_EXCEEDED');
  assert.equal((await browser.ask(`${path}/pay`, { form: formFor(browser, path, raised) })).status, 303);
  assert.equal((await callAs(user)).status, 200, 'the cap is raised far enough for the refused call');
  assert.doesNotMatch((await browser.open(`${path}/pay`)).text, /Paying in does not change that/);
});

test('WA-03 a paused wallet’s link says so and resumes it', async () => {
  const { user, browser, connectionId, identityId } = await personWith(50_000_000, { cap: 20_000_000 });
  const owned = { connectionId, identityId };
  await connections.setPaused(owned, true);
  const refused = await callAs(user);
  assert.equal(refused.error['code'], 'APP_SPEND_CAP_EXCEEDED');
  assert.match(String(refused.error['message']), /paused/);
  const path = new URL(String(refused.body['topupUrl'])).pathname;
  assertPage(await browser.open(path), 200, 'You paused Test app');
  assert.match(browser.page().text, /<dt>Monthly cap<\/dt><dd>€20\.00/);
  await browser.submit(`${path}/cap`, { set: 'resume' });
  assert.match(browser.page().text, /role="status">Test app can spend again\./);
  assert.equal((await callAs(user)).status, 200);

  await connections.setPaused(owned, true);
  const other = linkFor(user);
  assert.match((await browser.open(other)).text, /You paused Test app/, 'on the way to any payment');
  assert.equal((await browser.ask(`${other}/pay`, { form: formFor(browser, other, 'resume') })).status, 303);
  assert.equal((await callAs(user)).status, 200);
});

test('ON-02 amounts are shown in the reader’s locale', async () => {
  const { user, browser } = await personWith(1_234_567_891);
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

test('ON-02 the form refuses unpayable amounts and keeps the typed text', async () => {
  const { user, browser } = await personWith();
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

test('ON-02 one address can begin forty payments at once', async () => {
  const { user, browser } = await personWith();
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

test('SB-06 the sandbox’s placeholder link leads everybody to one page', async () => {
  for (const browser of [openBrowser(service.url), (await personWith()).browser]) {
    assertPage(await browser.open('/topup/sandbox'), 200, 'This is the sandbox');
    assertPage(await browser.open('/topup/sandbox/pay'), 200, 'This is the sandbox');
  }
});
