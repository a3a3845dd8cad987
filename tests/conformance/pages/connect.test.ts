import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import { CONSENT, consent, consentAndGoOn, newConnectPerson } from '../../support/connect-stage.ts';
import { chat, type Reply } from '../../support/client.ts';
import { setConnectStage } from '../../support/connect-stage.ts';
import { newOperator } from '../../support/control.ts';
import { assertPage, mainOf, openBrowser, wayBackOf } from '../../support/page.ts';
import { sql } from '../../support/sql.ts';
import { browserOf } from '../../support/people.ts';

const stage = await setConnectStage();
const { service, newConnectApp, connections, everything } = stage;
const app = await newConnectApp('Notes', ['https://app.test/back?from=purser']);

function connectionOf(user: string) {
  return connections.find(app.appId, user as EndUserId);
}

test('ON-01 a person connects by consent and returns with the state', async () => {
  const { email, user } = newConnectPerson();
  const link = await app.linkFor(user, { state: 'a b&c=ü', userLabel: 'anna@notes' });
  const stranger = openBrowser(service.url);
  const first = await stranger.ask(link);
  assertPage(first, 303);
  assert.equal(first.headers.get('location'), `/wallet/sign-in?then=${encodeURIComponent(link)}`);

  const browser = await browserOf(service, email);
  const asked = await browser.open(link);
  assertPage(asked, 200, 'Connect Notes');
  for (const said of ['Notes', '<bdi>anna@notes</bdi>', email, 'Monthly cap'])
    assert.ok(asked.text.includes(said), said);
  assert.ok(!asked.text.includes(user) && !asked.text.includes('app.test'), mainOf(asked));
  const unnamed = await browser.ask(await app.linkFor(user));
  assert.ok(unnamed.text.includes(`<bdi>${user}</bdi>`), mainOf(unnamed)); // Otherwise the user could not tell whose account it is.
  assert.equal(await connectionOf(user), undefined);

  const next = await consentAndGoOn(browser, link, { cap: '50' });
  assert.notEqual(next, link);
  const made = await connectionOf(user);
  assert.equal(made?.wallet.isConnected, true);
  assert.deepEqual([made?.userLabel, made?.cap, made?.wallet.balance], ['anna@notes', 50_000_000n, 0n]);

  assert.equal((await browser.open(`${next}/topup`)).status, 200);
  const done = await browser.ask(`${next}/done`);
  assert.equal(wayBackOf(done), 'https://app.test/back?from=purser&status=connected&state=a%20b%26c%3D%C3%BC');
  assert.equal(wayBackOf(await browser.ask(`${link}/done`)), wayBackOf(done));
  const { status } = await chat({ url: service.url, key: app.liveKey, user });
  assert.equal(status, 402, 'connected, and with nothing in it yet');
});

test('BI-04 a user is warned about a link for another account', async () => {
  const WARNING = /already connected another account at Notes/;
  const [{ email, user }, other] = [newConnectPerson(), newConnectPerson()];
  const browser = await browserOf(service, email);
  const link = await app.linkFor(user);
  assert.doesNotMatch((await browser.open(link)).text, WARNING);
  await consent(browser, link);
  assert.doesNotMatch((await browser.open(link)).text, WARNING); // Their own account.
  const made = await connectionOf(user);
  assert.ok(made !== undefined);
  await connections.setConnected(made, false);
  assert.doesNotMatch((await browser.open(link)).text, WARNING);
  const { body } = await chat({ url: service.url, key: app.liveKey, user: other.user });
  for (const slipped of [await app.linkFor(other.user), new URL(String(body['topupUrl'])).pathname]) {
    assertPage(await browser.open(slipped), 200, 'Connect Notes');
    assert.match(browser.page().text, WARNING);
  }
  const elsewhere = await newConnectApp('Elsewhere');
  assert.doesNotMatch((await browser.open(await elsewhere.linkFor(user))).text, /connected another account/);
  const stranger = await browserOf(service, other.email);
  assert.doesNotMatch((await stranger.open(await app.linkFor(other.user))).text, WARNING);
});

test('ON-01 an app’s name cannot hide or reverse the sentence around it', async () => {
  const { email, user } = newConnectPerson();
  const browser = await browserOf(service, email);
  const odd = await newConnectApp('Odd');
  for (const [name, shown] of [
    ['\u202eevil\nname\u2066', 'evil name'],
    ['\u05d9\u05d5\u05de\u05df \u{1f469}\u200d\u{1f467}', '\u05d9\u05d5\u05de\u05df \u{1f469}\u200d\u{1f467}'],
    ['\u200b\u2060', odd.appId],
    ['\u3164\u2800', odd.appId],
    ['\u202e', odd.appId],
  ] as const) {
    // As an earlier build took it.
    await sql(service)`update accounts.apps set name = ${name} where app_id = ${odd.appId}`;
    assertPage(await browser.open(await odd.linkFor(user)), 200, `Connect ${shown}`);
    assert.doesNotMatch(browser.page().text, /[\u202e\u2066]/);
  }
});

test('ON-01 connecting needs a confirmed account and a valid cap', async () => {
  const { email, user } = newConnectPerson();
  const browser = await browserOf(service, email);
  const link = await app.linkFor(user);
  await browser.open(link);
  const before = await everything();
  const wrong: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['Confirm that the account is yours', { own: '' }],
    ['Confirm that the account is yours', { own: 'no' }],
    ['Choose a monthly cap', { cap: '' }],
    ['Choose a monthly cap', { cap: '7' }],
    ['Choose a monthly cap', { cap: '-20' }],
    ['Choose a monthly cap', { cap: 'None' }],
    ['Enter the amount in digits', { cap: 'other' }],
    ['Enter the amount in digits', { cap: 'other', 'other-cap': '1e3' }],
    ['Enter the amount in digits', { cap: 'other', 'other-cap': '-1' }],
    ['Enter the amount in digits', { cap: 'other', 'other-cap': '1.234' }],
    ['Enter the amount in digits', { cap: 'other', 'other-cap': '9007199254.740992' }],
    ['leave the field empty', { cap: '10', 'other-cap': '7' }],
    ['leave the field empty', { cap: 'none', 'other-cap': 'seven' }],
    ['The cap must be more than zero', { cap: 'other', 'other-cap': '0' }],
    ['The cap must be more than zero', { cap: 'other', 'other-cap': '0,00' }],
  ];
  for (const [said, fields] of wrong) {
    const reply = await browser.submit(`${link}/consent`, { ...CONSENT, ...fields });
    assertPage(reply, 400, 'Connect Notes');
    assert.ok(reply.text.includes(said), `${said}: ${mainOf(reply)}`);
  }
  const shown = await browser.submit(`${link}/consent`, { ...CONSENT, cap: 'other', 'other-cap': '"><b>' });
  assert.ok(shown.text.includes('value="&#34;&#62;&#60;b&#62;"'), 'the typed amount is still there');
  assert.match(shown.text, /value="other" selected>[^]*name="own" type="checkbox" value="yes" required checked>/);
  assert.equal(await everything(), before);
});

for (const [fields, cap] of [
  [{ cap: 'none' }, undefined],
  [{ cap: '5' }, 5_000_000n],
  [{ cap: 'other', 'other-cap': '12,5' }, 12_500_000n],
  [{ cap: 'other', 'other-cap': ' 0.000001 ' }, 1n],
  [{ cap: '10', 'other-cap': ' ' }, 10_000_000n],
] as const) {
  test(`ON-01 the chosen cap becomes the wallet’s cap: ${JSON.stringify(fields)}`, async () => {
    const { email, user } = newConnectPerson();
    await consent(await browserOf(service, email), await app.linkFor(user), fields);
    assert.equal((await connectionOf(user))?.wallet.cap, cap);
  });
}

test('BI-04 another identity gets a page that shows and changes nothing', async () => {
  const { email, user } = newConnectPerson();
  const owner = await browserOf(service, email);
  const late = await browserOf(service, newConnectPerson().email);
  const link = await app.linkFor(user, { userLabel: 'secret label' });
  await late.open(link); // Both open the link at the same time.
  const form = { ...late.fieldsOf(`${link}/consent`), ...CONSENT, cap: 'none' };
  await consent(owner, link);
  const operator = await newOperator(service);
  await operator.get(200, 'POST', `/operator/apps/${app.appId}/wallets/${user}/credit`, {
    amountMicros: 123_000_000,
    reason: 'test',
    idempotencyKey: 'k',
  });
  const before = await everything();
  const reply = await late.ask(`${link}/consent`, { form });
  assertPage(reply, 404, 'This link no longer works');
  for (const step of ['', '/topup', '/done']) {
    const page = await late.open(link + step);
    assertPage(page, 200, 'Connect Notes');
    for (const secret of ['123', email]) assert.ok(!mainOf(page).includes(secret), secret);
    assert.ok(page.text.includes(`action="${link}/cancel"`));
  }
  assert.equal(await everything(), before);
  assert.equal((await connectionOf(user))?.cap, 20_000_000n);
});

/** What a page says, without the parts that differ in each look: the link, the user, the proof of its forms. */
function saidBy(reply: Reply, link: string, user: string): string {
  const said = mainOf(reply)
    .replaceAll(link, 'LINK')
    .replaceAll(encodeURIComponent(link), 'LINK')
    .replaceAll(user, 'USER');
  return `${reply.status} ${said.replaceAll(/value="[\w-]{40,}"/g, '')}`;
}

test('WA-02 a connect link shows a stranger the same after someone connects or leaves', async () => {
  const [{ email, user }, other, stranger] = [newConnectPerson(), newConnectPerson(), newConnectPerson()];
  const [owner, developer] = [await browserOf(service, email), await browserOf(service, other.email)];
  await consent(owner, await app.linkFor(user, { userLabel: 'secret label' }), { cap: '50' });
  await consent(developer, await app.linkFor(other.user)); // They know the app.
  const made = (await connectionOf(user)) ?? assert.fail();
  const expired = mainOf(await developer.open(`/connect/${'A'.repeat(80)}`));
  for (const isConnected of [true, false]) {
    await connections.setConnected(made, isConnected);
    const before = await everything();
    const [theirs, nobodys] = [await app.linkFor(user), await app.linkFor(stranger.user)];
    for (const step of ['', '/topup', '/done', '/consent', '/cancel']) {
      const [known, never] = [await developer.open(theirs + step), await developer.open(nobodys + step)];
      assert.equal(saidBy(known, theirs, user), saidBy(never, nobodys, stranger.user), `${isConnected} ${step}`);
    }
    assertPage(await developer.open(theirs), 200, 'Connect Notes');
    // Their own consent gets the page of every link that has expired, whether the owner has left or not.
    await developer.open(theirs);
    const refused = await developer.submit(`${theirs}/consent`, CONSENT);
    assertPage(refused, 404, 'This link no longer works');
    assert.equal(mainOf(refused), expired);
    assertPage(await developer.open(theirs), 200, 'Connect Notes');
    assert.equal(await everything(), before);
  }
  const topup = new URL(String((await chat({ url: service.url, key: app.liveKey, user })).body['topupUrl'])).pathname;
  await developer.open(topup);
  assert.equal(mainOf(await developer.submit(`${topup}/consent`, CONSENT)), expired);
  const theirs = await app.linkFor(user);
  assertPage(await owner.open(theirs), 200, 'Connect Notes');
  assert.match(owner.page().text, /You connected this app before/);
});

test('ON-05 connecting again finds the same wallet', async () => {
  const { email, user } = newConnectPerson();
  const owner = await browserOf(service, email);
  await consent(owner, await app.linkFor(user), { cap: 'other', 'other-cap': '12.50' });
  const made = await connectionOf(user);
  assert.ok(made !== undefined);
  const link = await app.linkFor(user);
  const connected = await owner.open(link);
  assertPage(connected, 200, 'Notes is connected');
  assert.match(connected.text, /value="other" selected>[^]*value="12\.50"/);
  assert.doesNotMatch(connected.text, /connected this app before|\/cancel"/);
  assert.ok(connected.text.includes(`href="${link}/done"`), 'an owner who goes back is connected');
  await owner.submit(`${link}/consent`, { ...CONSENT, cap: '50', 'other-cap': '12.50' }); // The field as the page showed it.
  assert.equal((await connectionOf(user))?.cap, 50_000_000n);
  for (const [cap, chosen] of [
    [undefined, 'none'],
    [micros(5_000_000n), '5'],
  ] as const) {
    await connections.setCap(made, cap);
    assert.match((await owner.open(link)).text, new RegExp(`value="${chosen}" selected>`));
  }
  await connections.setConnected(made, false);
  const again = await owner.open(link);
  assertPage(again, 200, 'Connect Notes');
  assert.match(again.text, /You connected this app before/);
  await owner.submit(`${link}/consent`, { ...CONSENT, cap: '10' });
  const after = await connectionOf(user);
  assert.equal(after?.connectionId, made.connectionId);
  assert.deepEqual([after?.wallet.isConnected, after?.cap], [true, 10_000_000n]);
});

test('ON-01 an operator-opened wallet’s first owner is offered its cap', async () => {
  const operator = await newOperator(service);
  for (const [spendCapMicros, chosen] of [
    [5_000_000, /value="5" selected>/],
    [7_250_000, /value="other" selected>[^]*value="7\.25"/],
    [undefined, /value="20" selected>/],
  ] as const) {
    const { email, user } = newConnectPerson();
    const fields = spendCapMicros === undefined ? {} : { spendCapMicros };
    await operator.get(201, 'POST', `/operator/apps/${app.appId}/wallets`, { userId: user, ...fields });
    const owner = await browserOf(service, email);
    const link = await app.linkFor(user);
    const asked = await owner.open(link);
    assertPage(asked, 200, 'Connect Notes');
    assert.match(asked.text, chosen);
    await consent(owner, link, { cap: '10' });
    assert.equal((await connectionOf(user))?.cap, 10_000_000n);
    const other = await browserOf(service, newConnectPerson().email);
    assert.doesNotMatch(mainOf(await other.open(link)), /checked/);
  }
});

test('AU-02 nobody connects to a suspended app', async () => {
  const paused = await newConnectApp('Paused');
  const { email, user } = newConnectPerson();
  const owner = await browserOf(service, email);
  const link = await paused.linkFor(user);
  await owner.open(link);
  const form = { ...owner.fieldsOf(`${link}/consent`), ...CONSENT };
  const operator = await newOperator(service);
  await operator.get(200, 'POST', `/operator/apps/${paused.appId}/suspend`, { reason: 'test' });
  const before = await everything();
  assertPage(await owner.ask(link), 403, 'Paused is suspended here');
  assertPage(await owner.ask(`${link}/consent`, { form }), 403, 'Paused is suspended here');
  assertPage(await openBrowser(service.url).ask(link), 403, 'Paused is suspended here');
  assert.equal(await everything(), before);
});

test('PG-03 app names, user names and redirect addresses are shown as text', async () => {
  const markup = `"><img src=x onerror=alert(1)>'</title><script>alert(2)</script>&amp;`;
  const redirectUri = `https://odd.test/a;b'c"><script>?d='"&amp;`;
  const odd = await newConnectApp(markup, [redirectUri]);
  const { email, user } = newConnectPerson();
  const browser = await browserOf(service, email);
  const link = await odd.linkFor(user, { userLabel: markup, state: markup });
  const page = await browser.open(link);
  assert.equal(page.status, 200);
  const escaped = /&#34;&#62;&#60;img src=x onerror=alert\(1\)&#62;&#39;/;
  const cancelled = await browser.ask(`${link}/cancel`, { form: browser.fieldsOf(`${link}/cancel`) });
  for (const reply of [page, cancelled]) {
    assert.match(reply.text, escaped);
    assert.ok(!/<img|<script/.test(reply.text), mainOf(reply));
  }
  const way = wayBackOf(cancelled);
  assert.equal(way, `${redirectUri}&status=cancelled&state=${encodeURIComponent(markup)}`);
});
