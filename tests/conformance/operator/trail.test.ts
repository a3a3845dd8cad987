import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createForgetAddresses } from '../../../packages/service/src/audit/forget.ts';
import { countSignIn, insertAuditEntry } from '../../../packages/service/src/audit/queries.ts';
import { createPool } from '../../../packages/service/src/db/pool/pool.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { mailTo, newMember, newOperator, newOwner, PASSWORD, signIn } from '../../support/control.ts';
import { assertPage, IN_CONSOLE, signedInBrowser } from '../../support/page.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { type FullLine, idOf } from '../../support/trail.ts';

/** The head of a picture of 64 by 48 pixels. */
const PNG = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x40\0\0\0\x30\x08\x06\0\0\0crc_', 'latin1');

/** What the audit trail holds of each act, and who reads it. */

const { service, app, newUser } = await setStage();
const operator = await newOperator(service);
const owner = await newOwner(service);
const actor = await idOf(operator);
const live = createPool({
  url: service.database.url,
  role: 'live',
  connectionsMax: 1,
  log: createLog('silent'),
  emails: service.database.owner.emails,
});
after(() => live.end());

function balances(line?: FullLine): readonly unknown[] {
  return [line?.before?.['balanceMicros'], line?.after?.['balanceMicros']];
}

/** The newest lines of the trail, as the API shows them. */
async function newest(count: number): Promise<readonly FullLine[]> {
  return (await operator.get(200, 'GET', `/operator/audit?limit=${count}`))['entries'] as FullLine[];
}

test('CP-09 an operator’s act is recorded with actor, amount and states', async () => {
  const user = await newUser(10);
  const wallet = `/operator/apps/${app.appId}/wallets/${user}`;
  await operator.get(200, 'POST', `${wallet}/credit`, { amountMicros: 7, reason: 'gift', idempotencyKey: 'k2' });
  await operator.get(200, 'POST', `${wallet}/clawback`, { amountMicros: 20, reason: 'bank', idempotencyKey: 'k3' });
  await operator.get(200, 'POST', `${wallet}/reinstate`, { reason: 'lost', writeOff: true });
  await operator.get(200, 'PATCH', `/operator/apps/${app.appId}`, { rateLimit: { perMinute: 7, burst: 9 } });
  const [changed, reinstated, clawedBack, credited] = await newest(4);
  const { account } = (await operator.get(200, 'GET', '/sessions/current')) as { account: { email: string } };
  for (const line of [changed, reinstated, clawedBack, credited]) {
    assert.deepEqual([line?.actor, line?.actorName, line?.from], [actor, account.email, '127.0.0.1']);
  }
  assert.deepEqual([credited?.amountMicros, ...balances(credited)], [7, 10, 17]);
  assert.deepEqual([clawedBack?.amountMicros, ...balances(clawedBack)], [20, 17, 0]);
  assert.deepEqual([clawedBack?.after?.['shortfallMicros'], clawedBack?.after?.['isSuspended']], [3, true]);
  assert.deepEqual([reinstated?.amountMicros, reinstated?.after?.['isSuspended']], [3, false]);
  assert.deepEqual(changed?.before, { ratePerMinute: 1_000_000, rateBurst: 1_000_000 });
  assert.deepEqual(changed.after, { ratePerMinute: 7, rateBurst: 9 });
});

test('CP-09 an act whose caller left is recorded without an address', async () => {
  await insertAuditEntry(live, { actor, action: 'app.edit', subject: 'left', reason: undefined, from: '' });
  const [line] = await newest(1);
  assert.deepEqual([line?.subject, line?.from], ['left', null]);
});

test('CP-09 only the owner and operators read an owner’s acts', async () => {
  const { email, ...person } = await newOwner(service);
  const { appId } = await person.get(201, 'POST', '/apps', { name: 'Mine' });
  const path = `/apps/${String(appId)}`;
  const { keyId, apiKey } = await person.get(201, 'POST', `${path}/keys`, { mode: 'live' });
  await person.get(200, 'PATCH', path, { redirectUris: ['https://mine.test/back'] });
  await person.get(200, 'PATCH', path, { redirectUris: ['https://mine.test/back'] }); // Changes nothing: no line.
  const endpointUrl = 'https://93.184.215.14/hook?token=very-secret';
  const hook = { endpointUrl, events: ['topup.completed'] };
  const { signingSecret } = await person.get(201, 'PUT', `${path}/webhook`, hook);
  const { signingSecret: second } = await person.get(200, 'POST', `${path}/webhook/secret`);
  await person.get(204, 'DELETE', `${path}/webhook`);
  await person.get(204, 'DELETE', `${path}/keys/${String(keyId)}`);
  const password = { currentPassword: PASSWORD, newPassword: 'another good password' };
  await person.get(204, 'PUT', '/accounts/current/password', password);

  const reply = await person.ask('GET', '/accounts/current/audit');
  const entries = reply.body['entries'] as readonly FullLine[];
  assert.deepEqual(
    entries.map(({ action }) => action),
    [
      'account.password',
      'key.revoke',
      'webhook.delete',
      'webhook.secret',
      'webhook.put',
      'app.edit',
      'key.create',
      'app.create',
    ],
  );
  for (const { actorName, from } of entries) assert.deepEqual([actorName, from], [email, '127.0.0.1']);
  assert.deepEqual(
    [entries[5]?.before, entries[5]?.after],
    [{ redirectUris: [] }, { redirectUris: ['https://mine.test/back'] }],
  );
  assert.equal(entries[4]?.after?.['endpointHost'], '93.184.215.14');
  for (const secret of ['very-secret', String(apiKey), String(signingSecret), String(second), 'another good']) {
    assert.equal(reply.text.includes(secret), false);
  }
  const ofApp = await person.get(200, 'GET', `/accounts/current/audit?appId=${String(appId)}&limit=3`);
  assert.equal((ofApp['entries'] as unknown[]).length, 3);
  assert.ok(ofApp['next']);
  const others = await owner.get(200, 'GET', `/accounts/current/audit?appId=${String(appId)}`);
  assert.deepEqual(others['entries'], []);
  assert.equal((await newest(1))[0]?.action, 'account.password');
});

function by(who: { readonly email: string }, ...acts: readonly string[]) {
  return acts.map((act) => [act, who.email, '127.0.0.1']);
}

/** An app with every act that members have, and one of an operator. Only the viewer and the first owner are left in its team. */
async function newBusyApp() {
  const { email, ...own } = await newOwner(service);
  const { appId } = await own.get(201, 'POST', '/apps', { name: 'Ours' });
  const path = `/apps/${String(appId)}`;
  const developer = await newMember(service, String(appId), 'developer');
  const second = await newMember(service, String(appId), 'owner');
  await developer.get(200, 'PATCH', path, { name: 'Ours too' });
  const image = `data:image/png;base64,${PNG.toString('base64')}`;
  await developer.get(200, 'PUT', `${path}/logo`, { image });
  await developer.get(204, 'DELETE', `${path}/logo`);
  const { keyId } = await developer.get(201, 'POST', `${path}/keys`, { mode: 'sandbox' });
  await developer.get(200, 'PATCH', `${path}/keys/${String(keyId)}`, { name: 'Batch' });
  const rolled = await developer.get(201, 'POST', `${path}/keys/${String(keyId)}/roll`, { overlapSeconds: 60 });
  await developer.get(204, 'DELETE', `${path}/keys/${String(rolled['keyId'])}`);
  await developer.get(201, 'PUT', `${path}/webhook`, {
    endpointUrl: 'https://93.184.215.14/hook',
    events: ['topup.completed'],
  });
  await developer.get(200, 'POST', `${path}/webhook/secret`);
  // The guard refuses to dial this one: nothing leaves the machine.
  await sql(service)`update webhooks.subscriptions set endpoint_url = 'https://127.0.0.1/hook' where app_id = ${appId}`;
  await developer.get(200, 'POST', `${path}/webhook/test`, { type: 'topup.completed' });
  await developer.get(204, 'DELETE', `${path}/webhook`);
  await developer.get(200, 'POST', `${path}/sandbox/users/anna/reset`, {});
  await developer.get(200, 'PUT', `${path}/sandbox/users/anna/next`, { outcome: 'throttled' });
  const invite = { email: 'new@example.test', role: 'viewer' };
  const { invitationId } = await own.get(201, 'POST', `${path}/invitations`, invite);
  await own.get(204, 'DELETE', `${path}/invitations/${String(invitationId)}`);
  const viewer = await newOwner(service);
  await own.get(201, 'POST', `${path}/invitations`, { email: viewer.email, role: 'viewer' });
  const { token } = await mailTo(service, viewer.email);
  await viewer.get(200, 'POST', '/invitations/accept', { token });
  await second.get(200, 'PATCH', `${path}/team/${await idOf(developer)}`, { role: 'viewer' });
  await second.get(204, 'DELETE', `${path}/team/${await idOf(developer)}`);
  await second.get(204, 'POST', `${path}/leave`);
  await operator.get(200, 'POST', `/operator/apps/${String(appId)}/suspend`, { reason: 'not for members' });
  await own.get(201, 'POST', '/apps', { name: 'Another' });
  return { email, viewer, developer, second, appId: String(appId), path };
}

test('CP-09 AU-06 members read everybody’s acts on their app', async () => {
  const { email, viewer, developer, second, appId, path } = await newBusyApp();
  const listed = async (query = '') => {
    const page = await viewer.get(200, 'GET', `${path}/activity${query}`);
    return page as unknown as { readonly entries: readonly FullLine[]; readonly next: string | null };
  };
  const { entries, next } = await listed();
  assert.equal(next, null);
  const whose = entries.map(({ action, actorName, from }) => [action, actorName, from]).toReversed();
  assert.deepEqual(whose, [
    ...by({ email }, 'app.create'),
    ...by(developer, 'app.edit', 'app.logo', 'app.logo-remove', 'key.create', 'key.edit'),
    ...by(developer, 'key.create', 'key.roll', 'key.revoke'),
    ...by(developer, 'webhook.put', 'webhook.secret', 'webhook.test', 'webhook.delete'),
    ...by(developer, 'sandbox.reset', 'sandbox.next'),
    ...by({ email }, 'team.invite', 'team.withdraw', 'team.invite'),
    ...by(viewer, 'team.join'),
    ...by(second, 'team.role', 'team.remove', 'team.leave'),
  ]);
  const seen: FullLine[] = [];
  for (let before: string | null = ''; before !== null; ) {
    const page: Awaited<ReturnType<typeof listed>> = await listed(
      `?limit=4${before === '' ? '' : `&before=${before}`}`,
    );
    seen.push(...page.entries);
    before = page.next;
  }
  assert.deepEqual(seen, entries);
  const invitations = (await listed('?action=team.invite&limit=1')).entries;
  assert.deepEqual(
    invitations.map(({ after: to }) => to?.['email']),
    [viewer.email],
  );
  await viewer.get(400, 'GET', `${path}/activity?action=key`);
  for (const left of [developer, second, owner, operator]) await left.get(404, 'GET', `${path}/activity`);

  const browser = await signedInBrowser(service, viewer.email);
  const page = `/console/${appId}/activity`;
  const shown = await browser.open(page);
  assertPage(shown, 200, 'Activity', IN_CONSOLE);
  assert.equal(shown.text.match(/<tr><td/g)?.length, entries.length);
  assert.ok(shown.text.includes(developer.email) && shown.text.includes('Rolled a key'));
  assert.ok(!shown.text.includes('not for members'));
  const narrowed = await browser.open(`${page}?action=team.leave`);
  assert.equal(narrowed.text.match(/<tr><td/g)?.length, 1);
  assert.equal((await browser.open(`${page}?action=%27&before=x`)).text.match(/<tr><td/g)?.length, entries.length);
});

interface SignIns {
  readonly who: string | null;
  readonly result: string;
  readonly count: number;
}

test('CP-09 the audit page filters, explains and exports the trail', async () => {
  const db = service.database.owner;
  // More than two batches of the export, with a text that a spreadsheet would run.
  await sql(db)`insert into audit.entries (actor, action, subject, reason, before, after)
    select 'many', 'app.edit', '=cmd ' || n, '"a", b', '{"name": "old"}', '{"name": "<b>new"}' from generate_series(1, 2100) n`;
  const { account } = (await operator.get(200, 'GET', '/sessions/current')) as { account: { email: string } };
  const browser = await signedInBrowser(service, account.email, 'Overview');
  const page = await browser.open('/ops/audit?who=many');
  assertPage(page, 200, 'Audit', IN_CONSOLE);
  assert.equal(page.text.match(/<tr><td/g)?.length, 25);
  assert.ok(page.text.includes('name: old → &#60;b&#62;new') && page.text.includes('=cmd 2100'), page.text);
  const [, older = ''] = /href="([^"]*before=[^"]*)"/.exec(page.text) ?? [];
  const second = await browser.open(older.replaceAll('&#38;', '&'));
  assert.ok(second.text.includes('=cmd 2075') && !second.text.includes('=cmd 2076'));
  const money = await browser.open('/ops/audit?action=wallet.credit&amountTo=0.000007');
  assert.match(money.text, />7 micros</);
  const { name } = (await operator.get(200, 'GET', `/operator/apps/${app.appId}`))['app'] as { name: string };
  const ofApp = new RegExp(`wallet\\.credit<br>${name}<br><a [^>]*><code[^>]*>${app.appId} `);
  assert.match(money.text, ofApp);
  for (const query of ['app=x', 'from=yesterday', 'amountFrom=much', 'action=%27']) {
    assertPage(await browser.open(`/ops/audit?${query}`), 400, 'Audit', IN_CONSOLE);
  }
  const csv = await browser.open('/ops/audit/export?who=many&format=csv');
  assert.equal(csv.headers.get('content-disposition'), 'attachment; filename="audit.csv"');
  const lines = csv.text.trimEnd().split('\r\n');
  assert.equal(lines.length, 2101);
  assert.match(lines[1] ?? '', /,many,,,app\.edit,'=cmd 2100,"""a"", b",,"\{""name"":""old""\}",/);
  const json = await browser.open('/ops/audit/export?who=many&format=jsonl');
  const entries = json.text.trimEnd().split('\n');
  assert.equal(new Set(entries.map((line) => (JSON.parse(line) as FullLine).subject)).size, 2100);
  assertPage(await browser.open('/ops/audit/export?app=x'), 400);
  const signIns = await browser.open('/ops/audit/sign-ins');
  assertPage(signIns, 200, 'Sign-ins', IN_CONSOLE);
  assert.ok(signIns.text.includes(actor));
});

test('CP-09 sign-ins are counted by minute, and failures stay bounded', async () => {
  const { email, ...person } = await newOwner(service);
  const who = await idOf(person);
  await signIn(service, email);
  for (const password of ['wrong', 'wrong']) await person.get(401, 'POST', '/sessions', { email, password });
  await person.get(401, 'POST', '/sessions', { email: 'my-password-by-mistake', password: 'x' });
  const { signIns } = await person.get(200, 'GET', '/accounts/current/sign-ins');
  const total = (result: string) =>
    (signIns as SignIns[]).filter((one) => one.result === result).reduce((sum, { count }) => sum + count, 0);
  assert.deepEqual([total('signed_in'), total('wrong_password')], [1, 2]);
  assert.ok((signIns as SignIns[]).every((one) => one.who === who));
  const all = await operator.ask('GET', '/operator/sign-ins');
  assert.equal(all.text.includes('mistake'), false);
  assert.ok((all.body['signIns'] as SignIns[]).some((one) => one.who === null && one.result === 'wrong_password'));

  for (let address = 0; address < 150; address += 1) {
    await countSignIn(live, { who, result: 'too_many_attempts', from: `flood ${address}` });
  }
  const rows = await sql<{ rows: number; attempts: number }>(service)`
    select count(*)::int as rows, sum(count)::int as attempts
    from audit.sign_ins where result = 'too_many_attempts' group by minute`;
  assert.equal(
    rows.reduce((sum, { attempts }) => sum + attempts, 0),
    150,
  );
  for (const minute of rows) assert.ok(minute.rows <= 101, String(minute.rows));
});

test('CP-09 CP-12 addresses and sign-ins expire by the setting, acts do not', async () => {
  const db = service.database.owner;
  const count = async (table: string) =>
    (await db.query<{ count: number }>(`select count(*)::int as count from audit.${table}`)).rows[0]?.count ?? 0;
  await insertAuditEntry(live, { actor, action: 'app.edit', subject: 'old', reason: undefined, from: '192.0.2.1' });
  const acts = await count('entries');
  assert.ok((await count('addresses')) > 0);
  await sql(db)`update audit.addresses set at = at - interval '91 days'`;
  await sql(db)`update audit.sign_ins set minute = minute - interval '89 days'`;
  await createForgetAddresses(live, 0)();
  await createForgetAddresses(live, 92)();
  assert.ok((await count('addresses')) > 0);
  await createForgetAddresses(live, 90)();
  assert.deepEqual([await count('addresses'), await count('entries')], [0, acts]);
  assert.ok((await count('sign_ins')) > 0);
  await sql(db)`update audit.sign_ins set minute = minute - interval '2 days'`;
  await createForgetAddresses(live, 90)();
  assert.equal(await count('sign_ins'), 0);
});
