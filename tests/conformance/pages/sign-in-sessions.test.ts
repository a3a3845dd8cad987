import { mailsTo, sealedEmail } from '../../support/database.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLinks, redirectName } from '../../../packages/service/src/connections/link.ts';
import type { EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { mailTo } from '../../support/control.ts';
import { keysOf } from '../../support/keys.ts';
import { assertPage, type Browser, mainOf, openBrowser } from '../../support/page.ts';
import { askForCode, browserOf, isSignedIn, PERSON_COOKIE, submitFrom } from '../../support/people.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';

/** Where a sign-in begins and leads, and how it ends. */

const SECRET = 'a secret of at least 32 characters';
const { service, app } = await setStage({
  environment: { PURSER_SECRET: SECRET, PURSER_PROXY_HOPS: '1', PURSER_OPERATOR_NAME: 'Example <Ltd>' },
});
const { owner } = service.database;
const links = createLinks({
  keysOf: keysOf(SECRET).proof,
  publicUrl: 'https://purser.test',
  clock: { nowMs: () => Date.now() },
});
const HOME = '/wallet/passkeys';

/** The sign-in page’s script asks the browser for a passkey. */
const SCRIPT = { hasScript: true };
let people = 0;
const newEmail = (): string => `person-${(people += 1)}@example.test`;
const asked = (email: string, then?: string) => askForCode(service, email, then);

test('ON-01 a sign-in begins a new session', async () => {
  const { browser, code } = await asked(newEmail());
  const slipped = 'x'.repeat(43); // A value that belongs to no session yet.
  browser.cookies.set(PERSON_COOKIE, slipped);
  await browser.submit('/wallet/code', { code });
  assert.notEqual(browser.cookies.get(PERSON_COOKIE), slipped);
  assert.ok(await isSignedIn(browser));
  assert.equal(await isSignedIn(withCookie(slipped)), false);
  // One person’s code does not sign in another person.
  const other = await asked(newEmail());
  const attacker = await browserOf(service, newEmail());
  other.browser.cookies.set(PERSON_COOKIE, attacker.cookies.get(PERSON_COOKIE) ?? '');
  assertPage(await other.browser.submit('/wallet/code', { code: other.code }), 403, 'This did not work');
});

function withCookie(token: string): Browser {
  const browser = openBrowser(service.url);
  browser.cookies.set(PERSON_COOKIE, token);
  return browser;
}

test('PG-04 owner cookies are host-only, https-only and hidden from scripts', async () => {
  const email = newEmail();
  const browser = openBrowser(service.url);
  await browser.open('/wallet/sign-in');
  const reply = await submitFrom(browser, '/wallet/sign-in', { email });
  const [challenge = ''] = reply.headers.getSetCookie();
  const AS = 'Path=\\/; HttpOnly; SameSite=Lax; Secure; Max-Age';
  assert.match(challenge, new RegExp(`^__Host-purser-code=\\w{43}; ${AS}=600$`));
  await browser.open('/wallet/code');
  const code = (await mailTo(service, email)).token;
  const done = await browser.ask('/wallet/code', { form: { ...browser.fieldsOf('/wallet/code'), code } });
  const [person = '', known = '', gone = ''] = done.headers.getSetCookie();
  assert.match(person, new RegExp(`^__Host-purser-person=\\w{43}; ${AS}=2592000$`));
  assert.match(known, new RegExp(`^__Host-purser-known=\\w{22}\\.[\\w-]{43}; ${AS}=15552000$`));
  assert.match(gone, new RegExp(`^__Host-purser-code=; ${AS}=0$`));
});

test('ON-01 signing out ends one session, or all sessions and codes', async () => {
  const email = newEmail();
  const [here, there, third] = [
    await browserOf(service, email),
    await browserOf(service, email),
    await browserOf(service, email),
  ];
  const stranger = await browserOf(service, newEmail());
  const pending = await asked(email);
  await here.open(HOME);
  const token = here.cookies.get(PERSON_COOKIE) ?? '';
  assertPage(await here.submit('/wallet/sign-out'), 200, 'Sign in', SCRIPT);
  assert.equal(here.cookies.has(PERSON_COOKIE), false);
  assert.equal(await isSignedIn(withCookie(token)), false);
  assert.ok(await isSignedIn(there));
  await there.open(HOME);
  await there.submit('/wallet/sign-out', { everywhere: 'yes' });
  assert.equal(await isSignedIn(third), false);
  assert.ok(await isSignedIn(stranger));
  assertPage(await pending.browser.submit('/wallet/code', { code: pending.code }), 400, 'This code no longer works');
});

test('ON-01 a person’s session ends after thirty days', async () => {
  const email = newEmail();
  const browser = await browserOf(service, email);
  const ofEmail = 'identity_id = (select identity_id from identities.identities where email = $1)';
  const lasts = `select extract(epoch from expires_at - clock_timestamp())::float8 as s from identities.sessions where ${ofEmail}`;
  const { rows } = await owner.query<{ s: number }>(lasts, [sealedEmail(email)]);
  assert.ok(rows[0] !== undefined && Math.abs(rows[0].s / 86_400 - 30) < 0.1);
  assert.ok(await isSignedIn(browser));
  await owner.query(`update identities.sessions set expires_at = clock_timestamp() where ${ofEmail}`, [
    sealedEmail(email),
  ]);
  assert.equal(await isSignedIn(browser), false);
});

test('ON-01 page and mail name the app whose valid link led there', async () => {
  const name = '<b>Notes</b> & "more" www.evil.test https://evil.test/x';
  await sql(owner)`update accounts.apps set name = ${name} where app_id = ${app.appId}`;
  const subject = { appId: app.appId, userId: 'somebody' as EndUserId };
  const redirect = redirectName('https://app.test/back');
  const connect = links.connect({ ...subject, redirect, state: undefined, userLabel: undefined }).url;
  for (const url of [links.topup(subject), links.cap(subject), connect]) {
    const then = new URL(url).pathname;
    const email = newEmail();
    const browser = openBrowser(service.url);
    const page = await browser.open(`/wallet/sign-in?then=${encodeURIComponent(then)}`);
    assertPage(page, 200, 'Sign in', SCRIPT);
    assert.ok(page.text.includes('&#60;b&#62;Notes&#60;/b&#62; &#38; &#34;more&#34;'), mainOf(page));
    const reply = await submitFrom(browser, '/wallet/sign-in', { email });
    await browser.open(reply.headers.get('location') ?? '');
    const code = await codeInMail(email, 'b Notes b & more www evil test https evil test x');
    const done = await browser.ask('/wallet/code', { form: { ...browser.fieldsOf('/wallet/code'), code } });
    assertSameLink(done.headers.get('location') ?? '', then);
    assert.notEqual(done.headers.get('location'), browser.fieldsOf('/wallet/code')['next']); // Renewed once more.
  }
  for (const then of [`/topup/${'a'.repeat(100)}`, new URL(connect).pathname.replace('connect', 'topup'), '/wallet']) {
    const page = await openBrowser(service.url).open(`/wallet/sign-in?then=${encodeURIComponent(then)}`);
    assertPage(page, 200, 'Sign in', SCRIPT);
    assert.ok(!page.text.includes('Notes'));
  }
});

function readLink(path: string) {
  const [, page, token = ''] = path.split('/');
  const link = links.read(page === 'connect' ? 'connect' : 'topup', token);
  assert.ok(link !== undefined, path);
  const { expiresAtMs, ...claims } = link;
  return { expiresAtMs, claims };
}

/** Asserts that the new link has the same claims and is spent together with the old one, but lasts fifteen minutes from now. */
function assertSameLink(path: string, then: string): void {
  const [fresh, old] = [readLink(path), readLink(then)];
  assert.deepEqual(fresh.claims, old.claims);
  assert.notEqual(path, then);
  assert.ok(fresh.expiresAtMs > Date.now() + 14 * 60_000);
}

test('ON-01 a link that expires during sign-in is renewed', async () => {
  const early = createLinks({
    keysOf: keysOf(SECRET).proof,
    publicUrl: 'https://purser.test',
    clock: { nowMs: () => Date.now() - 12 * 60_000 },
  });
  const then = new URL(early.topup({ appId: app.appId, userId: 'somebody' as EndUserId })).pathname;
  const email = newEmail();
  const { browser } = await asked(email, then);
  assertSameLink(browser.fieldsOf('/wallet/code')['next'] ?? '', then);
  const gone = createLinks({
    keysOf: keysOf(SECRET).proof,
    publicUrl: 'https://purser.test',
    clock: { nowMs: () => Date.now() - 16 * 60_000 },
  });
  const late = new URL(gone.topup({ appId: app.appId, userId: 'somebody' as EndUserId })).pathname;
  const other = await asked(newEmail(), late);
  assert.equal(other.browser.fieldsOf('/wallet/code')['next'], late);
});

/** The code, from a mail that must be in order and name this app. */
async function codeInMail(email: string, appName: string): Promise<string> {
  const { body, token: code } = await mailTo(service, email);
  const [mail] = await mailsTo(owner, email);
  const { subject, html } = mail ?? assert.fail('there is a mail');
  assert.equal(subject, 'Your code for Example <Ltd>');
  const words = body.replaceAll(/\s+/g, ' ');
  for (const said of [
    `"${appName}"`,
    'is signing in at Example <Ltd>',
    'ten minutes',
    'If this was not you, ignore this e-mail.',
  ]) {
    assert.ok(words.includes(said), body);
  }
  assert.doesNotMatch(`${body}${html}`, /evil\.|https?:|<img|<script|<link|@import|url\(/);
  assert.ok(html?.includes('Example &#60;Ltd&#62;') && html.includes(`<p class="copy">${code}</p>`), html ?? '');
  return code;
}

test('ON-01 a planted return path leads to the wallet instead', async () => {
  for (const next of ['https://evil.test/', '//evil.test', '/\\evil.test', '/account']) {
    const browser = await browserOf(service, newEmail());
    const reply = await browser.ask(`/wallet/sign-in?then=${encodeURIComponent(next)}`);
    assert.equal(reply.headers.get('location'), '/wallet', next);
    const { browser: other, code } = await asked(newEmail(), next);
    const form = { ...other.fieldsOf('/wallet/code'), next, code };
    assert.equal((await other.ask('/wallet/code', { form })).headers.get('location'), '/wallet', next);
  }
});
