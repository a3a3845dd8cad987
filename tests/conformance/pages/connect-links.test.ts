import { mailsTo } from '../../support/database.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Email } from '../../../packages/service/src/people/email.ts';
import { changeEmail } from '../../../packages/service/src/people/email-change.ts';
import { insertPasskey } from '../../../packages/service/src/people/queries.ts';
import { createPersonSessions } from '../../../packages/service/src/people/session.ts';
import { type EndUserId, newAppId } from '../../../packages/service/src/kernel/values/ids.ts';
import { CONSENT, consent, consentAndGoOn, newConnectPerson } from '../../support/connect-stage.ts';
import { chat } from '../../support/client.ts';
import { setConnectStage } from '../../support/connect-stage.ts';
import { newOperator } from '../../support/control.ts';
import { assertPage, openBrowser, wayBackOf } from '../../support/page.ts';
import { browserOf, signedInPerson } from '../../support/people.ts';
import { sql } from '../../support/sql.ts';
import type { FullLine } from '../../support/trail.ts';

const stage = await setConnectStage();
const { service, newConnectApp, connections, everything } = stage;
const app = await newConnectApp('Notes', ['https://app.test/back?from=purser']);
const operator = await newOperator(service);

function connectionOf(user: string) {
  return connections.find(app.appId, user as EndUserId);
}

test('BI-04 opening a link changes nothing and reveals no wallet', async () => {
  const { email, user } = newConnectPerson();
  const browser = await browserOf(service, email);
  const link = await app.linkFor(user);
  await browser.open(link);
  const before = await everything();
  for (const path of [link, link, `${link}/cancel`, `${link}/done`, `${link}/topup`, `${link}/consent`]) {
    await browser.ask(path);
    await openBrowser(service.url).ask(path);
  }
  assert.equal(await everything(), before);
});

test('BI-02 cancelling by the page’s button leads back unchanged', async () => {
  const { email, user } = newConnectPerson();
  const link = await app.linkFor(user, { state: 's' });
  const browser = await browserOf(service, email);
  await browser.open(link);
  const before = await everything();
  const way = wayBackOf(await browser.submit(`${link}/cancel`));
  assert.equal(way, 'https://app.test/back?from=purser&status=cancelled&state=s');
  const bare = await app.linkFor(user);
  await browser.open(bare);
  const bareWay = wayBackOf(await browser.submit(`${bare}/cancel`));
  assert.equal(bareWay, 'https://app.test/back?from=purser&status=cancelled');
  assert.equal(await everything(), before);
});

test('BI-02 the cancelling address itself leads nobody to the app', async () => {
  const { email, user } = newConnectPerson();
  const link = await app.linkFor(user);
  const owner = await browserOf(service, email);
  await owner.open(link);
  const form = owner.fieldsOf(`${link}/cancel`);
  const stranger = openBrowser(service.url);
  for (const browser of [owner, stranger]) {
    const opened = await browser.ask(`${link}/cancel`);
    assertPage(opened, 303);
    assert.equal(opened.headers.get('location'), link);
  }
  const other = await browserOf(service, newConnectPerson().email);
  for (const [browser, sent] of [
    [stranger, form],
    [other, form],
    [owner, {}],
    [owner, { form: 'forged' }],
  ] as const) {
    const reply = await browser.ask(`${link}/cancel`, { form: sent });
    assert.equal(reply.status, 403, reply.text);
    assert.ok(!reply.text.includes('app.test'), reply.text);
  }
});

test('BI-02 an app hears of a connection only if it exists', async () => {
  const { email, user } = newConnectPerson();
  const link = await app.linkFor(user);
  const owner = await browserOf(service, email);
  const before = await owner.ask(`${link}/done`);
  assertPage(before, 303);
  assert.equal(before.headers.get('location'), link);
  const next = await consentAndGoOn(owner, link);
  const other = await browserOf(service, newConnectPerson().email);
  const nobody = openBrowser(service.url);
  for (const path of [link, next]) {
    assert.equal((await other.ask(`${path}/done`)).headers.get('location'), path);
    assert.match((await nobody.ask(`${path}/done`)).headers.get('location') ?? '', /^\/wallet\/sign-in\?then=/);
  }
  const made = await connectionOf(user);
  assert.ok(made !== undefined);
  await connections.setConnected(made, false);
  for (const step of ['done', 'topup']) {
    const reply = await owner.ask(`${next}/${step}`);
    assertPage(reply, 303);
    assert.equal(reply.headers.get('location'), next);
  }
});

test('BI-04 a payer whose link expired is still led back', async () => {
  const { email, user } = newConnectPerson();
  const owner = await browserOf(service, email);
  await consent(owner, await app.linkFor(user));
  const expired = app.oldLinkFor(user, 60 * 60);
  assert.match(wayBackOf(await owner.ask(`${expired}/done`)), /status=connected$/);
  for (const path of [expired, `${expired}/topup`, `${app.oldLinkFor(user, 4 * 60 * 60)}/done`]) {
    assertPage(await owner.ask(path), 404, 'This link no longer works');
  }
});

test('BI-02 an address removed from the list leads nobody back', async () => {
  const gone = await newConnectApp('Gone', ['https://gone.test/a', 'https://gone.test/b']);
  const { email, user } = newConnectPerson();
  const owner = await browserOf(service, email);
  const link = await gone.linkFor(user);
  await owner.open(link);
  const form = { ...owner.fieldsOf(`${link}/consent`), ...CONSENT };
  const cancel = owner.fieldsOf(`${link}/cancel`);
  await gone.change({ redirectUris: ['https://gone.test/b'] });
  const before = await everything();
  const cancelled = await owner.ask(`${link}/cancel`, { form: cancel });
  const opened = await Promise.all(['', '/topup', '/done'].map((step) => owner.ask(link + step)));
  for (const reply of [cancelled, ...opened]) {
    assertPage(reply, 404, 'We cannot take you back');
    assert.ok(!reply.text.includes('gone.test'));
  }
  assertPage(await owner.ask(`${link}/consent`, { form }), 404, 'We cannot take you back');
  assert.equal(await everything(), before);
  await gone.change({ redirectUris: ['https://gone.test/a'] });
  const next = await consentAndGoOn(owner, link);
  assert.equal(wayBackOf(await owner.ask(`${next}/done`)), 'https://gone.test/a?status=connected');
});

test('BI-04 every invalid link gets the same page', async () => {
  const { email, user } = newConnectPerson();
  const owner = await browserOf(service, email);
  const link = await app.linkFor(user);
  const { body } = await chat({ url: service.url, key: app.liveKey, user });
  const topupToken = String(body['topupUrl']).split('/').at(-1) ?? '';
  const last = link.at(-1) === 'A' ? 'B' : 'A';
  const forged = [
    `${link.slice(0, -1)}${last}`,
    `${link}A`,
    link.slice(0, -1),
    `${link.slice(0, 60)}${link[60] === 'A' ? 'B' : 'A'}${link.slice(61)}`,
    `/connect/${topupToken}`,
    '/connect/x',
    `/connect/${'A'.repeat(100)}`,
    `/connect/%41%42`,
    app.oldLinkFor(user, 15 * 60 + 1),
    app.oldLinkFor(user, 0, newAppId()), // Correctly signed, but for an app that does not exist.
  ];
  const before = await everything();
  const texts = new Set<string>();
  for (const one of [owner, openBrowser(service.url)]) {
    for (const path of forged) {
      const reply = await one.ask(path);
      assertPage(reply, 404, 'This link no longer works');
      texts.add(reply.text);
      assertPage(await one.ask(`${path}/topup`), 404, 'This link no longer works');
    }
  }
  assert.equal(texts.size, 1);
  for (const path of ['/connect', '/connect/', `${link}/other`, `${link}/`]) {
    assert.notEqual((await owner.ask(path)).status, 200, path);
  }
  assert.equal((await owner.ask('/connect/:part')).error['code'], 'NOT_FOUND');
  assert.equal(await everything(), before);
});

test('BI-04 a form of one link does not work for another', async () => {
  const [mine, other] = [newConnectPerson(), newConnectPerson()];
  const owner = await browserOf(service, mine.email);
  const [link, otherLink] = [await app.linkFor(mine.user), await app.linkFor(other.user)];
  await owner.open(link);
  const form = { ...owner.fieldsOf(`${link}/consent`), ...CONSENT };
  assertPage(await owner.ask(`${otherLink}/consent`, { form }), 403, 'This did not work');
  const stranger = await browserOf(service, other.email);
  assertPage(await stranger.ask(`${link}/consent`, { form }), 403, 'This did not work');
  assertPage(await owner.ask(`${link}/consent`, { form, origin: 'https://app.test' }), 403, 'This did not work');
  assert.equal(await connectionOf(mine.user), undefined);
  assert.equal(await connectionOf(other.user), undefined);
});

test('SB-09 the sandbox’s link leads only to an explanation', async () => {
  for (const browser of [openBrowser(service.url), await browserOf(service, newConnectPerson().email)]) {
    assertPage(await browser.ask('/connect/sandbox'), 200, 'This is the sandbox');
    for (const step of ['cancel', 'done']) {
      assertPage(await browser.ask(`/connect/sandbox/${step}`), 404, 'This link no longer works');
    }
  }
});

async function subjectsTo(email: string): Promise<readonly string[]> {
  return (await mailsTo(service.database.owner, email)).map(({ subject }) => subject);
}

test('WA-15 a released wallet keeps its money for a later link’s user', async () => {
  const [{ email, user }, next] = [newConnectPerson(), newConnectPerson()];
  const path = `/operator/apps/${app.appId}/wallets/${user}`;
  const owned = () => connections.find(app.appId, user as EndUserId);
  const refused = await operator.ask('POST', `${path}/release`, { reason: 'Lost the mailbox' });
  assert.equal(refused.status, 404, refused.text); // Nobody owns it.
  await consent(await browserOf(service, email), await app.linkFor(user));
  await service.fund(app, user, 500);
  const before = (await operator.get(200, 'GET', path))['owner'] as { identityId: string; email: string };
  assert.equal(before.email, email);
  assert.equal((await operator.ask('POST', `${path}/release`, {})).status, 400);
  assert.equal((await owned())?.identityId, before.identityId);
  const link = await app.linkFor(user);
  const released = await operator.get(200, 'POST', `${path}/release`, { reason: 'Lost the mailbox' });
  assert.deepEqual([released['connected'], released['balanceMicros']], [false, 500]);
  assert.equal((await operator.get(200, 'GET', path))['owner'], null);
  assert.deepEqual(await subjectsTo(email), ['A wallet is no longer yours']);
  assert.equal((await chat({ url: service.url, key: app.liveKey, user })).status, 402);

  const stranger = await browserOf(service, next.email);
  // Also one that was made less than five seconds after the release. All say so when they are opened.
  for (const old of [link, app.oldLinkFor(user, 600), await app.linkFor(user)]) {
    assertPage(await stranger.open(old), 404, 'This link no longer works');
    assert.equal(await owned(), undefined);
  }
  // A link counts as newer once it is five seconds younger than the release.
  await sql(service)`update connections.releases set released_at = released_at - interval '10 s'
    where user_id = ${user}`;
  await consent(stranger, await app.linkFor(user));
  const now = await owned();
  assert.deepEqual([now?.wallet.isConnected, now?.wallet.balance], [true, 500n]);
  const subject = `${app.appId} ${user}`;
  const { entries } = (await operator.get(200, 'GET', '/operator/audit?limit=10')) as { entries: FullLine[] };
  const [claimed, act] = entries.filter((line) => line.subject === subject);
  assert.deepEqual([claimed?.action, claimed?.actor], ['wallet.claim', now?.identityId]);
  assert.deepEqual([act?.action, act?.reason], ['wallet.release', 'Lost the mailbox']);
});

test('WA-15 a person moved to another e-mail keeps their wallets', async () => {
  const [{ email, user }, other] = [newConnectPerson(), newConnectPerson()];
  const browser = await browserOf(service, email);
  await consent(browser, await app.linkFor(user));
  const found = await operator.get(200, 'GET', `/operator/identities?email=${email}`);
  assert.deepEqual(found['wallets'], [{ appId: app.appId, userId: user }]);
  const path = `/operator/identities/${String(found['identityId'])}`;
  const { owner } = service.database;
  await sql(owner)`insert into identities.passkeys (credential_id, identity_id, public_key, sign_count)
    values ('old', ${found['identityId']}, '', 0)`;
  await browserOf(service, other.email);
  const reason = 'Showed a passport';
  for (const [body, status] of [
    [{ email: 'new-mailbox@example.test' }, 400],
    [{ email: 'no address', reason }, 400],
    [{ email: other.email, reason }, 409],
  ] as const) {
    assert.equal((await operator.ask('PATCH', path, body)).status, status);
  }
  assert.equal(
    (await operator.ask('PATCH', '/operator/identities/none', { email: 'x@example.test', reason })).status,
    404,
  );
  const moved = await operator.get(200, 'PATCH', path, { email: 'New-Mailbox@example.test', reason });
  assert.deepEqual(moved, { ...found, email: 'new-mailbox@example.test' });

  assert.equal((await browser.ask('/wallet')).status, 303, 'signed out');
  const { rowCount } = await owner.query(`select from identities.passkeys where credential_id = 'old'`);
  assert.equal(rowCount, 0);
  assert.deepEqual(await subjectsTo(email), ['Your wallets have moved to another e-mail address']);
  assert.deepEqual(await subjectsTo('new-mailbox@example.test'), ['Your wallets have moved to this e-mail address']);
  const again = await signedInPerson(service, 'new-mailbox@example.test');
  assert.ok((await again.open('/wallet')).text.includes('Notes'));
  const old = await signedInPerson(service, email);
  assert.ok(!(await old.open('/wallet')).text.includes('Notes'), 'the old address is a new person');
  const { entries } = (await operator.get(200, 'GET', '/operator/audit?limit=1')) as { entries: FullLine[] };
  const [act] = entries;
  assert.deepEqual([act?.action, act?.reason, act?.subject], ['identity.move', reason, found['identityId']]);
  assert.deepEqual([act?.before, act?.after], [null, { email: 'changed' }], 'CP-12 a line of the trail is for good');
});

test('WA-15 a passkey added during a move does not outlive it', async () => {
  const { owner } = service.database;
  const [before, after] = ['lost@example.test' as Email, 'found@example.test' as Email];
  const { identity } = await createPersonSessions(owner).open(before);
  const client = await owner.connect();
  await client.query('begin');
  assert.deepEqual(await changeEmail(client, identity.identityId, after), { before });
  // By a session from before. It waits for the move.
  const adding = insertPasskey(owner, { ...identity, credentialId: 'late', publicKey: Buffer.of(1), signCount: 0 });
  await client.query('commit');
  client.release();
  assert.equal(await adding, false);
});
