import { sealedEmail, setAccount } from '../../support/database.ts';
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { type Browser, openBrowser } from '../../support/page.ts';
import type { Reply } from '../../support/client.ts';
import { newOperator, newOwner, PASSWORD, type Person, personWith } from '../../support/control.ts';
import { CLIENT, startOidcProvider } from '../../support/oidc.ts';
import { newsTo } from '../../support/second-factor.ts';
import { setStage } from '../../support/stage.ts';

const CALLBACK = 'https://purser.test/sign-in/sso/callback';
const BREAK_GLASS = 'way-in@example.test';
const provider = await startOidcProvider(CALLBACK);
after(provider.close);
const { service } = await setStage({
  environment: {
    PURSER_OIDC_ISSUER: provider.issuer,
    PURSER_OIDC_CLIENT_ID: CLIENT.id,
    PURSER_OIDC_CLIENT_SECRET: CLIENT.secret,
    PURSER_OIDC_ROLES: '{"purser-admins":"admin","purser-support":"support"}',
    PURSER_OIDC_NAME: 'Example ID',
    PURSER_OIDC_ONLY: '1',
    PURSER_OPERATOR_EMAIL: BREAK_GLASS,
    PURSER_OPERATOR_PASSWORD: PASSWORD,
  },
});
service.keepSecret(CLIENT.secret);
const sql = async (text: string, values: readonly unknown[] = []) =>
  (await service.database.owner.query<Record<string, unknown>>(text, [...values])).rows;

let subjects = 0;

/** Makes somebody new at the provider, who signs in there next. */
function newPerson(more: Parameters<typeof provider.put>[1] = {}) {
  const subject = `subject-${(subjects += 1)}`;
  const email = `${subject}@example.test`;
  provider.put(subject, { email, email_verified: true, name: 'Ann', groups: ['purser-admins', 'staff'], ...more });
  provider.become(subject);
  return { subject, email: more.email ?? email };
}

/** Goes to the provider and comes back as far as the callback, which is not opened. */
async function wayBack(browser: Browser, path = '/sign-in/sso', there?: Map<string, string>): Promise<string> {
  const reply = await browser.ask(path);
  assert.equal(reply.status, 303, reply.text);
  return provider.visit(reply.headers.get('location') ?? '', there);
}

/** Signs in through the provider, in a new browser unless one is given. */
async function enter(browser = openBrowser(service.url), there?: Map<string, string>) {
  const reply = await browser.ask(await wayBack(browser, '/sign-in/sso', there));
  const token = browser.cookies.get('__Host-purser-session');
  return { browser, reply, person: personWith(service.url, token) };
}

/** The account of a session. */
async function accountOf(person: Person): Promise<Record<string, unknown>> {
  return (await person.get(200, 'GET', '/sessions/current'))['account'] as Record<string, unknown>;
}

function assertRefused(reply: Reply, status: number, says: RegExp): void {
  assert.equal(reply.status, status, reply.text);
  assert.match(reply.text, says);
  assert.ok(!reply.headers.getSetCookie().some((line) => /session=./.test(line)), 'no session is opened');
}

beforeEach(() => provider.tamper(undefined));

test('CP-13 the first sign-in makes an account in the claimed role', async () => {
  const page = await openBrowser(service.url).open('/sign-in');
  assert.match(page.text, /href="\/sign-in\/sso">Sign in with Example ID</);
  const { email, subject } = newPerson();
  const { browser, reply, person } = await enter();
  assert.equal(reply.headers.get('location'), '/ops');
  const account = await accountOf(person);
  assert.deepEqual([account['email'], account['operatorRole'], account['emailVerified']], [email, 'admin', true]);
  await person.get(200, 'GET', '/operator/accounts');
  provider.put(subject, { email: 'renamed@example.test', email_verified: true, groups: ['purser-admins'] });
  const again = await enter();
  assert.equal((await accountOf(again.person))['accountId'], account['accountId']);
  assert.match((await browser.open('/account')).text, /You sign in through Example ID/);
  const rows = await sql(`select action from audit.entries where subject = $1`, [account['accountId']]);
  assert.deepEqual(rows, [{ action: 'account.sso-join' }]);
  const [counted] = await sql(
    `select sum(count)::int as n from audit.sign_ins where who = $1 and result = 'signed_in'`,
    [account['accountId']],
  );
  assert.equal(counted?.['n'], 2);
});

test('CP-06 a sign-in from an unknown browser is mailed', async () => {
  const { email } = newPerson();
  const { browser } = await enter();
  await setAccount(service.database.owner, email, `created_at = created_at - interval '2 hours'`);
  browser.cookies.delete('__Host-purser-session');
  await enter(browser);
  assert.equal((await newsTo(service, email)).length, 0);
  await enter();
  assert.match((await newsTo(service, email)).join(''), /A new sign-in to your account/);
});

test('CP-13 a replayed or misdirected answer opens nothing', async () => {
  newPerson();
  const browser = openBrowser(service.url);
  const back = await wayBack(browser);
  assertRefused(await openBrowser(service.url).ask(back), 400, /began in another browser/);
  const other = openBrowser(service.url);
  await other.ask('/sign-in/sso');
  assertRefused(await other.ask(back), 400, /not valid/);
  const address = new URL(back, CALLBACK);
  address.searchParams.set('state', 'x'.repeat(43));
  assertRefused(await browser.ask(`${address.pathname}${address.search}`), 400, /not valid/);
  const cookie = browser.cookies.get('__Host-purser-sso') ?? '';
  assert.equal((await browser.ask(back)).headers.get('location'), '/ops', 'a stranger’s link has used nothing up');
  browser.cookies.delete('__Host-purser-session');
  browser.cookies.set('__Host-purser-sso', cookie);
  assertRefused(await browser.ask(back), 400, /used before/);
});

test('CP-13 another sign-in’s code is refused despite the right state', async () => {
  newPerson();
  const victim = openBrowser(service.url);
  const attacker = openBrowser(service.url);
  const own = new URL(await wayBack(victim), CALLBACK);
  const stolen = new URL(await wayBack(attacker), CALLBACK);
  own.searchParams.set('code', stolen.searchParams.get('code') ?? '');
  assertRefused(await victim.ask(`${own.pathname}${own.search}`), 400, /not valid/);
});

test('CP-13 an answer of another provider is refused (mix-up)', async () => {
  newPerson();
  for (const issuer of ['https://attacker.test', undefined]) {
    const browser = openBrowser(service.url);
    const back = new URL(await wayBack(browser), CALLBACK);
    assert.equal(back.searchParams.get('iss'), provider.issuer);
    if (issuer === undefined) back.searchParams.delete('iss');
    else back.searchParams.set('iss', issuer);
    assertRefused(await browser.ask(`${back.pathname}${back.search}`), 400, /not valid/);
  }
});

const nowSeconds = () => Math.floor(Date.now() / 1_000);
for (const [what, change, isForged] of [
  ['has another nonce', (claims: object) => ({ ...claims, nonce: 'another' }), false],
  ['has no nonce', ({ nonce: _nonce, ...claims }: Record<string, unknown>) => claims, false],
  ['is of another issuer', (claims: object) => ({ ...claims, iss: 'https://attacker.test' }), false],
  ['is for another client', (claims: object) => ({ ...claims, aud: 'another' }), false],
  [
    'is for several clients and of another',
    (claims: object) => ({ ...claims, aud: [CLIENT.id, 'b'], azp: 'b' }),
    false,
  ],
  ['has expired', (claims: object) => ({ ...claims, iat: nowSeconds() - 900, exp: nowSeconds() - 60 }), false],
  ['is signed with another key', (claims: object) => claims, true],
] as const) {
  test(`CP-13 an ID token that ${what} opens nothing`, async () => {
    newPerson();
    provider.tamper(change, isForged);
    assertRefused((await enter()).reply, 400, /not valid/);
  });
}

test('CP-13 a cancelled sign-in or unverified e-mail gets no account', async () => {
  const { email } = newPerson({ email_verified: false });
  assertRefused((await enter()).reply, 403, /has not verified your e-mail/);
  assert.deepEqual(await sql('select from accounts.accounts where email = $1', [sealedEmail(email)]), []);
  provider.become(undefined);
  assertRefused((await enter()).reply, 403, /did not sign you in/);
});

test('CP-07 the role follows the claim at each sign-in', async () => {
  const { subject, email } = newPerson({ groups: 'purser-support' });
  const first = await enter();
  await first.person.get(200, 'GET', '/operator/accounts');
  await first.person.get(403, 'PUT', '/operator/models/x', {});
  const claims = { email, email_verified: true };
  provider.put(subject, { ...claims, groups: ['purser-support', 'purser-admins'] });
  const second = await enter();
  await first.person.get(401, 'GET', '/sessions/current');
  assert.equal((await accountOf(second.person))['operatorRole'], 'admin');
  provider.tamper((given) => ({ ...given, groups: ['purser-support'] }));
  const signed = await enter();
  assert.equal((await accountOf(signed.person))['operatorRole'], 'support', 'the signed claims count first');
  provider.tamper(undefined);
  for (const groups of [['staff'], undefined]) {
    provider.put(subject, { ...claims, groups });
    assertRefused((await enter()).reply, 403, /gives you no role here/);
  }
  await signed.person.get(401, 'GET', '/sessions/current');
  provider.put(subject, { ...claims, groups: 'purser-support' });
  const third = await enter();
  assert.equal((await accountOf(third.person))['operatorRole'], 'support');
  await sql('update accounts.accounts set is_disabled = true where email = $1', [sealedEmail(email)]);
  assertRefused((await enter()).reply, 403, /disabled/);
});

test('CP-13 an existing account is linked only by its holder’s fresh proof', async () => {
  const operator = await newOperator(service, 'support');
  const { email, accountId } = (await accountOf(operator)) as Record<string, string>;
  newPerson({ email: email ?? '' });
  assertRefused((await enter()).reply, 409, /exists here and does not sign in through Example ID/);

  const browser = openBrowser(service.url);
  browser.cookies.set('__Host-purser-session', operator.token ?? '');
  await sql(`update accounts.sessions set proved_at = proved_at - interval '11 minutes' where account_id = $1`, [
    accountId,
  ]);
  assert.match((await browser.open('/account/sso')).text, /Is it you\?/);
  await browser.submit('/account/prove', { password: PASSWORD });
  newPerson({ email: 'somebody-else@example.test' });
  const linkTo = async () => {
    await browser.open('/account/sso');
    const { text } = await browser.submit('/account/sso');
    const to = (/url=([^"]+)"/.exec(text)?.[1] ?? '').replaceAll('&#38;', '&').replaceAll('&amp;', '&');
    return browser.ask(await provider.visit(to));
  };
  assertRefused(await linkTo(), 409, /knows you by another e-mail/);
  const { subject } = newPerson({ email: email ?? '' });
  assert.equal((await linkTo()).headers.get('location'), '/account?done=linked');
  await operator.get(401, 'GET', '/sessions/current');
  const me = personWith(service.url, browser.cookies.get('__Host-purser-session'));
  const after = await accountOf(me);
  assert.deepEqual([after['accountId'], after['operatorRole']], [accountId, 'admin']);
  const nobody = personWith(service.url, undefined);
  await nobody.get(401, 'POST', '/sessions', { email, password: PASSWORD });
  await nobody.get(202, 'POST', '/password-resets', { email });
  assert.deepEqual(
    (await newsTo(service, email ?? '')).map((text) => text.split('\n')[0]),
    ['Your account was linked'],
  );
  assert.deepEqual(
    await sql('select sso_subject, password_hash from accounts.accounts where account_id = $1', [accountId]),
    [{ sso_subject: subject, password_hash: null }],
  );
  assert.deepEqual(await sql('select from accounts.password_resets where account_id = $1', [accountId]), []);
});

const anHourAgo = (claims: object) => ({ ...claims, auth_time: nowSeconds() - 3_600 });

test('CP-06 CP-13 a fresh proof is a new sign-in by the same person', async () => {
  const { subject, email } = newPerson();
  const there = new Map<string, string>();
  const browser = openBrowser(service.url);
  // The provider has known this person for an hour, and asks them nothing: that proves nothing.
  provider.tamper(anHourAgo);
  const { person } = await enter(browser, there);
  const { accountId } = await accountOf(person);
  const move = (status: number) =>
    person.get(status, 'PATCH', `/operator/accounts/${String(accountId)}`, { reason: 'r' });
  const { error } = (await move(403)) as { error: { message: string } };
  assert.match(error.message, /fresh proof.*`\/account\/prove`/);
  await person.get(401, 'POST', '/sessions/current/proof', { password: PASSWORD });
  assert.match((await browser.open('/account/prove?then=/ops')).text, /Sign in to Example ID again/);
  const prove = async (jar = there) => browser.ask(await wayBack(browser, '/sign-in/sso?for=proof&then=/ops', jar));

  provider.tamper(undefined);
  newPerson();
  assertRefused(await prove(new Map()), 403, /as somebody else/);
  provider.become(subject);
  provider.tamper(anHourAgo);
  assertRefused(await prove(), 400, /not valid/);
  provider.tamper(({ auth_time: _time, ...claims }) => claims);
  assertRefused(await prove(), 400, /not valid/);
  provider.tamper(undefined);
  await move(403);
  assert.equal((await prove()).headers.get('location'), '/ops');
  await move(400);
  provider.put(subject, { email, email_verified: true, groups: [] });
  assertRefused(await prove(), 403, /gives you no role here/);
  await person.get(401, 'GET', '/sessions/current');
});

test('CP-13 with passwords closed, only the settings’ operator signs in by password', async () => {
  const operator = await newOperator(service);
  const refused = (await operator.get(403, 'GET', '/operator/accounts')) as { error: { message: string } };
  assert.match(refused.error.message, /sign in through Example ID here.*`\/account\/sso`/);
  const browser = openBrowser(service.url);
  browser.cookies.set('__Host-purser-session', operator.token ?? '');
  const page = await browser.ask('/ops');
  assert.equal(page.status, 403);
  assert.match(page.text, /href="\/account\/sso"/);
  await sql('update accounts.accounts set email = $1 where account_id = $2', [
    sealedEmail(BREAK_GLASS),
    (await accountOf(operator))['accountId'],
  ]);
  await operator.get(200, 'GET', '/operator/accounts');
  await browser.open('/account/sso');
  assertRefused(await browser.submit('/account/sso'), 409, /It keeps its password/);
  await (await newOwner(service)).get(200, 'GET', '/apps');
});

test('CP-13 failed answers of one network address are limited', async () => {
  const stranger = openBrowser(service.url);
  for (let tries = 0; tries < 60; tries += 1) {
    const reply = await stranger.ask('/sign-in/sso/callback?code=a&state=b');
    if (reply.status === 429) return assertRefused(reply, 429, /Too many sign-ins/);
    assertRefused(reply, 400, /not valid/);
  }
  assert.fail('nobody was slowed down');
});
