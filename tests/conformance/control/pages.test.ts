import { sealedEmail } from '../../support/database.ts';
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { mailTo, newOwner, PASSWORD, personWith, signIn, stopRefill } from '../../support/control.ts';
import { assertPage, IN_ACCOUNT, IN_CONSOLE, mainOf, openBrowser, signedInBrowser } from '../../support/page.ts';
import { SCRIPT } from '../../support/passkeys.ts';
import { startSecondGateway } from '../../support/service.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';

const { service } = await setStage();
const SESSION = '__Host-purser-session';

test('CP-01 a user signs in and out on the page', async () => {
  const { email } = await newOwner(service);
  const browser = openBrowser(service.url);
  assertPage(await browser.open('/account'), 200, 'Sign in', SCRIPT);
  assertPage(await browser.submit('/sign-in', { email, password: PASSWORD }), 200, 'Your apps', IN_CONSOLE);
  const reply = await browser.open('/account');
  assertPage(reply, 200, 'Your account', IN_ACCOUNT);
  assert.ok(reply.text.includes(`<dt>Name</dt><dd>Owner</dd>\n<dt>E-mail</dt><dd>${email}</dd>`), reply.text);
  assertPage(await browser.open('/sign-in'), 200, 'Your apps', IN_CONSOLE);
  const token = browser.cookies.get(SESSION);
  assert.match(token ?? '', /^svc_session_/);
  assertPage(await browser.submit('/sign-out'), 200, 'Sign in', SCRIPT);
  assert.equal(browser.cookies.has(SESSION), false);
  assert.equal((await personWith(service.url, token).ask('GET', '/sessions/current')).status, 401);
});

test('CP-01 a page account proves its e-mail by button, not by link', async () => {
  const email = 'page@example.test';
  const browser = openBrowser(service.url);
  await browser.open('/register');
  const registered = await browser.submit('/register', { email, 'new-password': PASSWORD });
  assertPage(registered, 200, 'Your apps', IN_CONSOLE);
  assert.match(registered.text, /We have e-mailed you a link/);
  const { body, token } = await mailTo(service, email);
  const link = /^https:\/\/purser\.test(\/\S+)$/m.exec(body)?.[1] ?? '';
  assert.equal(link, `/account/verify?token=${token}`);
  const elsewhere = openBrowser(service.url);
  assertPage(await elsewhere.open(link), 200, 'Verify your e-mail', IN_ACCOUNT);
  assert.match(elsewhere.page().text, /Sign in to the account/);
  await elsewhere.open('/sign-in');
  assertPage(await elsewhere.submit('/sign-in', { email, password: PASSWORD }), 200, 'Verify your e-mail', IN_ACCOUNT);
  const other = await signedInBrowser(service, (await newOwner(service)).email);
  assertPage(await other.open(link), 200, 'Your account', IN_ACCOUNT); // Theirs is verified. The link does nothing.
  const page = await browser.open(link);
  assertPage(page, 200, 'Verify your e-mail', IN_ACCOUNT);
  assert.ok(!page.text.includes(token) && page.text.includes(email));
  await browser.open('/console');
  const home = await browser.submit('/console', { name: 'New' });
  const [, keys = ''] =
    /href="(\/console\/\w+\/keys)\?mode=live"/.exec(home.text) ?? /href="(\/console\/\w+\/keys)/.exec(home.text) ?? [];
  const live = await browser.open(keys);
  assertPage(live, 200, 'Keys', IN_CONSOLE);
  assert.ok(mainOf(live).includes(email) && !mainOf(live).includes(`action="${keys}"`), mainOf(live));
  assert.match((await browser.submit('/account/verify/send')).text, /on its way/); // The page of keys has its button.
  assert.match((await browser.open('/account')).text, /not verified yet/);
  await browser.submit('/account/verify/send');
  assert.match(mainOf(browser.page()), /on its way/);
  await browser.open(link);
  assertPage(await browser.submit('/account/verify'), 400, 'Verify your e-mail', IN_ACCOUNT); // A newer link was mailed.
  const newest = await mailTo(service, email);
  await browser.open(`/account/verify?token=${newest.token}`);
  assertPage(await browser.submit('/account/verify'), 200, 'Your apps', IN_CONSOLE);
  assert.match(browser.page().text, /Your e-mail is verified/);
  assert.doesNotMatch((await browser.open('/account')).text, /not verified yet/);
});

test('CP-01 a wrong password keeps the typed e-mail but not the password', async () => {
  const { email } = await newOwner(service);
  const browser = openBrowser(service.url);
  await browser.open('/sign-in');
  const reply = await browser.submit('/sign-in', { email, password: 'a wrong password' });
  assertPage(reply, 401, 'Sign in', SCRIPT);
  assert.ok(reply.text.includes(`value="${email}"`) && !reply.text.includes('a wrong password'), reply.text);
  assertPage(await browser.submit('/sign-in', { password: PASSWORD }), 200, 'Your apps', IN_CONSOLE);
});

test('CP-01 strangers’ wrong passwords bar sign-in except in a known browser', async () => {
  const { email } = await newOwner(service);
  const known = await signedInBrowser(service, email);
  await known.submit('/sign-out');
  const stranger = openBrowser(service.url);
  await stranger.open('/sign-in');
  for (let times = 0; times < 20; times += 1) {
    assert.equal((await stranger.submit('/sign-in', { email, password: 'wrong' })).status, 401);
    if (times === 0) await stopRefill(service);
  }
  const barred = await stranger.submit('/sign-in', { email, password: PASSWORD });
  assertPage(barred, 429, 'Sign in', SCRIPT);
  assert.ok(Number(barred.headers.get('retry-after')) <= 60);
  assertPage(await known.submit('/sign-in', { email, password: PASSWORD }), 200, 'Your apps', IN_CONSOLE);
  // That browser may guess no longer than any other.
  await known.submit('/sign-out');
  for (let times = 0; times < 20; times += 1) {
    assert.equal((await known.submit('/sign-in', { email, password: 'wrong' })).status, 401);
    if (times === 0) await stopRefill(service);
  }
  assertPage(await known.submit('/sign-in', { email, password: PASSWORD }), 429, 'Sign in', SCRIPT);
});

test('CP-01 page sessions are ended one by one or all at once', async () => {
  const { email } = await newOwner(service);
  const browser = await signedInBrowser(service, email);
  const others = [await signIn(service, email), await signIn(service, email)];
  const { sessionId } = await others[1]!.get(200, 'GET', '/sessions/current');
  const listed = await browser.open('/account');
  assert.equal(listed.text.match(/<li>/g)?.length, 4); // Plus the session that created the owner for the test.
  assert.equal(listed.text.match(/This browser/g)?.length, 1);
  assertPage(await browser.submit('/account/sessions', {}, String(sessionId)), 200, 'Your account', IN_ACCOUNT);
  assert.match(browser.page().text, /role="status">The session was signed out/);
  assert.equal((await others[1]!.ask('GET', '/sessions/current')).status, 401);
  await others[0]!.get(200, 'GET', '/sessions/current');
  const reply = await browser.submit('/account/sessions', {}, 'value="others"');
  assertPage(reply, 200, 'Your account', IN_ACCOUNT);
  assert.equal(reply.text.match(/<li>/g)?.length, 1);
  assert.equal((await others[0]!.ask('GET', '/sessions/current')).status, 401);
});

test('CP-01 the page stays small with a hundred sessions', async () => {
  const { email } = await newOwner(service);
  await sql(service)`insert into accounts.sessions (session_id, account_id, digest, created_at, expires_at)
    select 'ses_many_' || n, account_id, sha256(n::text::bytea), clock_timestamp() - n * interval '1 minute',
      clock_timestamp() + interval '1 day'
    from accounts.accounts, generate_series(1, 150) n where email = ${sealedEmail(email)}`;
  const browser = await signedInBrowser(service, email);
  assert.match(browser.page().text, /And 80 older sessions\./); // Of a hundred and more: the oldest have ended.
});

test('CP-01 changing the password on the page keeps the browser known', async () => {
  const { email, ...other } = await newOwner(service);
  const browser = await signedInBrowser(service, email);
  const device = browser.cookies.get('__Host-purser-device');
  const fields = { password: 'wrong', 'new-password': 'a new password' };
  assertPage(await browser.submit('/account/password', fields), 401, 'Your account', IN_ACCOUNT);
  assertPage(
    await browser.submit('/account/password', { ...fields, 'new-password': 'short' }),
    400,
    'Your account',
    IN_ACCOUNT,
  );
  assertPage(
    await browser.submit('/account/password', { ...fields, password: PASSWORD }),
    200,
    'Your account',
    IN_ACCOUNT,
  );
  assert.equal((await other.ask('GET', '/sessions/current')).status, 401);
  assert.notEqual(browser.cookies.get('__Host-purser-device'), device);
  await browser.submit('/sign-out');
  assertPage(await browser.submit('/sign-in', { email, password: PASSWORD }), 401, 'Sign in', SCRIPT);
  assertPage(await browser.submit('/sign-in', { email, password: 'a new password' }), 200, 'Your apps', IN_CONSOLE);
});

test('CP-01 the mailed link sets a new password once', async () => {
  const { email, ...owner } = await newOwner(service);
  const browser = openBrowser(service.url);
  await browser.open('/password-reset');
  const asked = await browser.submit('/password-reset', { email });
  assertPage(asked, 200, 'Check your e-mail');
  const { body, token } = await mailTo(service, email);
  const link = /^https:\/\/purser\.test(\/\S+)$/m.exec(body)?.[1] ?? '';
  assert.equal(link, `/password-reset/use?token=${token}`);
  await openBrowser(service.url).open(link);
  const stripped = await browser.ask(link);
  assertPage(stripped, 303);
  assert.equal(stripped.headers.get('location'), '/password-reset/use');
  const form = await browser.open('/password-reset/use');
  assertPage(form, 200, 'Set a new password');
  assert.ok(!form.text.includes(token));
  assertPage(await browser.submit('/password-reset/use', { 'new-password': 'short' }), 400, 'Set a new password');
  const done = await browser.submit('/password-reset/use', { 'new-password': 'another password' });
  assertPage(done, 200, 'Your account', IN_ACCOUNT);
  assert.equal((await owner.ask('GET', '/sessions/current')).status, 401);
  assert.equal(browser.cookies.has('__Host-purser-reset'), false);
  assertPage(await browser.open('/password-reset/use'), 400, 'This link no longer works');
  await browser.open(link);
  assertPage(
    await browser.submit('/password-reset/use', { 'new-password': 'another one' }),
    400,
    'This link no longer works',
  );
});

test('CP-01 a page reset answers alike for known and unknown e-mails', async () => {
  const { email } = await newOwner(service);
  const texts = [];
  for (const one of [email, 'nobody@example.test', '', 'x'.repeat(300)]) {
    const browser = openBrowser(service.url);
    await browser.open('/password-reset');
    const reply = await browser.submit('/password-reset', { email: one });
    assertPage(reply, 200, 'Check your e-mail');
    texts.push(reply.text);
  }
  assert.equal(new Set(texts).size, 1);
});

test('PG-07 local pages without TLS work under each name', async () => {
  const second = await startSecondGateway(service, { PURSER_PUBLIC_URL: 'http://127.0.0.1:8787' });
  after(second.close);
  const { email } = await newOwner(service);
  const browser = openBrowser(second.url, second.url);
  await browser.open('/sign-in');
  assertPage(await browser.submit('/sign-in', { email, password: PASSWORD }), 200, 'Your apps', IN_CONSOLE);
  const names = ['purser-form', 'purser-session', 'purser-device'];
  assert.deepEqual([...browser.cookies.keys()], names);
  assertPage(await browser.ask('/sign-out', { form: browser.fieldsOf('/sign-out'), origin: 'http://evil.test' }), 403);
  await second.close();
});

test('ER-03 a fault page shows a reference and no internals', async () => {
  const browser = await signedInBrowser(service, (await newOwner(service)).email);
  await sql(service)`alter table accounts.sessions rename to sessions_away`;
  try {
    const reply = await browser.open('/account');
    assertPage(reply, 500, 'Something went wrong');
    assert.ok(reply.text.includes(`Reference: ${reply.headers.get('x-correlation-id')}<`), mainOf(reply));
    const withoutStyle = reply.text.replace(/<style>[^<]*<\/style>/, ''); // Which styles the element `select`.
    assert.doesNotMatch(withoutStyle, /sessions_away|relation "|select|\.ts/);
  } finally {
    await sql(service)`alter table accounts.sessions_away rename to sessions`;
  }
});
