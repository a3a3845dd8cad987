import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndUserId } from '../../../packages/service/src/kernel/ids.ts';
import type { Browser } from '../../support/browser.ts';
import { openBrowser } from '../../support/browser.ts';
import { chat, type Reply } from '../../support/client.ts';
import { type ConnectApp, setConnectStage } from '../../support/connect-stage.ts';
import { newOperator } from '../../support/control.ts';
import { assertPage, mainOf } from '../../support/page.ts';
import { browserOf } from '../../support/people.ts';

const stage = await setConnectStage();
const { service, newConnectApp, connections, everything } = stage;
const app = await newConnectApp('Notes', ['https://app.test/back?from=purser']);

const CONSENT = { cap: '20', 'other-cap': '', own: 'yes' };
let people = 0;

function newPerson(): { readonly email: string; readonly user: string } {
  people += 1;
  return { email: `connect-${people}@example.test`, user: `user-${people}` };
}

function connectionOf(user: string, { appId }: ConnectApp = app) {
  return connections.find(appId, user as EndUserId);
}

/** Where a page leads back to: its link, and what the browser follows by itself. */
function wayBackOf(reply: Reply): string {
  assert.equal(reply.status, 200, mainOf(reply));
  const link = textOf(/<a class="button" href="([^"]*)"/.exec(reply.text)?.[1]);
  const refresh = textOf(/<meta http-equiv="refresh" content="0;url=([^"]*)">\n/.exec(reply.text)?.[1]);
  assert.equal(refresh, link);
  return link;
}

function textOf(written = ''): string {
  return written.replace(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)));
}

/** Opens the link, agrees, and shows what comes then. */
async function consent(browser: Browser, link: string, fields: Readonly<Record<string, string>> = {}): Promise<Reply> {
  assertPage(await browser.open(link), 200);
  return browser.submit(`${link}/consent`, { ...CONSENT, ...fields });
}

/** The link that consent leads on with. */
async function consentAndGoOn(
  browser: Browser,
  link: string,
  fields?: Readonly<Record<string, string>>,
): Promise<string> {
  assertPage(await browser.open(link), 200);
  const reply = await browser.ask(`${link}/consent`, {
    form: { ...browser.fieldsOf(`${link}/consent`), ...CONSENT, ...fields },
  });
  assertPage(reply, 303);
  const path = /^(\/connect\/[A-Za-z0-9_-]+)\/topup$/.exec(reply.headers.get('location') ?? '')?.[1];
  assert.ok(path !== undefined, String(reply.headers.get('location')));
  return path;
}

test('ON-01 from the app to the page, by consent to the wallet, and back to the app with its state', async () => {
  const { email, user } = newPerson();
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
  assert.equal(status, 402, 'connected, and nothing in it yet');
});

test('BI-04 opening a link changes nothing, however often, and makes nothing known of a wallet', async () => {
  const { email, user } = newPerson();
  const browser = await browserOf(service, email);
  const link = await app.linkFor(user);
  await browser.open(link);
  const before = await everything();
  for (const path of [link, link, `${link}/cancel`, `${link}/done`, `${link}/topup`, `${link}/consent`]) {
    await browser.ask(path);
    await openBrowser(service.url).ask(path);
  }
  assert.equal(await everything(), before);
});

test('ON-01 nobody connects without saying that the account is his, or without a cap that can be one', async () => {
  const { email, user } = newPerson();
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
    ['Write the amount as digits', { cap: 'other' }],
    ['Write the amount as digits', { cap: 'other', 'other-cap': '1e3' }],
    ['Write the amount as digits', { cap: 'other', 'other-cap': '-1' }],
    ['Write the amount as digits', { cap: 'other', 'other-cap': '1.234' }],
    ['Write the amount as digits', { cap: 'other', 'other-cap': '9007199254.740992' }],
    ['A cap must be more than nothing', { cap: 'other', 'other-cap': '0' }],
    ['A cap must be more than nothing', { cap: 'other', 'other-cap': '0,00' }],
  ];
  for (const [said, fields] of wrong) {
    const reply = await browser.submit(`${link}/consent`, { ...CONSENT, ...fields });
    assertPage(reply, 400, 'Connect Notes');
    assert.ok(reply.text.includes(said), `${said}: ${mainOf(reply)}`);
  }
  const shown = await browser.submit(`${link}/consent`, { ...CONSENT, cap: 'other', 'other-cap': '"><b>' });
  assert.ok(shown.text.includes('value="&#34;&#62;&#60;b&#62;"'), 'what was typed is there still');
  assert.match(shown.text, /value="other" checked>[^]*name="own" type="checkbox" value="yes" required checked>/);
  assert.equal(await everything(), before);
});

for (const [fields, cap] of [
  [{ cap: 'none' }, undefined],
  [{ cap: '5' }, 5_000_000n],
  [{ cap: 'other', 'other-cap': '12,5' }, 12_500_000n],
  [{ cap: 'other', 'other-cap': ' 0.000001 ' }, 1n],
  [{ cap: '10', 'other-cap': 'nothing that counts' }, 10_000_000n],
] as const) {
  test(`ON-01 the cap that is chosen is the wallet’s: ${JSON.stringify(fields)}`, async () => {
    const { email, user } = newPerson();
    await consent(await browserOf(service, email), await app.linkFor(user), fields);
    assert.equal((await connectionOf(user))?.wallet.cap, cap);
  });
}

test('BI-02 whoever cancels goes back with nothing changed, signed in or not', async () => {
  const { email, user } = newPerson();
  const link = await app.linkFor(user, { state: 's' });
  const browser = await browserOf(service, email);
  assert.ok((await browser.open(link)).text.includes(`href="${link}/cancel"`));
  const before = await everything();
  for (const one of [browser, openBrowser(service.url)]) {
    const way = wayBackOf(await one.ask(`${link}/cancel`));
    assert.equal(way, 'https://app.test/back?from=purser&status=cancelled&state=s');
  }
  const bare = await app.linkFor(user);
  assert.equal(wayBackOf(await browser.ask(`${bare}/cancel`)), 'https://app.test/back?from=purser&status=cancelled');
  assert.equal(await everything(), before);
});

test('BI-02 an app hears that it is connected only where that is so', async () => {
  const { email, user } = newPerson();
  const link = await app.linkFor(user);
  const owner = await browserOf(service, email);
  const before = await owner.ask(`${link}/done`);
  assertPage(before, 303);
  assert.equal(before.headers.get('location'), link);
  const next = await consentAndGoOn(owner, link);
  const other = await browserOf(service, newPerson().email);
  const nobody = openBrowser(service.url);
  for (const path of [link, next]) {
    assert.equal((await other.ask(`${path}/done`)).status, 403);
    assert.match((await nobody.ask(`${path}/done`)).headers.get('location') ?? '', /^\/wallet\/sign-in\?then=/);
  }
  const made = await connectionOf(user);
  assert.ok(made !== undefined);
  await connections.setConnected(made, false);
  for (const step of ['done', 'topup']) {
    const reply = await owner.ask(`${next}/${step}`);
    assertPage(reply, 303);
    assert.equal(reply.headers.get('location'), next);
  }
});

test('BI-04 who pays for longer than the link lasts is led back all the same, and connects nothing by it', async () => {
  const { email, user } = newPerson();
  const owner = await browserOf(service, email);
  await consent(owner, await app.linkFor(user));
  const expired = app.oldLinkFor(user, 60 * 60);
  assert.match(wayBackOf(await owner.ask(`${expired}/done`)), /status=connected$/);
  for (const path of [expired, `${expired}/topup`, `${app.oldLinkFor(user, 4 * 60 * 60)}/done`]) {
    assertPage(await owner.ask(path), 404, 'This link does not work any more');
  }
});

test('BI-04 another identity gets one calm page, which shows nothing of the wallet, and changes nothing', async () => {
  const { email, user } = newPerson();
  const owner = await browserOf(service, email);
  const late = await browserOf(service, newPerson().email);
  const link = await app.linkFor(user, { userLabel: 'secret label' });
  await late.open(link); // Both look at the same time.
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
  assertPage(reply, 403, 'Another wallet pays for this account');
  for (const step of ['', '/topup', '/done']) {
    const page = await late.open(link + step);
    assertPage(page, 403, 'Another wallet pays for this account');
    for (const secret of ['123', '€', 'secret label', email]) assert.ok(!mainOf(page).includes(secret), secret);
    assert.ok(page.text.includes(`href="${link}/cancel"`));
  }
  assert.equal(await everything(), before);
  assert.equal((await connectionOf(user))?.cap, 20_000_000n);
});

test('ON-05 who connects again finds the same wallet, and is told so', async () => {
  const { email, user } = newPerson();
  const owner = await browserOf(service, email);
  await consent(owner, await app.linkFor(user), { cap: 'other', 'other-cap': '12.50' });
  const made = await connectionOf(user);
  assert.ok(made !== undefined);
  const link = await app.linkFor(user);
  const connected = await owner.open(link);
  assertPage(connected, 200, 'Notes is connected');
  assert.match(connected.text, /value="other" checked>[^]*value="12\.50"/);
  assert.doesNotMatch(connected.text, /connected this app before/);
  await connections.setConnected(made, false);
  const again = await owner.open(link);
  assertPage(again, 200, 'Connect Notes');
  assert.match(again.text, /You have connected this app before/);
  await owner.submit(`${link}/consent`, { ...CONSENT, cap: '10' });
  const after = await connectionOf(user);
  assert.equal(after?.connectionId, made.connectionId);
  assert.deepEqual([after?.wallet.isConnected, after?.cap], [true, 10_000_000n]);
});

test('BI-02 an address that was taken off the list meanwhile is no way back, and nobody connects by it', async () => {
  const gone = await newConnectApp('Gone', ['https://gone.test/a', 'https://gone.test/b']);
  const { email, user } = newPerson();
  const owner = await browserOf(service, email);
  const link = await gone.linkFor(user);
  await owner.open(link);
  const form = { ...owner.fieldsOf(`${link}/consent`), ...CONSENT };
  await gone.change({ redirectUris: ['https://gone.test/b'] });
  const before = await everything();
  for (const step of ['', '/cancel', '/topup', '/done']) {
    const reply = await owner.ask(link + step);
    assertPage(reply, 404, 'The way back is closed');
    assert.ok(!reply.text.includes('gone.test'));
  }
  assertPage(await owner.ask(`${link}/consent`, { form }), 404, 'The way back is closed');
  assert.equal(await everything(), before);
  await gone.change({ redirectUris: ['https://gone.test/a'] });
  const next = await consentAndGoOn(owner, link);
  assert.equal(wayBackOf(await owner.ask(`${next}/done`)), 'https://gone.test/a?status=connected');
});

test('AU-02 nobody connects to an app that is suspended', async () => {
  const paused = await newConnectApp('Paused');
  const { email, user } = newPerson();
  const owner = await browserOf(service, email);
  const link = await paused.linkFor(user);
  await owner.open(link);
  const form = { ...owner.fieldsOf(`${link}/consent`), ...CONSENT };
  const operator = await newOperator(service);
  await operator.get(200, 'POST', `/operator/apps/${paused.appId}/suspend`, { reason: 'test' });
  const before = await everything();
  assertPage(await owner.ask(link), 403, 'Paused is paused here');
  assertPage(await owner.ask(`${link}/consent`, { form }), 403, 'Paused is paused here');
  assertPage(await openBrowser(service.url).ask(link), 403, 'Paused is paused here');
  assert.equal(await everything(), before);
});

test('BI-04 whatever is no link in force gets one page, the same for all, and nothing else', async () => {
  const { email, user } = newPerson();
  const owner = await browserOf(service, email);
  const link = await app.linkFor(user);
  const { body } = await chat({ url: service.url, key: app.liveKey, user });
  const topupToken = String(body['topupUrl']).split('/').at(-1) ?? '';
  const last = link.at(-1) === 'A' ? 'B' : 'A';
  const forged = [
    `${link.slice(0, -1)}${last}`,
    `${link}A`,
    link.slice(0, -1),
    `${link.slice(0, 60)}${link[60] === 'A' ? 'B' : 'A'}${link.slice(61)}`,
    `/connect/${topupToken}`,
    '/connect/x',
    `/connect/${'A'.repeat(100)}`,
    `/connect/%41%42`,
    app.oldLinkFor(user, 15 * 60 + 1),
  ];
  const before = await everything();
  const texts = new Set<string>();
  for (const one of [owner, openBrowser(service.url)]) {
    for (const path of forged) {
      const reply = await one.ask(path);
      assertPage(reply, 404, 'This link does not work any more');
      texts.add(reply.text);
      assertPage(await one.ask(`${path}/topup`), 404, 'This link does not work any more');
    }
  }
  assert.equal(texts.size, 1);
  for (const path of ['/connect', '/connect/', `${link}/other`, `${link}/`]) {
    assert.notEqual((await owner.ask(path)).status, 200, path);
  }
  assert.equal(await everything(), before);
});

test('BI-04 a form of one link is none of another’s', async () => {
  const [mine, other] = [newPerson(), newPerson()];
  const owner = await browserOf(service, mine.email);
  const [link, otherLink] = [await app.linkFor(mine.user), await app.linkFor(other.user)];
  await owner.open(link);
  const form = { ...owner.fieldsOf(`${link}/consent`), ...CONSENT };
  assertPage(await owner.ask(`${otherLink}/consent`, { form }), 403, 'This did not work');
  const stranger = await browserOf(service, other.email);
  assertPage(await stranger.ask(`${link}/consent`, { form }), 403, 'This did not work');
  assertPage(await owner.ask(`${link}/consent`, { form, origin: 'https://app.test' }), 403, 'This did not work');
  assert.equal(await connectionOf(mine.user), undefined);
  assert.equal(await connectionOf(other.user), undefined);
});

test('SB-09 the sandbox’s link leads to a page that says so, and to nothing else', async () => {
  for (const browser of [openBrowser(service.url), await browserOf(service, newPerson().email)]) {
    assertPage(await browser.ask('/connect/sandbox'), 200, 'This is the sandbox');
    for (const step of ['cancel', 'done']) {
      assertPage(await browser.ask(`/connect/sandbox/${step}`), 404, 'This link does not work any more');
    }
  }
});

test('threat 11: what an app calls itself and its users, and where it leads, is shown as text', async () => {
  const markup = `"><img src=x onerror=alert(1)>'</title><script>alert(2)</script>&amp;`;
  const redirectUri = `https://odd.test/a;b'c"><script>?d='"&amp;`;
  const odd = await newConnectApp(markup, [redirectUri]);
  const { email, user } = newPerson();
  const browser = await browserOf(service, email);
  const link = await odd.linkFor(user, { userLabel: markup, state: markup });
  const page = await browser.open(link);
  assert.equal(page.status, 200);
  const escaped = /&#34;&#62;&#60;img src=x onerror=alert\(1\)&#62;&#39;/;
  for (const reply of [page, await browser.ask(`${link}/cancel`)]) {
    assert.match(reply.text, escaped);
    assert.ok(!/<img|<script/.test(reply.text), mainOf(reply));
  }
  const way = wayBackOf(await browser.ask(`${link}/cancel`));
  assert.equal(way, `${redirectUri}&status=cancelled&state=${encodeURIComponent(markup)}`);
});
