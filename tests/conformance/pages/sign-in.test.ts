import { sealedEmail } from '../../support/database.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deriveKey, hmacSha256 } from '../../../packages/service/src/kernel/crypto/crypto.ts';
import { mailTo } from '../../support/control.ts';
import { assertPage, type Browser, openBrowser } from '../../support/page.ts';
import { askForCode, isSignedIn, otherCode, PERSON_COOKIE, signedInPerson, submitFrom } from '../../support/people.ts';
import { startSecondGateway } from '../../support/service.ts';
import { sql, sqlValue } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';

/** Signing in with a code from the mail. */

const SECRET = 'a secret of at least 32 characters';
const { service } = await setStage({ environment: { PURSER_SECRET: SECRET, PURSER_PROXY_HOPS: '1' } });
const { owner } = service.database;
const CODE_COOKIE = '__Host-purser-code';

/** The sign-in page’s script asks the browser for a passkey. */
const SCRIPT = { hasScript: true };
let people = 0;
const newEmail = (): string => `person-${(people += 1)}@example.test`;
const asked = (email: string) => askForCode(service, email);

async function codesOf(email: string): Promise<number> {
  const { rowCount } = await owner.query('select from identities.codes where email = $1', [sealedEmail(email)]);
  return rowCount ?? 0;
}

test('ON-01 the mailed code signs a person in and leads back', async () => {
  const email = newEmail();
  const { browser, code } = await asked(email);
  assert.match(code, /^\d{8}$/);
  assert.ok(browser.page().text.includes(email));
  const reply = await browser.ask('/wallet/code', { form: { ...browser.fieldsOf('/wallet/code'), code } });
  assertPage(reply, 303);
  assert.equal(reply.headers.get('location'), '/wallet');
  assert.ok(await isSignedIn(browser));
  assert.equal(browser.cookies.has(CODE_COOKIE), false);
  assert.equal(await codesOf(email), 0);
  for (const page of ['/wallet/sign-in', '/wallet/code']) {
    assert.equal((await browser.ask(`${page}?then=/wallet/passkeys`)).headers.get('location'), '/wallet/passkeys');
  }
});

test('ON-01 a code tolerates spaces, and other text is no guess', async () => {
  const { browser, code } = await asked(newEmail());
  for (const typed of ['', 'abc', '12345', '1234567', '१२३४५६', '1'.repeat(1_000)]) {
    assertPage(await browser.submit('/wallet/code', { code: typed }), 400, 'Enter the code');
  }
  await browser.submit('/wallet/code', { code: ` ${code.slice(0, 3)} ${code.slice(3)}-` });
  assert.ok(await isSignedIn(browser));
});

test('ON-01 after five wrong guesses even the right code is void', async () => {
  const email = newEmail();
  const { browser, code } = await asked(email);
  for (let guess = 1; guess < 5; guess += 1) {
    const reply = await browser.submit('/wallet/code', { code: otherCode(code, guess) });
    assertPage(reply, 400, 'Enter the code');
    assert.ok(!reply.text.includes(otherCode(code, guess)));
  }
  assertPage(await browser.submit('/wallet/code', { code: otherCode(code, 5) }), 400, 'This code no longer works');
  await browser.open('/wallet/sign-in');
  const late = await openCodePage(browser, code);
  assertPage(late, 400, 'This code no longer works');
  assert.equal(await isSignedIn(browser), false);
});

/** Sends the code even if the page no longer shows its form. */
async function openCodePage(browser: Browser, code: string) {
  const { browser: other } = await asked(newEmail());
  const mine = browser.cookies.get(CODE_COOKIE) ?? '';
  other.cookies.set(CODE_COOKIE, mine);
  return other.submit('/wallet/code', { code });
}

test('ON-01 simultaneous guesses are limited to five as well', async () => {
  const { browser, code } = await asked(newEmail());
  const fields = browser.fieldsOf('/wallet/code');
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_none, index) =>
      browser.ask('/wallet/code', { form: { ...fields, code: otherCode(code, index + 1) } }),
    ),
  );
  const wrongs = replies.filter(
    ({ text }) => text.includes('This code is wrong') || text.includes('code no longer works'),
  );
  assert.equal(wrongs.length, 12);
  const guessesLeft = await sqlValue<number>(owner)`select guesses_left from identities.codes order by expires_at desc
    limit 1`;
  assert.equal(guessesLeft, 0);
  assert.equal((await openCodePage(browser, code)).status, 400);
});

test('ON-01 a code works once, even in two simultaneous browsers', async () => {
  const { browser, code } = await asked(newEmail());
  const form = { ...browser.fieldsOf('/wallet/code'), code };
  const cookies = new Map(browser.cookies);
  const replies = await Promise.all([1, 2, 3, 4].map(() => browser.ask('/wallet/code', { form })));
  assert.deepEqual(
    replies.map(({ status }) => status).toSorted((one, other) => one - other),
    [303, 400, 400, 400],
  );
  browser.cookies.clear();
  for (const [name, value] of cookies) browser.cookies.set(name, value);
  assertPage(await browser.ask('/wallet/code', { form }), 400, 'This code no longer works');
});

test('ON-01 a code lasts ten minutes', async () => {
  const email = newEmail();
  const { browser, code } = await asked(email);
  const lasts = `select extract(epoch from expires_at - clock_timestamp())::float8 as s from identities.codes where email = $1`;
  const { rows } = await owner.query<{ s: number }>(lasts, [sealedEmail(email)]);
  assert.ok(rows[0] !== undefined && rows[0].s > 480 && rows[0].s <= 600);
  await sql(owner)`update identities.codes set expires_at = clock_timestamp() where email = ${sealedEmail(email)}`;
  assertPage(await browser.submit('/wallet/code', { code }), 400, 'This code no longer works');
  assert.equal(await isSignedIn(browser), false);
});

test('ON-01 a code works only in the browser that requested it', async () => {
  const email = newEmail();
  const { browser, code } = await asked(email);
  const elsewhere = await asked(newEmail());
  assertPage(await elsewhere.browser.submit('/wallet/code', { code }), 400, 'Enter the code');
  elsewhere.browser.cookies.delete(CODE_COOKIE);
  assertPage(await elsewhere.browser.submit('/wallet/code', { code }), 400, 'This code no longer works');
  for (const forged of ['x', 'a'.repeat(43), '%00', `${browser.cookies.get(CODE_COOKIE)}x`]) {
    const reply = await openBrowser(service.url).ask('/wallet/code', {
      headers: { cookie: `${CODE_COOKIE}=${forged}` },
    });
    assertPage(reply, 303);
    assert.equal(reply.headers.get('location'), '/wallet/sign-in');
  }
  await browser.submit('/wallet/code', { code });
  assert.ok(await isSignedIn(browser));
});

test('ON-01 a new code voids only this browser’s older one', async () => {
  const email = newEmail();
  const other = await asked(email);
  const { browser, code } = await asked(email);
  const old = new Map(browser.cookies);
  await submitFrom(browser, '/wallet/sign-in', { email });
  const newer = (await mailTo(service, email)).token;
  assert.equal(await codesOf(email), 2);
  await browser.open('/wallet/code');
  if (code !== newer) assertPage(await browser.submit('/wallet/code', { code }), 400, 'Enter the code');
  browser.cookies.set(CODE_COOKIE, old.get(CODE_COOKIE) ?? '');
  assertPage(await browser.ask('/wallet/code'), 303);
  await other.browser.submit('/wallet/code', { code: other.code });
  assert.ok(await isSignedIn(other.browser));
});

test('ON-01 no answer reveals whether an e-mail is known', async () => {
  const known = newEmail();
  await signedInPerson(service, known);
  const told: string[] = [];
  for (const email of [known, newEmail()]) {
    const browser = openBrowser(service.url);
    await browser.open('/wallet/sign-in');
    const reply = await submitFrom(browser, '/wallet/sign-in', { email });
    assertPage(reply, 303);
    assert.equal(reply.headers.get('location'), '/wallet/code');
    const page = await browser.open('/wallet/code');
    const wrongly = await browser.submit('/wallet/code', { code: 'x' });
    told.push(`${page.text}${wrongly.text}`.replaceAll(email, 'E-MAIL').replaceAll(/value="[\w-]{43}"/g, 'FORM'));
  }
  assert.equal(told[0], told[1]);
});

test('ON-01 no code is sent to an invalid e-mail address', async () => {
  const browser = openBrowser(service.url);
  await browser.open('/wallet/sign-in');
  const many = `${'a'.repeat(250)}@example.test`;
  for (const email of [
    '',
    'x',
    'a@b',
    'a@example.test, b@example.test',
    'a@example.test\r\nbcc: b@example.test',
    many,
  ]) {
    assertPage(await submitFrom(browser, '/wallet/sign-in', { email }), 400, 'Sign in', SCRIPT);
  }
  assert.equal(browser.cookies.has(CODE_COOKIE), false);
});

test('ON-01 an e-mail belongs to one person in any case', async () => {
  const email = newEmail();
  await signedInPerson(service, email);
  const { browser, code } = await asked(email);
  await browser.open('/wallet/sign-in');
  await submitFrom(browser, '/wallet/sign-in', { email: ` ${email.toUpperCase()} ` });
  await browser.open('/wallet/code');
  await browser.submit('/wallet/code', { code: (await mailTo(service, email)).token });
  assert.ok(code !== '' && (await isSignedIn(browser)));
  const { rowCount } = await owner.query('select from identities.identities where email = $1', [sealedEmail(email)]);
  assert.equal(rowCount, 1);
});

test('ON-01 a code cannot be guessed from the table and the secret', async () => {
  const email = newEmail();
  const { browser, code } = await asked(email);
  const rows = await sql<{ row: string }>(owner)`
    select c::text || encode(digest, 'escape') || encode(proof, 'escape') as row from identities.codes c where email = ${sealedEmail(email)}`;
  const stored = rows.map(({ row }) => row).join();
  assert.ok(stored !== '' && !stored.includes(browser.cookies.get(CODE_COOKIE) ?? 'none'));
  assert.ok(!stored.replace(email, '').includes(code));
  const key = deriveKey(Buffer.from(SECRET), 'person-code');
  const challenge = browser.cookies.get(CODE_COOKIE) ?? '';
  const { rowCount } = await owner.query('select from identities.codes where proof = any($1)', [
    [hmacSha256(key, code), hmacSha256(key, '\n', code), hmacSha256(key, email, '\n', code)],
  ]);
  assert.equal(rowCount, 0);
  const right = await owner.query('select from identities.codes where proof = $1', [
    hmacSha256(key, challenge, '\n', code),
  ]);
  assert.equal(right.rowCount, 1, 'the test knows how the name is derived');
});

test('ER-03 nothing of a sign-in is logged', async () => {
  const gateway = await startSecondGateway(service, { PURSER_SECRET: SECRET, PURSER_PROXY_HOPS: '1' });
  try {
    const email = newEmail();
    const then = `/topup/${'aB3'.repeat(40)}`;
    const { browser, code } = await askForCode({ ...service, url: gateway.url }, email, then);
    const challenge = browser.cookies.get(CODE_COOKIE) ?? '';
    await browser.submit('/wallet/code', { code: otherCode(code) });
    await browser.submit('/wallet/code', { code });
    const token = browser.cookies.get(PERSON_COOKIE) ?? '';
    for (const secret of [email, code, challenge, token, 'aB3aB3']) {
      assert.ok(secret !== '' && !gateway.logged().some((line) => new RegExp(`\\b${secret}`).test(line)), secret);
    }
  } finally {
    await gateway.close();
  }
});
