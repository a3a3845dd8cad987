import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { releaseWallet } from '../../../packages/service/src/connections/release.ts';
import { createPrivacy } from '../../../packages/service/src/privacy/privacy.ts';
import { newOperator, type Person } from '../../support/control.ts';
import { mainOf } from '../../support/page.ts';
import { walletOwnersOf } from '../../support/people.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Acts that wait for a second person while a wallet loses its owner. */

const { service, app, newUser } = await setStage({ environment: { PURSER_SECOND_PERSON_MICROS: '2000' } });
const { owner: database } = service.database;
const newWalletOwner = walletOwnersOf(service);
const privacy = createPrivacy(database);
const [admin, other] = [await newOperator(service), await newOperator(service)];
const REASON = { reason: 'as agreed' };
const APP = `/operator/apps/${app.appId}`;
let keys = 0;

async function owned() {
  const person = await newWalletOwner();
  const user = await newUser(0);
  await person.connect(app, user);
  return { ...person, user, wallet: { appId: app.appId, userId: user as EndUserId } };
}

const credit = (user: string) =>
  admin.ask('POST', `${APP}/wallets/${user}/credit`, {
    amountMicros: 3_000,
    ...REASON,
    idempotencyKey: `k${(keys += 1)}`,
  });
const decide = (by: Person, pendingId: unknown, how: 'confirm' | 'reject') =>
  by.ask('POST', `/operator/pending/${String(pendingId)}/${how}`, REASON);

async function waitingCredit(user: string): Promise<unknown> {
  const reply = await credit(user);
  assert.equal(reply.status, 202, reply.text);
  return reply.body['pendingId'];
}

test('CP-07 CP-12 WA-15 a waiting act stands in the way of deletion and release', async () => {
  const { user, identityId, browser } = await owned();
  const pendingId = await waitingCredit(user);
  const identity = `/operator/identities/${identityId}`;
  assert.match(
    mainOf(await browser.open('/wallet/data')),
    /The operator is about to book something in your wallet for Test app/,
  );
  assert.deepEqual(
    (await privacy.deleteOwn(identityId))?.obstacles.map(({ kind }) => kind),
    ['waiting'],
  );
  assert.match(
    (await admin.ask('POST', `${identity}/delete`, REASON)).text,
    /waits for a second person: confirm or reject it first/,
  );
  assert.match((await admin.ask('POST', `${APP}/wallets/${user}/release`, REASON)).text, /waits for a second person/);
  assert.equal((await decide(other, pendingId, 'reject')).status, 200);
  assert.equal((await admin.ask('POST', `${APP}/wallets/${user}/release`, REASON)).status, 200);
  assert.deepEqual((await privacy.deleteOwn(identityId))?.obstacles, []);
});

test('CP-07 WA-15 an act from before a release is not confirmed', async () => {
  const { user, wallet } = await owned();
  const pendingId = await waitingCredit(user);
  await releaseWallet(database, wallet); // As a build from before that did not look for acts that wait.
  const next = await newWalletOwner();
  await next.connect(app, user, { isLater: true });
  const refused = await decide(other, pendingId, 'confirm');
  assert.equal(refused.status, 409, refused.text);
  assert.match(refused.text, /released from its owner after this act was asked for/);
  assert.equal((await service.wallet(app, user)).balance, 0);
  assert.equal((await decide(other, pendingId, 'reject')).status, 200);
  const again = await decide(other, await waitingCredit(user), 'confirm');
  assert.equal(again.status, 200, again.text);
});

test('CP-07 WA-15 an act asked for during a release is refused', async () => {
  const { user, wallet } = await owned();
  const client = await database.connect();
  await client.query('begin');
  await releaseWallet(client, wallet);
  let isDone = false;
  const asked = credit(user).finally(() => (isDone = true));
  await waitUntil('the request waits for the release, or is done', async () => {
    const waiting = await sql(database)`select from pg_stat_activity where wait_event_type = 'Lock'`;
    return isDone || waiting.length > 0;
  });
  await client.query('commit');
  client.release();
  const refused = await asked;
  assert.equal(refused.status, 409, refused.text);
  assert.equal(
    (await sql(database)`select from operator.pending_acts where subject = ${`${app.appId} ${user}`}`).length,
    0,
  );
});
