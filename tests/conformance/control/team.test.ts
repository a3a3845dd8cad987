import { sealedEmail, setAccount } from '../../support/database.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailTo, newMember, newOwner, PASSWORD, personWith } from '../../support/control.ts';
import { untilWaiting } from '../../support/lock-wait.ts';
import { assertPage, IN_ACCOUNT, IN_CONSOLE, mainOf, openBrowser, signedInBrowser } from '../../support/page.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';

const { service } = await setStage();

interface Team {
  readonly members: readonly { readonly accountId: string; readonly email: string; readonly role: string }[];
  readonly invitations: readonly { readonly invitationId: string; readonly email: string }[];
}

async function newApp() {
  const owner = await newOwner(service);
  const { appId } = await owner.get(201, 'POST', '/apps', { name: 'Theirs' });
  const path = `/apps/${String(appId)}`;
  const team = async () => (await owner.get(200, 'GET', `${path}/team`)) as unknown as Team;
  const idOf = async (email: string) => (await team()).members.find((one) => one.email === email)?.accountId ?? '';
  const invite = (email: string, role = 'viewer') => owner.ask('POST', `${path}/invitations`, { email, role });
  return { owner, appId: String(appId), path, team, idOf, invite };
}

test('AU-06 an invitation admits its address’s account, once', async () => {
  const { owner, appId, path, team, invite } = await newApp();
  const invited = await newOwner(service);
  const other = await newOwner(service);
  assert.equal((await invite(invited.email.toUpperCase(), 'developer')).status, 201);
  assert.deepEqual(
    (await team()).invitations.map(({ email }) => email),
    [invited.email],
  );
  const { body, token } = await mailTo(service, invited.email);
  assert.ok(body.includes(owner.email) && body.includes('/invitation?token='), body);
  const accept = { token };
  assert.equal((await personWith(service.url, undefined).ask('POST', '/invitations/accept', accept)).status, 401);
  await other.get(403, 'POST', '/invitations/accept', accept);
  await setAccount(service.database.owner, invited.email, 'email_verified_at = null');
  await invited.get(403, 'POST', '/invitations/accept', accept);
  await setAccount(service.database.owner, invited.email, 'email_verified_at = now()');
  await invited.get(404, 'GET', path);
  const both = await Promise.all([1, 2].map(() => invited.ask('POST', '/invitations/accept', accept)));
  assert.deepEqual(
    both.map(({ status }) => status).toSorted((one, other) => one - other),
    [200, 400],
  );
  assert.equal((await invited.get(200, 'GET', path))['role'], 'developer');
  await invited.get(400, 'POST', '/invitations/accept', accept);
  const { apps } = (await invited.get(200, 'GET', '/apps')) as { apps: { appId: string; role: string }[] };
  assert.deepEqual(
    apps.map((app) => [app.appId, app.role]),
    [[appId, 'developer']],
  );
  assert.equal((await invite(invited.email)).status, 409); // A member already.
  const rows = await sql<{ action: string; actor_name: string }>(service)`select action, actor_name from audit.entries
    where app_id = ${appId} and action like 'team.%' order by entry_id`;
  assert.deepEqual(rows, [
    { action: 'team.invite', actor_name: sealedEmail(owner.email) },
    { action: 'team.join', actor_name: sealedEmail(invited.email) },
  ]);
});

test('AU-06 a withdrawn, replaced, expired or orphaned invitation admits nobody', async () => {
  const { owner, appId, path, team, idOf, invite } = await newApp();
  const invited = await newOwner(service);
  const refused = async () => {
    const { token } = await mailTo(service, invited.email);
    await invited.get(400, 'POST', '/invitations/accept', { token });
  };
  await invite(invited.email);
  const first = (await mailTo(service, invited.email)).token;
  await invite(invited.email);
  await invited.get(400, 'POST', '/invitations/accept', { token: first });
  const [pending] = (await team()).invitations;
  await owner.get(204, 'DELETE', `${path}/invitations/${pending?.invitationId}`);
  await owner.get(404, 'DELETE', `${path}/invitations/${pending?.invitationId}`);
  await refused();
  await invite(invited.email);
  await sql(service)`update accounts.invitations
    set created_at = now() - interval '8 days', expires_at = now() - interval '1 day' where app_id = ${appId}`;
  await refused();
  const rogue = await newMember(service, appId, 'owner');
  await rogue.get(201, 'POST', `${path}/invitations`, { email: invited.email, role: 'owner' });
  await owner.get(204, 'DELETE', `${path}/team/${await idOf(rogue.email)}`);
  await refused();
  await rogue.get(404, 'GET', path);
});

test('AU-06 an owner removed while inviting invites nobody', async () => {
  const { owner, appId, path, team, idOf } = await newApp();
  const rogue = await newMember(service, appId, 'owner');
  const its = await idOf(rogue.email);
  const client = await service.database.owner.connect();
  await client.query('begin');
  await client.query('select from accounts.apps where app_id = $1 for update', [appId]);
  const removal = owner.ask('DELETE', `${path}/team/${its}`);
  await untilWaiting(service.database, 1);
  const late = rogue.ask('POST', `${path}/invitations`, { email: rogue.email.replace('@', '+2@'), role: 'owner' });
  try {
    await untilWaiting(service.database, 2);
  } finally {
    await client.query('commit');
    client.release();
  }
  assert.equal((await removal).status, 204);
  assert.equal((await late).status, 403);
  const { members, invitations } = await team();
  assert.deepEqual([members.map(({ role }) => role), invitations], [['owner'], []]);
});

test('AU-06 an app keeps an owner who can sign in', async () => {
  const { owner, appId, path, team, idOf } = await newApp();
  const me = await idOf(owner.email);
  await owner.get(409, 'POST', `${path}/leave`);
  await owner.get(409, 'DELETE', `${path}/team/${me}`);
  await owner.get(409, 'PATCH', `${path}/team/${me}`, { role: 'viewer' });
  const disabled = await newMember(service, appId, 'owner');
  await setAccount(service.database.owner, disabled.email, 'is_disabled = true');
  await owner.get(409, 'POST', `${path}/leave`);
  for (let round = 0; round < 5; round += 1) {
    const second = await newMember(service, appId, 'owner');
    const its = await idOf(second.email);
    const replies = await Promise.all([
      owner.ask('PATCH', `${path}/team/${its}`, { role: 'viewer' }),
      second.ask('DELETE', `${path}/team/${me}`),
    ]);
    const roles = (await second.get(200, 'GET', `${path}/team`)) as unknown as Team;
    const left = roles.members.filter((one) => one.role === 'owner' && one.email !== disabled.email);
    assert.ok(left.length >= 1, replies.map(({ status }) => status).join());
    await sql(service)`delete from accounts.members where app_id = ${appId}
      and account_id not in (${me}, (select account_id from accounts.accounts where email = ${sealedEmail(disabled.email)}))`;
    await sql(service)`insert into accounts.members (app_id, account_id, role) values (${appId}, ${me}, 'owner')
      on conflict (app_id, account_id) do update set role = 'owner'`;
  }
  const member = await newMember(service, appId, 'developer');
  const { keyId } = await member.get(201, 'POST', `${path}/keys`, { mode: 'sandbox' });
  await member.get(204, 'POST', `${path}/leave`);
  await member.get(404, 'GET', path);
  const { keys } = (await owner.get(200, 'GET', `${path}/keys`)) as { keys: { keyId: string; revokedAt: null }[] };
  assert.deepEqual(
    keys.map((key) => [key.keyId, key.revokedAt]),
    [[keyId, null]],
  ); // Keys are the app's.
  assert.equal(
    (await team()).members.some(({ email }) => email === member.email),
    false,
  );
});

test('AU-06 an invitation leads through sign-in to the app', async () => {
  const { owner, appId, path, idOf } = await newApp();
  const { email } = await newOwner(service);
  const own = await signedInBrowser(service, owner.email);
  const page = `/console/${appId}/team`;
  await own.open(page);
  assertPage(await own.submit(page, { email: 'nobody', role: 'viewer' }, 'act'), 400, 'Team', IN_CONSOLE);
  const sent = await own.submit(page, { email, role: 'developer', act: 'invite' }, 'type="email"');
  assert.match(sent.text, /The invitation was sent/);
  const { token } = await mailTo(service, email);
  const browser = openBrowser(service.url);
  const seen = await browser.open(`/invitation?token=${token}`);
  assertPage(seen, 200, 'Invitation', IN_ACCOUNT);
  assert.ok(seen.text.includes('href="/sign-in"') && !seen.text.includes(token), seen.text);
  const stranger = await signedInBrowser(service, (await newOwner(service)).email);
  const notTheirs = await stranger.open(`/invitation?token=${token}`);
  assertPage(notTheirs, 200, 'Invitation', IN_ACCOUNT);
  assert.ok(mainOf(notTheirs).includes(email) && !mainOf(notTheirs).includes('Join the team'), mainOf(notTheirs));
  await stranger.submit('/sign-out', {}, 'Sign out and use another account');
  const signIn = () => stranger.submit('/sign-in', { email, password: PASSWORD });
  assertPage(await signIn(), 200, 'Invitation', IN_ACCOUNT); // It waited.
  await setAccount(service.database.owner, email, 'email_verified_at = null');
  assert.match((await stranger.open('/invitation')).text, /action="\/account\/verify\/send"/);
  await setAccount(service.database.owner, email, 'email_verified_at = now()');
  await browser.open('/sign-in');
  assertPage(await browser.submit('/sign-in', { email, password: PASSWORD }), 200, 'Invitation', IN_ACCOUNT);
  const joined = await browser.submit('/invitation');
  assert.equal(joined.status, 200);
  assert.match(joined.text, /<nav class="side"/);
  assertPage(await browser.open(`/invitation?token=${token}`), 404, 'Invitation', IN_ACCOUNT);
  const seenTeam = await browser.open(page);
  assert.ok(!seenTeam.text.includes('value="remove"'), 'a developer manages nobody');
  await own.open(page);
  // Each act asks once more, in a fold of its own, and nobody is offered a change of their own role.
  assert.equal(own.page().text.match(/value="role"/g)?.length, 2);
  assert.equal(own.page().text.match(/<details class="confirm">/g)?.length, 4, 'two roles, the removal, leaving');
  const changed = await own.submit(page, { act: 'role' }, 'name="role" value="viewer"');
  assert.match(changed.text, /The role was changed/);
  const invited = { email: 'late@example.test', role: 'viewer', act: 'invite' };
  assert.match(
    (await own.submit(page, invited, 'type="email"')).text,
    /Withdraw the invitation for late@example.test<\/summary>/,
  );
  assert.match((await own.submit(page, { act: 'withdraw' }, 'name="invitation"')).text, /The invitation was withdrawn/);
  const removed = await own.submit(page, { act: 'remove' }, `value="${await idOf(email)}"`);
  assert.match(removed.text, /The member was removed/);
  assertPage(await browser.open(page), 404);
  await owner.get(200, 'GET', path);
});
