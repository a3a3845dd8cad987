import { mailsTo } from '../../support/database.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailTo, stopRefill } from '../../support/control.ts';
import { assertPage, type Browser, openBrowser } from '../../support/page.ts';
import { askForCode, isSignedIn, otherCode, PERSON_COOKIE, submitFrom } from '../../support/people.ts';
import { sql } from '../../support/sql.ts';
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

/** The texts of the mails to this address, oldest first. */
const textsTo = async (email: string, subject: string): Promise<readonly string[]> =>
  (await mailsTo(owner, email)).filter((mail) => mail.subject === subject).map(({ body }) => body ?? '');

/** Requests codes for an e-mail from as many addresses, until no unknown browser gets another. */
async function floodWithCodes(email: string): Promise<void> {
  const browser = openBrowser(service.url);
  await browser.open('/wallet/sign-in');
  for (let times = 0; times < 20; times += 1) {
    assertPage(await submitFrom(browser, '/wallet/sign-in', { email }), 303);
    if (times === 0) await stopRefill(service);
  }
  const reply = await submitFrom(browser, '/wallet/sign-in', { email });
  assertPage(reply, 429, 'Sign in', SCRIPT);
  assert.match(reply.text, /Too many codes were sent to this e-mail/);
  assert.ok(Number(reply.headers.get('retry-after')) >= 1);
}

test('ON-01 strangers’ code floods still leave the owner a way in', async () => {
  const email = newEmail();
  const known = await knownBrowser(email);
  await sql(owner)`delete from limits.buckets where app_id like 'code%:%'`;
  await floodWithCodes(email);
  const elsewhere = await knownBrowser(newEmail()); // A known browser, but not with this e-mail.
  await elsewhere.open('/wallet/sign-in');
  assertPage(await submitFrom(elsewhere, '/wallet/sign-in', { email }), 429, 'Sign in', SCRIPT);
  for (let times = 0; times < 5; times += 1) {
    await askAgain(known, email);
    if (times === 0) await stopRefill(service);
  }
  await known.open('/wallet/sign-in');
  assertPage(await submitFrom(known, '/wallet/sign-in', { email }), 429, 'Sign in', SCRIPT);

  const links = await textsTo(email, 'Sign in from your own browser');
  assert.equal(links.length, 1); // One mail an hour, however many requests are refused.
  const link = /^https?:\/\/\S+$/m.exec(links[0] ?? '')?.[0] ?? assert.fail('no link');
  const { pathname, search } = new URL(link);
  const fresh = openBrowser(service.url);
  assertPage(await fresh.open(pathname + search), 200, 'Get a code in this browser');
  assertPage(await fresh.submit('/wallet/sign-in/own', {}), 200, 'Enter the code');
  await fresh.submit('/wallet/code', { code: (await mailTo(service, email)).token });
  assert.ok(await isSignedIn(fresh));
  const forged = search.replace(/.{10}$/, 'AAAAAAAAAA');
  assertPage(await openBrowser(service.url).open(pathname + forged), 400, 'Get a code in this browser');
});

test('ON-01 one address can request five codes at once for one e-mail', async () => {
  const email = newEmail();
  const browser = openBrowser(service.url);
  await browser.open('/wallet/sign-in');
  const headers = { 'x-forwarded-for': '198.51.100.2' };
  const ask = () =>
    browser.ask('/wallet/sign-in', { form: { ...browser.fieldsOf('/wallet/sign-in'), email }, headers });
  for (let times = 0; times < 5; times += 1) {
    assert.equal((await ask()).status, 303);
    if (times === 0) await stopRefill(service);
  }
  assert.match((await ask()).text, /Too many codes were sent to this e-mail/);
  assertPage(await submitFrom(browser, '/wallet/sign-in', { email }), 303); // Another address.
});

test('ON-01 one address can request thirty codes at once overall', async () => {
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

test('ON-01 strangers’ wrong guesses count only in their own browsers', async () => {
  const email = newEmail();
  const person = await asked(email);
  for (let stranger = 0; stranger < 3; stranger += 1) {
    const { browser, code } = await asked(email);
    for (let guess = 0; guess < 5; guess += 1) {
      assert.equal((await browser.submit('/wallet/code', { code: otherCode(code) })).status, 400);
      if (guess < 4) await browser.open('/wallet/code');
    }
    await browser.ask('/wallet/code', { form: { code } });
    assert.equal(await isSignedIn(browser), false); // Five wrong guesses make a code void.
  }
  await person.browser.submit('/wallet/code', { code: person.code });
  assert.ok(await isSignedIn(person.browser));
});
