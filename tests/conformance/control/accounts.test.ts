import { sealedEmail, setAccount } from '../../support/database.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailTo, newMember, newOwner, PASSWORD, personWith, signIn, stopRefill } from '../../support/control.ts';
import { assertRefused } from '../../support/refusal.ts';
import { signedInBrowser } from '../../support/page.ts';
import { scenariosOf } from '../../support/scenarios.ts';
import { newsTo } from '../../support/second-factor.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';

const stage = await setStage();
const scenarios = scenariosOf(stage);
const { service, app } = stage;
const nobody = personWith(service.url, undefined);

test('CP-01 an account is created, signs in, sees itself and signs out', async () => {
  const account = await nobody.get(201, 'POST', '/accounts', {
    email: 'Anna@Example.Test',
    password: PASSWORD,
    name: 'Anna',
  });
  assert.deepEqual(Object.keys(account).toSorted(), [
    'accountId',
    'createdAt',
    'email',
    'emailVerified',
    'name',
    'operatorRole',
    'role',
    'secondFactor',
  ]);
  assert.deepEqual([account['email'], account['name'], account['role']], ['anna@example.test', 'Anna', 'owner']);
  const anna = await signIn(service, 'ANNA@example.test');
  const current = await anna.get(200, 'GET', '/sessions/current');
  assert.deepEqual(current['account'], account);
  await anna.get(204, 'DELETE', '/sessions/current');
  assertRefused(await anna.ask('GET', '/sessions/current'), 'UNAUTHORIZED');
});

test('CP-01 a known e-mail is a conflict in upper or lower case', async () => {
  const { email } = await newOwner(service);
  assertRefused(await nobody.ask('POST', '/accounts', { email: email.toUpperCase(), password: PASSWORD }), 'CONFLICT');
});

test('CP-01 a new account makes live keys once its e-mail is proved', async () => {
  const email = 'proves@example.test';
  const account = await nobody.get(201, 'POST', '/accounts', { email, password: PASSWORD });
  assert.equal(account['emailVerified'], false);
  const { token } = await mailTo(service, email);
  const owner = await signIn(service, email);
  const { appId } = await owner.get(201, 'POST', '/apps', { name: 'App' });
  const key = (mode: string) => owner.ask('POST', `/apps/${String(appId)}/keys`, { mode });
  assert.equal((await key('sandbox')).status, 201);
  assertRefused(await key('live'), 'FORBIDDEN');
  // Nor by rolling one that somebody else has made.
  const maker = await newMember(service, String(appId), 'owner');
  const live = await maker.get(201, 'POST', `/apps/${String(appId)}/keys`, { mode: 'live' });
  const rolling = `/apps/${String(appId)}/keys/${String(live['keyId'])}/roll`;
  assertRefused(await owner.ask('POST', rolling, {}), 'FORBIDDEN');
  // Somebody else who got hold of the link proves nothing with it.
  const other = await newOwner(service);
  assertRefused(await other.ask('POST', '/email-verifications/use', { token }), 'BAD_REQUEST', 'token');
  assertRefused(await nobody.ask('POST', '/email-verifications/use', { token }), 'UNAUTHORIZED');
  await owner.get(204, 'POST', '/email-verifications/use', { token });
  assertRefused(await owner.ask('POST', '/email-verifications/use', { token }), 'BAD_REQUEST', 'token');
  assert.equal((await key('live')).status, 201);
  assertRefused(await owner.ask('POST', '/email-verifications'), 'CONFLICT');
  const { entries } = (await owner.get(200, 'GET', '/accounts/current/audit')) as { entries: { action: string }[] };
  const acts = entries.map(({ action }) => action).filter((action) => action.startsWith('account.'));
  assert.deepEqual(acts, ['account.verify', 'account.register']);
});

test('CP-01 the newest link or a password reset proves the e-mail', async () => {
  const email = 'again@example.test';
  await nobody.get(201, 'POST', '/accounts', { email, password: PASSWORD });
  const owner = await signIn(service, email);
  const use = (token: string) => owner.ask('POST', '/email-verifications/use', { token });
  const first = await mailTo(service, email);
  await owner.get(202, 'POST', '/email-verifications');
  assertRefused(await use(first.token), 'BAD_REQUEST', 'token');
  const { token } = await mailTo(service, email);
  await sql(service)`update accounts.email_verifications set expires_at = clock_timestamp()`;
  assertRefused(await use(token), 'BAD_REQUEST', 'token');
  await owner.get(202, 'POST', '/email-verifications');
  await owner.get(202, 'POST', '/email-verifications');
  await stopRefill(service);
  assertRefused(await owner.ask('POST', '/email-verifications'), 'TOO_MANY_REQUESTS');
  await nobody.get(202, 'POST', '/password-resets', { email });
  const reset = await waitUntil('the reset has come', async () => {
    const mail = await mailTo(service, email);
    return mail.body.includes('/password-reset/') ? mail : undefined;
  });
  const use2 = { token: reset.token, newPassword: 'another password' };
  const { account } = await nobody.get(200, 'POST', '/password-resets/use', use2);
  assert.equal((account as { emailVerified: boolean }).emailVerified, true);
});

test('CP-01 a sign-in from an unknown browser or address is mailed', async () => {
  const { email } = await newOwner(service);
  const news = () => newsTo(service, email);
  await signIn(service, email);
  assert.deepEqual(await news(), []); // The person who has just made an account knows that they sign in.
  await setAccount(service.database.owner, email, `created_at = created_at - interval '1 day'`);
  await signIn(service, email);
  assert.deepEqual(await news(), []); // A program, from an address that has signed in before.
  const browser = await signedInBrowser(service, email);
  const [mail = '', ...more] = await news();
  assert.deepEqual([more.length, /address is\s127\.0\.0\.1\./.test(mail)], [0, true], mail);
  assert.doesNotMatch(mail, /http|:\/\//);
  await browser.submit('/sign-out');
  await browser.submit('/sign-in', { email, password: PASSWORD });
  assert.equal((await news()).length, 1); // The browser is known now.
  await sql(service)`delete from audit.sign_ins`;
  await signIn(service, email);
  assert.equal((await news()).length, 2);
});

const ACCOUNT = { email: 'x@example.test', password: PASSWORD };

scenarios({ name: 'CP-01 no account is made', request: 'POST /accounts', body: ACCOUNT, code: 'BAD_REQUEST' }, [
  { body: { email: 'x' }, param: 'email' },
  { body: { email: 7 }, param: 'email' },
  { body: { password: 'too short' }, param: 'password' },
  { body: { password: 'x'.repeat(257) }, param: 'password' },
  { body: { name: '' }, param: 'name' },
  { body: { role: 'operator' }, param: 'role' },
  { body: '', param: null },
  { body: '{', param: null },
  { body: '[]', param: null },
  { body: 'null', param: null },
  { body: '"x"', param: null },
]);

test('CP-01 a wrong password and an unknown e-mail get the same answer', async () => {
  const { email } = await newOwner(service);
  const wrong = await nobody.ask('POST', '/sessions', { email, password: 'wrong' });
  const unknown = await nobody.ask('POST', '/sessions', { email: 'nobody@example.test', password: 'wrong' });
  assertRefused(wrong, 'UNAUTHORIZED');
  assert.deepEqual({ ...unknown.error, correlationId: '' }, { ...wrong.error, correlationId: '' });
});

test('CP-01 the twenty-first wrong password in a row is not checked', async () => {
  const { email } = await newOwner(service);
  for (let times = 0; times < 25; times += 1) await signIn(service, email);
  for (let times = 0; times < 20; times += 1) {
    assertRefused(await nobody.ask('POST', '/sessions', { email, password: 'wrong' }), 'UNAUTHORIZED');
    if (times === 0) await stopRefill(service);
  }
  for (const password of ['wrong', PASSWORD]) {
    const reply = await nobody.ask('POST', '/sessions', { email, password });
    assertRefused(reply, 'TOO_MANY_REQUESTS');
    assert.ok(Number(reply.headers.get('retry-after')) <= 60);
  }
});

test('CP-01 sessions are listed, and each can be revoked', async () => {
  const { email, ...owner } = await newOwner(service);
  const other = await signIn(service, email);
  const { sessions } = (await owner.get(200, 'GET', '/sessions')) as {
    sessions: { sessionId: string; current: boolean }[];
  };
  assert.deepEqual(
    sessions.map(({ current }) => current),
    [false, true],
  );
  const stranger = await newOwner(service);
  assertRefused(await stranger.ask('DELETE', `/sessions/${sessions[0]?.sessionId}`), 'NOT_FOUND');
  await owner.get(204, 'DELETE', `/sessions/${sessions[0]?.sessionId}`);
  assertRefused(await other.ask('GET', '/sessions'), 'UNAUTHORIZED');
  await owner.get(200, 'GET', '/sessions');
});

test('CP-01 changing the password requires the current one and ends other sessions', async () => {
  const { email, ...owner } = await newOwner(service);
  const other = await signIn(service, email);
  const change = { currentPassword: 'wrong', newPassword: 'a new password' };
  assertRefused(await owner.ask('PUT', '/accounts/current/password', change), 'UNAUTHORIZED');
  await owner.get(204, 'PUT', '/accounts/current/password', { ...change, currentPassword: PASSWORD });
  assert.match((await newsTo(service, email)).at(-1) ?? '', /^Your password was changed/);
  assertRefused(await other.ask('GET', '/sessions/current'), 'UNAUTHORIZED');
  await owner.get(200, 'GET', '/sessions/current');
  assertRefused(await nobody.ask('POST', '/sessions', { email, password: PASSWORD }), 'UNAUTHORIZED');
  await signIn(service, email, 'a new password');
});

test('CP-01 a mailed reset works once, ending every session', async () => {
  const { email, ...owner } = await newOwner(service);
  for (let times = 0; times < 20; times += 1) {
    await nobody.ask('POST', '/sessions', { email, password: 'wrong' });
    if (times === 0) await stopRefill(service);
  }
  assertRefused(await nobody.ask('POST', '/sessions', { email, password: PASSWORD }), 'TOO_MANY_REQUESTS');
  await nobody.get(202, 'POST', '/password-resets', { email });
  const { token } = await mailTo(service, email);
  const use = { token, newPassword: 'another password' };
  const signedIn = await nobody.get(200, 'POST', '/password-resets/use', use);
  await personWith(service.url, String(signedIn['sessionToken'])).get(200, 'GET', '/sessions/current');
  assertRefused(await owner.ask('GET', '/sessions/current'), 'UNAUTHORIZED');
  assertRefused(await nobody.ask('POST', '/password-resets/use', use), 'BAD_REQUEST', 'token');
});

test('CP-01 a reset for an unknown e-mail gets the same answer', async () => {
  const unknown = await nobody.ask('POST', '/password-resets', { email: 'nobody@example.test' });
  const { email } = await newOwner(service);
  const known = await nobody.ask('POST', '/password-resets', { email });
  assert.deepEqual([unknown.status, unknown.text], [known.status, known.text]);
  const { token } = await mailTo(service, email);
  await sql(service)`update accounts.password_resets set expires_at = clock_timestamp()`;
  assertRefused(
    await nobody.ask('POST', '/password-resets/use', { token, newPassword: 'another password' }),
    'BAD_REQUEST',
    'token',
  );
});

const expired = await newOwner(service);
await sql(service)`update accounts.sessions
  set created_at = created_at - interval '31 days', expires_at = clock_timestamp()
  where account_id = (select account_id from accounts.accounts where email = ${sealedEmail(expired.email)})`;
const TOKENS = [expired.token ?? '', app.liveKey, app.testKey, 'svc_session_x', `${expired.token}x`];
const SESSIONLESS = ['nobody', ...TOKENS.map((key) => ({ key }))] as const;

scenarios({ as: SESSIONLESS, name: 'AU-06 without a valid session', code: 'UNAUTHORIZED', param: null }, [
  { request: 'GET /sessions/current' },
  { request: 'GET /apps' },
  { request: 'POST /apps', body: '{' },
  { request: 'GET /operator/apps' },
  { request: 'PATCH /apps/x', body: '{' },
]);

scenarios({ as: 'owner', name: 'AU-06 a session token is no API key', code: 'UNAUTHORIZED', param: null }, [
  { request: 'GET /v1/models' },
  { request: 'GET /balance' },
]);

test('AU-08 neither passwords nor session tokens are stored', async () => {
  const owner = await newOwner(service);
  const rows = await sql<{ text: string }>(service)`select a::text || s::text as text from accounts.accounts a
    join accounts.sessions s using (account_id)`;
  const stored = rows.map(({ text }) => text).join();
  assert.ok(stored.includes('$argon2id$'));
  assert.ok(!stored.includes(PASSWORD) && !stored.includes(owner.token ?? ''));
});

test('CP-01 only the owner’s other sessions end at once', async () => {
  const { email, ...person } = await newOwner(service);
  const others = [await signIn(service, email), await signIn(service, email)];
  const stranger = await newOwner(service);
  await person.get(204, 'DELETE', '/sessions/others');
  for (const other of others) assertRefused(await other.ask('GET', '/sessions/current'), 'UNAUTHORIZED');
  for (const one of [person, stranger]) await one.get(200, 'GET', '/sessions/current');
  await person.get(204, 'DELETE', '/sessions/others');
});
