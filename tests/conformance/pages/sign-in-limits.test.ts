import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Browser, openBrowser } from '../../support/browser.ts';
import { mailTo, stopRefill } from '../../support/control.ts';
import { assertPage } from '../../support/page.ts';
import { askForCode, isSignedIn, otherCode, PERSON_COOKIE, submitFrom } from '../../support/people.ts';
import { setStage } from '../../support/stage.ts';

/** The limits on mailed codes and on guesses. */

const { service } = await setStage({ environment: { PURSER_PROXY_HOPS: '1' } });
const { owner } = service.database;

/** The sign-in page’s script asks the browser for a passkey. */
const SCRIPT = { hasScript: true };
let people = 0;
const newEmail = (): string => `person-${(people += 1)}@example.test`;
const asked = (email: string) => askForCode(service, email);

/** A browser in which this e-mail was signed in, and out again. */
async function knownBrowser(email: string): Promise<Browser> {
  const { browser, code } = await asked(email);
  await browser.submit('/wallet/code', { code });
  assert.ok(await isSignedIn(browser));
  browser.cookies.delete(PERSON_COOKIE);
  return browser;
}

async function askAgain(browser: Browser, email: string): Promise<string> {
  await browser.open('/wallet/sign-in');
  assertPage(await submitFrom(browser, '/wallet/sign-in', { email }), 303);
  await browser.open('/wallet/code');
  return (await mailTo(service, email)).token;
}

test('ON-01 strangers can have five codes at once sent to one e-mail, from any addresses; a known browser has its own limit', async () => {
  const email = newEmail();
  const known = await knownBrowser(email);
  await owner.query(`delete from limits.buckets where app_id like 'code:%'`);
  const browser = openBrowser(service.url);
  await browser.open('/wallet/sign-in');
  for (let times = 0; times < 5; times += 1) {
    assertPage(await submitFrom(browser, '/wallet/sign-in', { email }), 303);
    if (times === 0) await stopRefill(service);
  }
  const reply = await submitFrom(browser, '/wallet/sign-in', { email });
  assertPage(reply, 429, 'Sign in', SCRIPT);
  assert.match(reply.text, /Too many codes were sent to this e-mail/);
  assert.ok(Number(reply.headers.get('retry-after')) >= 1);
  const elsewhere = await knownBrowser(newEmail()); // A known browser, but not with this e-mail.
  await elsewhere.open('/wallet/sign-in');
  assertPage(await submitFrom(elsewhere, '/wallet/sign-in', { email }), 429, 'Sign in', SCRIPT);
  for (let times = 0; times < 5; times += 1) {
    await askAgain(known, email);
    if (times === 0) await stopRefill(service);
  }
  await known.open('/wallet/sign-in');
  assertPage(await submitFrom(known, '/wallet/sign-in', { email }), 429, 'Sign in', SCRIPT);
});

test('ON-01 one address can request thirty codes at once, for any number of e-mails', async () => {
  const browser = openBrowser(service.url);
  await browser.open('/wallet/sign-in');
  const headers = { 'x-forwarded-for': '198.51.100.1' };
  const ask = () =>
    browser.ask('/wallet/sign-in', { form: { ...browser.fieldsOf('/wallet/sign-in'), email: newEmail() }, headers });
  for (let times = 0; times < 30; times += 1) {
    assert.equal((await ask()).status, 303);
    if (times === 0) await stopRefill(service);
  }
  assert.match((await ask()).text, /Too many codes were requested from your network address/);
});

test('ON-01 strangers’ guesses for one e-mail are counted together, and do not lock out a browser that was signed in before', async () => {
  const email = newEmail();
  const known = await knownBrowser(email); // Its right guess gave the try back.
  let last = await asked(email);
  for (let guess = 0; guess < 10; guess += 1) {
    if (guess === 5) last = await asked(email);
    assert.equal((await last.browser.submit('/wallet/code', { code: otherCode(last.code) })).status, 400);
    if (guess === 0) await stopRefill(service);
    if (guess % 5 < 4) await last.browser.open('/wallet/code');
  }
  await owner.query(`delete from limits.buckets where app_id like 'code:%'`); // The guesses per mail, which run out sooner.
  last = await asked(email);
  assertPage(await last.browser.submit('/wallet/code', { code: last.code }), 429, 'Enter the code');
  assert.equal(await isSignedIn(last.browser), false);
  const code = await askAgain(known, email);
  assertPage(await known.submit('/wallet/code', { code: otherCode(code) }), 400, 'Enter the code');
  await known.submit('/wallet/code', { code });
  assert.ok(await isSignedIn(known));
  const other = await asked(newEmail()); // Another e-mail is not slowed down.
  await other.browser.submit('/wallet/code', { code: other.code });
  assert.ok(await isSignedIn(other.browser));
});

test('ON-01 a browser that was signed in before may guess no more than twenty times', async () => {
  const email = newEmail();
  const known = await knownBrowser(email);
  await known.open('/wallet/sign-in');
  let code = '';
  for (let guess = 0; guess < 20; guess += 1) {
    if (guess % 5 === 0) code = await askAgain(known, email);
    assert.equal((await known.submit('/wallet/code', { code: otherCode(code) })).status, 400);
    if (guess === 0) await stopRefill(service);
  }
  await owner.query(`delete from limits.buckets where app_id like 'code-known:%'`);
  code = await askAgain(known, email);
  assertPage(await known.submit('/wallet/code', { code }), 429, 'Enter the code');
});
