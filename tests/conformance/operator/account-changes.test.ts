import { mailsTo } from '../../support/database.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../../support/client.ts';
import {
  emailOf,
  mailTo,
  newOperator,
  newOwner,
  PASSWORD,
  type Person,
  personWith,
  signIn,
} from '../../support/control.ts';
import { assertPage, IN_CONSOLE, mainOf, signedInBrowser } from '../../support/page.ts';
import { assertRefused } from '../../support/refusal.ts';
import { scenariosOf } from '../../support/scenarios.ts';
import { newsTo } from '../../support/second-factor.ts';
import { startSecondGateway } from '../../support/service.ts';
import { sql, sqlValue } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { idOf, trailOf } from '../../support/trail.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Operators change the role of an account, disable it and enable it again. */

const stage = await setStage();
const scenarios = scenariosOf(stage);
const { service, app } = stage;
const second = await startSecondGateway(service);
const operator = await newOperator(service);
const nobody = personWith(service.url, undefined);

function change(by: Person, accountId: string, body: object): Promise<Reply> {
  return by.ask('PATCH', `/operator/accounts/${accountId}`, { reason: 'as decided', ...body });
}

function has(reply: Reply, ...texts: readonly string[]): void {
  for (const text of texts) assert.ok(reply.text.includes(text), `${text} is not in ${mainOf(reply)}`);
}

function use(token: string): Promise<Reply> {
  return nobody.ask('POST', '/password-resets/use', { token, newPassword: 'a new password' });
}

test('CP-05 a disabled account is signed out everywhere until enabled', async () => {
  const person = await newOwner(service);
  const id = await idOf(person);
  const elsewhere = personWith(second.url, person.token);
  await elsewhere.get(200, 'GET', '/sessions');
  const disabled = await change(operator, id, { disabled: true, reason: 'stolen' });
  assert.deepEqual([disabled.status, disabled.body['disabled'], disabled.body['role']], [200, true, 'owner']);
  for (const one of [person, elsewhere]) assertRefused(await one.ask('GET', '/sessions'), 'UNAUTHORIZED');
  const credentials = { email: person.email, password: PASSWORD };
  assertRefused(await nobody.ask('POST', '/sessions', credentials), 'UNAUTHORIZED');
  const lifted = await change(operator, id, { disabled: false, reason: 'returned' });
  assert.deepEqual([lifted.status, lifted.body['disabled']], [200, false]);
  assertRefused(await person.ask('GET', '/sessions'), 'UNAUTHORIZED');
  await signIn(service, person.email);
  const lines = await trailOf(operator, id);
  assert.deepEqual(
    lines.map(({ action, reason }) => [action, reason]),
    [
      ['account.enable', 'returned'],
      ['account.disable', 'stolen'],
    ],
  );
});

test('CP-05 a session created during a disabling opens nothing', async () => {
  const person = await newOwner(service);
  const id = await idOf(person);
  const { owner } = service.database;
  await sql(owner)`create table public.kept as select * from accounts.sessions where account_id = ${id}`;
  await change(operator, id, { disabled: true });
  await sql(owner)`insert into accounts.sessions select * from public.kept`;
  assertRefused(await person.ask('GET', '/sessions'), 'UNAUTHORIZED');
});

test('CP-05 a mailed reset does not open a disabled account', async () => {
  const person = await newOwner(service);
  const token = async (count: number): Promise<string> => {
    await nobody.get(202, 'POST', '/password-resets', { email: person.email });
    return waitUntil('the mail is there', async () => {
      const rows = await mailsTo(service.database.owner, person.email);
      return rows.length === count && / (\w{43})\n/.exec(rows.at(-1)?.body ?? '')?.[1];
    });
  };
  const id = await idOf(person);
  const before = await token(1);
  await change(operator, id, { disabled: true });
  await change(operator, id, { disabled: false });
  assertRefused(await use(before), 'BAD_REQUEST', 'token');
  await change(operator, id, { disabled: true });
  assertRefused(await use(await token(2)), 'BAD_REQUEST', 'token');
  await change(operator, id, { disabled: false });
  await signIn(service, person.email);
});

test('CP-05 a disabled account’s apps keep running', async () => {
  const accountId = await sqlValue<string>(service)`select account_id from accounts.apps where app_id = ${app.appId}`;
  assert.equal((await change(operator, accountId ?? '', { disabled: true })).status, 200);
  const models = await fetch(`${service.url}/v1/models`, { headers: { authorization: `Bearer ${app.liveKey}` } });
  assert.equal(models.status, 200);
});

test('CP-05 a change between operator and owner holds at once', async () => {
  const person = await newOperator(service);
  const [id, email] = [await idOf(person), await emailOf(person)];
  assert.equal((await change(operator, id, { role: 'owner', reason: 'left' })).body['role'], 'owner');
  assertRefused(await person.ask('GET', '/operator/audit'), 'UNAUTHORIZED');
  const owner = await signIn(service, email);
  assertRefused(await owner.ask('GET', '/operator/audit'), 'FORBIDDEN');
  assert.equal((await change(operator, id, { role: 'operator' })).body['role'], 'operator');
  await (await signIn(service, email)).get(200, 'GET', '/operator/audit');
  assert.deepEqual(
    (await trailOf(operator, id)).map(({ action }) => action),
    ['account.make-operator', 'account.make-owner'],
  );
});

test('CP-05 a change without effect ends no session and is not recorded', async () => {
  const person = await newOwner(service);
  const id = await idOf(person);
  for (const body of [{ role: 'owner' }, { disabled: false }]) {
    assert.equal((await change(operator, id, body)).status, 200);
  }
  await person.get(200, 'GET', '/sessions');
  assert.deepEqual(await trailOf(operator, id), []);
});

const target = await newOwner(service);
const targetId = await idOf(target);
const REFUSED = {
  name: 'CP-05 an account change needs one change, a reason and an operator',
  code: 'BAD_REQUEST',
} as const;
const reason = 'as decided';

scenarios({ ...REFUSED, as: operator, request: `PATCH /operator/accounts/${targetId}`, body: { reason } }, [
  { body: {}, param: 'role' },
  { body: { role: 'owner', disabled: true }, param: 'role' },
  { body: { role: 'admin' }, param: 'role' },
  { body: { disabled: 'yes' }, param: 'disabled' },
  { body: { disabled: true, reason: undefined }, param: 'reason' },
  { body: { disabled: true, reason: ' ' }, param: 'reason' },
  { request: 'PATCH /operator/accounts/acct_none', body: { disabled: true }, code: 'NOT_FOUND', param: null },
  { as: target, body: { role: 'operator' }, code: 'FORBIDDEN', param: null },
  { as: 'nobody', body: { role: 'operator' }, code: 'UNAUTHORIZED', param: null },
]);

test('CP-05 refused changes of an account leave nothing', async () => {
  await target.get(200, 'GET', '/sessions');
  assert.deepEqual(await trailOf(operator, targetId), []);
});

test('CP-05 the list of accounts shows which are disabled', async () => {
  const person = await newOwner(service);
  const id = await idOf(person);
  await change(operator, id, { disabled: true });
  const { accounts } = (await operator.get(200, 'GET', '/operator/accounts')) as {
    accounts: readonly { accountId: string; disabled: boolean }[];
  };
  const disabled = accounts.filter((account) => account.disabled).map(({ accountId }) => accountId);
  assert.ok(disabled.includes(id));
  assert.ok(!disabled.includes(await idOf(operator)));
});

test('CP-05 the last operator who can sign in stays an operator', async () => {
  const everybody = await service.database.owner.query<{ account_id: string }>(
    `select account_id from accounts.accounts where role = 'operator' and account_id <> $1`,
    [await idOf(operator)],
  );
  for (const { account_id: id } of everybody.rows) await change(operator, id, { role: 'owner' });
  const last = await idOf(operator);
  for (const body of [{ role: 'owner' }, { disabled: true }])
    assertRefused(await change(operator, last, body), 'CONFLICT');
  await operator.get(200, 'GET', '/operator/audit');
  const rival = await newOperator(service);
  const elsewhere = personWith(second.url, rival.token);
  const ids = [await idOf(operator), await idOf(rival)];
  const replies = await Promise.all([
    change(operator, ids[1] ?? '', { disabled: true }),
    change(elsewhere, ids[0] ?? '', { role: 'owner' }),
  ]);
  const done = replies.filter(({ status }) => status === 200);
  assert.equal(done.length, 1, replies.map(({ text }) => text).join('\n'));
});

/** How long the session lasts. */
async function hours(person: Person): Promise<number> {
  const { expiresAt } = await person.get(200, 'GET', '/sessions/current');
  return Math.round((Date.parse(String(expiresAt)) - Date.now()) / 3_600_000);
}

test('CP-06 an operator’s session ends after twelve hours or half an idle hour', async () => {
  const [colleague, ordinary] = [await newOperator(service), await newOwner(service)];
  assert.deepEqual([await hours(colleague), await hours(ordinary)], [12, 30 * 24]);
  const idle = (minutes: number) =>
    service.database.owner.query(
      `update accounts.sessions set last_used_at = clock_timestamp() - $1 * interval '1 minute'`,
      [minutes],
    );
  await idle(29);
  await colleague.get(200, 'GET', '/sessions/current');
  await idle(31);
  assertRefused(await colleague.ask('GET', '/sessions/current'), 'UNAUTHORIZED');
  assertRefused(await colleague.ask('GET', '/operator/apps'), 'UNAUTHORIZED');
  await ordinary.get(200, 'GET', '/sessions/current');
});

test('CP-07 an admin changes an operator’s role at once', async () => {
  const admin = await newOperator(service);
  const { accountId } = await admin.get(201, 'POST', '/operator/accounts', {
    email: 'support@example.test',
    password: PASSWORD,
    role: 'operator',
    operatorRole: 'support',
  });
  const support = await signIn(service, 'support@example.test');
  await support.get(200, 'GET', '/operator/accounts');
  assertRefused(await support.ask('PUT', '/operator/aliases/x', { target: 'y' }), 'FORBIDDEN');
  const path = `/operator/accounts/${String(accountId)}`;
  const change = (body: object) => admin.ask('PATCH', path, { ...body, reason: 'New duties.' });
  assert.equal((await change({ operatorRole: 'viewer' })).body['operatorRole'], 'viewer');
  assertRefused(await support.ask('GET', '/operator/accounts'), 'UNAUTHORIZED');
  const viewer = await signIn(service, 'support@example.test');
  assertRefused(await viewer.ask('GET', '/operator/accounts'), 'FORBIDDEN');
  assert.equal((await change({ role: 'owner' })).body['operatorRole'], null);
  assertRefused(await change({ operatorRole: 'admin' }), 'CONFLICT');
  assert.equal((await change({ role: 'operator', operatorRole: 'finance' })).body['operatorRole'], 'finance');
});

test('CP-10 CP-06 CP-07 account pages create, change and disable with confirmation', async () => {
  const admin = await newOperator(service);
  const accountId = await idOf(admin);
  const browser = await signedInBrowser(service, await emailOf(admin), 'Overview');
  await browser.open('/ops/accounts');
  const form = { email: 'new@example.test', password: 'ten or more', role: 'support', 'reason-create': 'She joins' };
  const short = await browser.submit('/ops/accounts', { ...form, password: 'short' });
  assertPage(short, 400, 'Accounts', IN_CONSOLE);
  has(short, 'Password: ', 'value="new@example.test"');
  assert.ok(!short.text.includes('value="short"'));
  const made = await browser.submit('/ops/accounts', form);
  assertPage(made, 200, 'new@example.test', IN_CONSOLE);
  has(made, 'The account was created.', 'Operator: support', 'She joins');
  const [, id = ''] = /(acct_[0-9A-Za-z]+)/.exec(mainOf(made)) ?? [];
  const path = `/ops/account?id=${id}`;
  const act = (which: string, fields: Readonly<Record<string, string>> = {}) =>
    browser.submit(path, { act: which, [`reason-${which}`]: `Because of ${which}`, ...fields }, which);
  has(await act('role', { role: 'viewer' }), 'The role was changed', 'Operator: viewer', 'Because of role');
  assertPage(await act('disable', { 'reason-disable': '' }), 400, 'new@example.test', IN_CONSOLE);
  has(await act('disable'), 'The account is disabled', 'Enable the account', 'account.disable');
  has(await act('enable'), 'can sign in again');
  const { account } = (await admin.get(200, 'GET', `/operator/accounts/${id}`)) as { account: object };
  assert.deepEqual({ ...account }, { ...account, operatorRole: 'viewer', disabled: false });

  await sql(service)`insert into accounts.authenticators (account_id, secret, last_step) values (${id}, 'x', 0)`;
  await browser.open(path);
  has(await act('factor'), 'second factors and recovery codes were removed', 'Because of factor');
  has(await browser.open(`/ops/account?id=${accountId}`), 'What it did', 'account.create', 'Because of factor');
  assertPage(await browser.open('/ops/account?id=acct_none'), 404, 'Not found', IN_CONSOLE);
});

test('CP-05 CP-06 an admin returns a provider’s account to its mail address', async () => {
  const admin = await newOperator(service);
  const colleague = await newOperator(service, 'support');
  const [id, email] = await Promise.all([idOf(colleague), emailOf(colleague)]);
  const unlink = (accountId: string) => change(admin, accountId, { sso: 'none', reason: 'the provider is gone' });
  assert.equal((await unlink(id)).body['sso'], false, 'an account with a password stays as it is');
  await colleague.get(200, 'GET', '/sessions/current');
  await sql(service)`update accounts.accounts
    set sso_issuer = 'https://id.example', sso_subject = 'them', password_hash = null
    where account_id = ${id}`;
  const browser = await signedInBrowser(service, await emailOf(admin), 'Overview');
  has(await browser.open(`/ops/account?id=${id}`), 'checked by the provider', 'Remove the link to the provider');
  const unlinked = await unlink(id);
  assert.deepEqual([unlinked.status, unlinked.body['sso'], unlinked.body['operatorRole']], [200, false, 'support']);
  assert.equal((await colleague.ask('GET', '/sessions/current')).status, 401);
  assert.equal((await trailOf(admin, id))[0]?.action, 'account.sso-unlink');
  assert.match((await newsTo(service, email)).at(-1) ?? '', /^Your account was unlinked/);
  await nobody.get(202, 'POST', '/password-resets', { email });
  const reset = await use((await mailTo(service, email)).token);
  assert.equal(reset.status, 200, reset.text);
});
