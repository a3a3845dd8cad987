import { setAccount } from '../../support/database.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAuthenticator } from '../../support/authenticator.ts';
import type { Reply } from '../../support/client.ts';
import { mailTo, newOperator, newOwner, PASSWORD, type Person, personWith, stopRefill } from '../../support/control.ts';
import {
  assertPage,
  type Browser,
  IN_ACCOUNT,
  IN_CONSOLE,
  mainOf,
  openBrowser,
  signedInBrowser,
} from '../../support/page.ts';
import { optionsOf, SCRIPT } from '../../support/passkeys.ts';
import { assertRefused } from '../../support/refusal.ts';
import { addAuthenticator, ageProofs, codeOf, forgetSteps, newsTo } from '../../support/second-factor.ts';
import { setStage } from '../../support/stage.ts';

const { service } = await setStage();
const nobody = personWith(service.url, undefined);
const { owner: database } = service.database;

/** The first step of a sign-in: the password. */
async function begin(email: string, password = PASSWORD): Promise<string> {
  const pending = await nobody.get(202, 'POST', '/sessions', { email, password });
  assert.deepEqual(Object.keys(pending).toSorted(), ['expiresAt', 'methods', 'signInToken']);
  return String(pending['signInToken']);
}

/** The second step. */
function finish(signInToken: string, code: string): Promise<Reply> {
  return nobody.ask('POST', '/pending-sign-ins/use', { signInToken, code });
}

async function guardedOwner() {
  const owner = await newOwner(service);
  return { owner, email: owner.email, ...(await addAuthenticator(owner)) };
}

async function actsOf(person: Person): Promise<readonly string[]> {
  const { entries } = (await person.get(200, 'GET', '/accounts/current/audit')) as { entries: { action: string }[] };
  return entries.map(({ action }) => action).toReversed();
}

test('CP-06 an authenticator app is added by code, its secrets never in clear', async () => {
  const owner = await newOwner(service);
  const offer = (await owner.get(200, 'POST', '/accounts/current/authenticator')) as Record<string, string>;
  const { secret = '', otpauthUri = '', setupToken } = offer;
  assert.equal(otpauthUri, `otpauth://totp/Purser:${encodeURIComponent(owner.email)}?secret=${secret}&issuer=Purser`);
  const add = (by: Person, code: string) => by.ask('PUT', '/accounts/current/authenticator', { setupToken, code });
  assertRefused(await add(owner, '000000'), 'BAD_REQUEST', 'code');
  assertRefused(await add(await newOwner(service), codeOf(secret)), 'BAD_REQUEST', 'setupToken');
  const { recoveryCodes } = (await add(owner, codeOf(secret))).body as { recoveryCodes: string[] };
  assert.equal(new Set(recoveryCodes).size, 10);
  assertRefused(await add(owner, codeOf(secret)), 'CONFLICT');
  const { account } = await owner.get(200, 'GET', '/sessions/current');
  assert.equal((account as { secondFactor: string }).secondFactor, 'on');
  const state = await owner.get(200, 'GET', '/accounts/current/second-factor');
  assert.deepEqual([state['recoveryCodesLeft'], state['passkeys']], [10, []]);
  assert.deepEqual(await actsOf(owner), ['account.authenticator']);
  assert.match((await newsTo(service, owner.email)).join(), /An authenticator app was added/);
  const { rows } = await database.query<{ text: string }>(
    `select string_agg(t::text || r::text, ' ') || string_agg(encode(t.secret, 'escape'), ' ') as text
     from accounts.authenticators t join accounts.recovery_codes r using (account_id)`,
  );
  for (const plain of [secret, ...recoveryCodes]) assert.ok(!(rows[0]?.text ?? '').includes(plain));
  const trail = await database.query<{ text: string }>(`select string_agg(e::text, ' ') as text from audit.entries e`);
  for (const plain of [secret, ...recoveryCodes]) assert.ok(!(trail.rows[0]?.text ?? '').includes(plain));
});

test('CP-06 a password alone opens nothing, and a code works once', async () => {
  const { email, secret, usedCode } = await guardedOwner();
  const signInToken = await begin(email);
  for (const path of ['/sessions/current', '/apps', '/accounts/current/second-factor']) {
    assertRefused(await personWith(service.url, signInToken).ask('GET', path), 'UNAUTHORIZED');
  }
  const browser = openBrowser(service.url);
  browser.cookies.set('__Host-purser-session', signInToken);
  assertPage(await browser.open('/account'), 200, 'Sign in', SCRIPT);
  assertRefused(await finish(signInToken, usedCode), 'UNAUTHORIZED');
  const code = codeOf(secret, 1);
  const signedIn = await finish(signInToken, code);
  assert.equal(signedIn.status, 200, signedIn.text);
  await personWith(service.url, String(signedIn.body['sessionToken'])).get(200, 'GET', '/sessions/current');
  assertRefused(await finish(signInToken, code), 'UNAUTHORIZED');
  await forgetSteps(service);
  assertRefused(await finish(signInToken, code), 'UNAUTHORIZED'); // The sign-in itself is used up, too.
  const both = await Promise.all([begin(email), begin(email)]);
  const answers = await Promise.all(both.map((token) => finish(token, codeOf(secret))));
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((one, other) => one - other),
    [200, 401],
  );
});

test('CP-06 five wrong codes end a sign-in, ten slow the account', async () => {
  const { email, secret } = await guardedOwner();
  await forgetSteps(service);
  const signInToken = await begin(email);
  for (let guess = 0; guess < 5; guess += 1) {
    assertRefused(await finish(signInToken, ['000000', 'x', '', '00000-00000', '111111'][guess] ?? ''), 'UNAUTHORIZED');
  }
  assertRefused(await finish(signInToken, codeOf(secret)), 'UNAUTHORIZED');
  assert.match((await newsTo(service, email)).at(-1) ?? '', /^Somebody knows your password/);
  await stopRefill(service);
  const second = await begin(email);
  const guesses = await Promise.all(Array.from({ length: 5 }, () => finish(second, '000000')));
  for (const guess of guesses) assertRefused(guess, 'UNAUTHORIZED');
  assertRefused(await finish(await begin(email), codeOf(secret)), 'TOO_MANY_REQUESTS');
});

test('CP-06 a recovery code signs in once, mailed and audited', async () => {
  const { email, owner, recoveryCodes } = await guardedOwner();
  const [code = '', other = ''] = recoveryCodes;
  const both = await Promise.all([begin(email), begin(email)]);
  const answers = await Promise.all(both.map((token) => finish(token, code.toUpperCase())));
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((one, other) => one - other),
    [200, 401],
  );
  assert.match((await newsTo(service, email)).join('\n'), /A recovery code was used[^]* You\s+have\s+9\s+left/);
  assert.deepEqual(await actsOf(owner), ['account.authenticator', 'account.recovery-code']);
  // Codes of one account open no other.
  const stranger = await guardedOwner();
  assertRefused(await finish(await begin(stranger.email), other), 'UNAUTHORIZED');
  const { recoveryCodes: fresh } = (await owner.get(201, 'POST', '/accounts/current/recovery-codes')) as {
    recoveryCodes: string[];
  };
  assert.match((await newsTo(service, email)).at(-1) ?? '', /^New recovery codes/);
  assertRefused(await finish(await begin(email), other), 'UNAUTHORIZED');
  assert.equal((await finish(await begin(email), fresh[0] ?? '')).status, 200);
});

test('CP-06 a password reset does not replace the second factor', async () => {
  const { email, owner, secret } = await guardedOwner();
  await forgetSteps(service);
  const before = await begin(email);
  await nobody.get(202, 'POST', '/password-resets', { email });
  const { token } = await mailTo(service, email);
  const reset = { token, newPassword: 'another password' };
  const pending = await nobody.get(202, 'POST', '/password-resets/use', reset);
  assertRefused(await owner.ask('GET', '/sessions/current'), 'UNAUTHORIZED');
  assertRefused(await finish(before, codeOf(secret)), 'UNAUTHORIZED');
  assert.equal((await finish(String(pending['signInToken']), codeOf(secret))).status, 200);
});

test('CP-06 second-factor changes need a fresh proof with both factors', async () => {
  const { email, owner, secret } = await guardedOwner();
  await ageProofs(service);
  for (const [method, path, body] of [
    ['POST', '/accounts/current/authenticator', undefined],
    ['PUT', '/accounts/current/authenticator', { setupToken: 'x', code: 'x' }],
    ['DELETE', '/accounts/current/authenticator', undefined],
    ['DELETE', '/accounts/current/passkeys/x', undefined],
    ['POST', '/accounts/current/recovery-codes', undefined],
  ] as const) {
    assertRefused(await owner.ask(method, path, body), 'FORBIDDEN');
  }
  const prove = (body: unknown) => owner.ask('POST', '/sessions/current/proof', body);
  await forgetSteps(service);
  assertRefused(await prove({ password: PASSWORD }), 'UNAUTHORIZED', 'code');
  assertRefused(await prove({ password: 'wrong', code: codeOf(secret) }), 'UNAUTHORIZED', 'password');
  assert.equal((await prove({ password: PASSWORD, code: codeOf(secret) })).status, 204);
  const waiting = await begin(email);
  await owner.get(204, 'DELETE', '/accounts/current/authenticator');
  assert.match((await newsTo(service, email)).at(-1) ?? '', /^An authenticator app was removed/);
  assertRefused(await owner.ask('DELETE', '/accounts/current/authenticator'), 'NOT_FOUND');
  assertRefused(await finish(waiting, codeOf(secret)), 'UNAUTHORIZED');
  assert.equal((await nobody.ask('POST', '/sessions', { email, password: PASSWORD })).status, 200);
  assert.equal((await owner.get(200, 'GET', '/accounts/current/second-factor'))['recoveryCodesLeft'], 0);
});

test('CP-06 an operator removes a lost second factor and vouches for an e-mail', async () => {
  const { email, owner } = await guardedOwner();
  const operator = await newOperator(service);
  const { account } = (await owner.get(200, 'GET', '/sessions/current')) as { account: { accountId: string } };
  const path = `/operator/accounts/${account.accountId}`;
  const reason = 'Came to the office with a passport';
  const change = { secondFactor: 'none', reason };
  assertRefused(await operator.ask('PATCH', path, { ...change, disabled: true }), 'BAD_REQUEST', 'role');
  assert.equal((await operator.get(200, 'PATCH', path, change))['secondFactor'], 'off');
  assertRefused(await owner.ask('GET', '/sessions/current'), 'UNAUTHORIZED');
  assert.match((await newsTo(service, email)).at(-1) ?? '', /^Your second factor was removed/);
  assert.equal((await nobody.ask('POST', '/sessions', { email, password: PASSWORD })).status, 200);
  await setAccount(database, email, 'email_verified_at = null');
  assert.equal((await operator.get(200, 'PATCH', path, { emailVerified: true, reason }))['emailVerified'], true);
  const { entries } = (await operator.get(200, 'GET', '/operator/audit')) as {
    entries: { action: string; subject: string }[];
  };
  const acts = entries.filter(({ subject }) => subject === account.accountId).map(({ action }) => action);
  assert.deepEqual(acts.slice(0, 2), ['account.vouch', 'account.remove-second-factor']);
});

test('CP-06 an app added on the pages is required at sign-in', async () => {
  const { email } = await newOwner(service);
  const browser = await signedInBrowser(service, email);
  assertPage(await browser.open('/account/authenticator'), 200, 'Add an authenticator app', IN_ACCOUNT);
  const secretOf = () => (/<code>([A-Z2-7 ]+)<\/code>/.exec(browser.page().text)?.[1] ?? '').replaceAll(' ', '');
  const secret = secretOf();
  assertPage(
    await browser.submit('/account/authenticator', { code: '000000' }),
    400,
    'Add an authenticator app',
    IN_ACCOUNT,
  );
  assert.equal(secretOf(), secret); // The app has it by now.
  const codes = await browser.submit('/account/authenticator', { code: codeOf(secret) });
  assertPage(codes, 200, 'Your recovery codes', IN_ACCOUNT);
  const [recovery = ''] = codes.text.match(/[0-9a-z]{5}-[0-9a-z]{5}(?=<\/code>)/g) ?? [];
  assertPage(await browser.open('/account/second-factor'), 200, 'Second factor', IN_CONSOLE);
  assert.ok(!browser.page().text.includes(recovery));
  await browser.open('/account');
  await browser.submit('/sign-out');
  const before = browser.cookies.get('__Host-purser-session');
  assertPage(await browser.submit('/sign-in', { email, password: PASSWORD }), 200, 'Your second factor');
  assert.deepEqual([before, browser.cookies.get('__Host-purser-session')], [undefined, undefined]);
  assertPage(await browser.open('/account'), 200, 'Sign in', SCRIPT);
  await browser.open('/sign-in/second-factor');
  assertPage(await browser.submit('/sign-in/second-factor', { code: '000000' }), 401, 'Your second factor');
  assertPage(await browser.submit('/sign-in/second-factor', { code: recovery }), 200, 'Your apps', IN_CONSOLE);
  assert.equal(browser.cookies.has('__Host-purser-pending'), false);
  await ageProofs(service);
  assert.doesNotMatch(mainOf(await browser.open('/account/second-factor')), /action="/);
  assertPage(await browser.open('/account/authenticator'), 200, 'Is it you?', IN_ACCOUNT);
  await browser.open('/account/prove?then=https://evil.test/');
  await forgetSteps(service);
  assertPage(await browser.submit('/account/prove', { password: PASSWORD, code: 'x' }), 401, 'Is it you?', IN_ACCOUNT);
  const proved = await browser.submit('/account/prove', { password: PASSWORD, code: codeOf(secret) });
  assertPage(proved, 200, 'Your account', IN_ACCOUNT); // Not the address that a stranger wrote.
  await browser.open('/account/second-factor');
  await browser.submit('/account/authenticator/remove');
  assert.match(mainOf(browser.page()), /The authenticator app was removed/);
});

test('CP-06 a passkey is a second factor, or signs in alone', async () => {
  const { email } = await newOwner(service);
  const browser = await signedInBrowser(service, email);
  const authenticator = createAuthenticator();
  const made = authenticator.create(optionsOf(await browser.open('/account/second-factor')));
  const fields = browser.fieldsOf('/account/passkeys');
  assertPage(await browser.submit('/account/passkeys', { credential: made }), 200, 'Your recovery codes', IN_ACCOUNT);
  assert.equal((await browser.ask('/account/passkeys', { form: { ...fields, credential: made } })).status, 400);
  assert.match((await newsTo(service, email)).join(), /A passkey was added/);

  const second = openBrowser(service.url);
  await second.open('/sign-in');
  assertPage(await second.submit('/sign-in', { email, password: PASSWORD }), 200, 'Your second factor', SCRIPT);
  const use = (on: Browser, by = authenticator) => ({ credential: by.get(optionsOf(on.page())) });
  assertPage(await second.submit('/sign-in/passkey', use(second)), 200, 'Your apps', IN_CONSOLE);

  const alone = openBrowser(service.url);
  await alone.open('/sign-in');
  const answer = use(alone);
  const form = { ...alone.fieldsOf('/sign-in/passkey'), ...answer };
  assertPage(await alone.submit('/sign-in/passkey', answer), 200, 'Your apps', IN_CONSOLE);
  const replayed = openBrowser(service.url);
  await replayed.open('/sign-in');
  const proof = replayed.fieldsOf('/sign-in/passkey');
  assert.equal((await replayed.ask('/sign-in/passkey', { form: { ...form, ...proof, ...answer } })).status, 401);

  // The passkey of another account finishes no sign-in but its own.
  const stranger = await signedInBrowser(service, (await newOwner(service)).email);
  const theirs = createAuthenticator();
  await stranger.open('/account/second-factor');
  await stranger.submit('/account/passkeys', { credential: theirs.create(optionsOf(stranger.page())) });
  const victim = openBrowser(service.url);
  await victim.open('/sign-in');
  await victim.submit('/sign-in', { email, password: PASSWORD });
  assertPage(await victim.submit('/sign-in/passkey', use(victim, theirs)), 401, 'Your second factor', SCRIPT);

  await ageProofs(service);
  await browser.open('/account/prove?then=/account/second-factor');
  assertPage(await browser.submit('/account/prove', use(browser), 'passkey-options'), 200, 'Second factor', IN_CONSOLE);
  await browser.submit('/account/passkeys/remove');
  assert.match(mainOf(browser.page()), /The passkey was removed/);
  assert.match((await newsTo(service, email)).at(-1) ?? '', /^A passkey was removed/);
  assert.equal((await nobody.ask('POST', '/sessions', { email, password: PASSWORD })).status, 200);
});
