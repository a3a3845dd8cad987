import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../../support/client.ts';
import { newOperator } from '../../support/control.ts';
import { lockWallet } from '../../support/lock-wait.ts';
import { setStage } from '../../support/stage.ts';
import { type FullLine, trailOf } from '../../support/trail.ts';

/** Operator actions that run into others, are repeated, or change nothing. */

const { service, app, newUser } = await setStage();
const operator = await newOperator(service);
const { owner } = service.database;
const APP = `/operator/apps/${app.appId}`;
const MOST = Number.MAX_SAFE_INTEGER;

function move(user: string, act: string, amountMicros: number, idempotencyKey: string): Promise<Reply> {
  const body = { amountMicros, idempotencyKey, reason: 'as agreed' };
  return operator.ask('POST', `${APP}/wallets/${user}/${act}`, body);
}

function assertBusy(reply: Reply): void {
  assert.equal(reply.status, 409, reply.text);
  assert.equal(reply.error['code'], 'CONFLICT');
  assert.deepEqual([reply.headers.get('retry-after'), reply.headers.get('x-should-retry')], ['1', 'true']);
}

test('CP-05 an action that waits too long is a harmless conflict', async () => {
  const user = await newUser(100);
  const client = await owner.connect();
  await client.query('begin');
  await client.query(`select from db.generations for update`);
  const lock = await lockWallet(service.database, user);
  const acts = [
    move(user, 'credit', 5, 'busy'),
    operator.ask('PUT', '/operator/aliases/large', { target: 'acme.secret-1' }),
    operator.ask('PATCH', APP, { firstParty: true }),
  ];
  const ended = await Promise.allSettled(acts);
  await lock.release();
  await client.query('commit');
  client.release();
  const replies = ended.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  assert.equal(replies.length, acts.length);
  for (const reply of replies) assertBusy(reply);
  for (const subject of [`${app.appId} ${user}`, 'large', app.appId]) {
    assert.deepEqual(await trailOf(operator, subject), []);
  }
  assert.equal((await move(user, 'credit', 5, 'busy')).body['balanceMicros'], 105);
});

test('CP-05 an ineffective action leaves no trail, a new suspension reason does', async () => {
  const user = await newUser(100);
  const subject = `${app.appId} ${user}`;
  await operator.get(200, 'PATCH', APP, { firstParty: true, maxStreamsPerUser: 7 });
  assert.equal((await trailOf(operator, app.appId)).length, 1);
  await operator.get(200, 'PATCH', APP, {});
  await operator.get(200, 'PATCH', APP, { firstParty: true, maxStreamsPerUser: 7 });
  assert.equal((await trailOf(operator, app.appId)).length, 1);
  for (const reason of ['abuse', 'more abuse']) await operator.get(200, 'POST', `${APP}/suspend`, { reason });
  await operator.get(200, 'POST', `${APP}/resume`, { reason: 'settled' });
  assert.equal((await trailOf(operator, app.appId)).length, 4);
  await operator.get(200, 'POST', `${APP}/wallets/${user}/reinstate`, { reason: 'nothing is wrong' });
  assert.deepEqual(await trailOf(operator, subject), []);
  for (let times = 0; times < 3; times += 1) assert.equal((await move(user, 'clawback', 300, 'once')).status, 200);
  assert.equal((await trailOf(operator, subject)).length, 1);
  await operator.get(200, 'POST', `${APP}/wallets/${user}/reinstate`, { reason: 'waived', writeOff: true });
  await operator.get(200, 'POST', `${APP}/wallets/${user}/reinstate`, { reason: 'waived', writeOff: true });
  assert.equal((await trailOf(operator, subject)).length, 2);
});

test('CP-07 a write-off is judged and recorded by what it forgives', async () => {
  const user = await newUser(0);
  await move(user, 'clawback', 10, 'first');
  const lock = await lockWallet(service.database, user);
  const clawedBack = move(user, 'clawback', 500, 'second');
  await lock.waiting(1);
  const given = operator.ask('POST', `${APP}/wallets/${user}/reinstate`, { reason: 'hopeless', writeOff: true });
  await lock.waiting(2);
  await lock.release();
  assert.deepEqual([(await clawedBack).status, (await given).status], [200, 200]);
  const { entries } = (await operator.get(200, 'GET', '/operator/audit?limit=2')) as { entries: FullLine[] };
  const line = entries.find(({ action }) => action === 'wallet.reinstate');
  assert.deepEqual([line?.amountMicros, line?.before?.['shortfallMicros']], [510, 510]);
  assert.deepEqual(await service.check(), []);
});

test('CP-05 the key that opens a wallet does not count for later credits', async () => {
  const body = { userId: 'opened', creditMicros: 40, idempotencyKey: 'same' };
  await operator.get(201, 'POST', `${APP}/wallets`, body);
  assert.equal((await move('opened', 'credit', 40, 'same')).body['balanceMicros'], 80);
  assert.equal((await move('opened', 'credit', 40, 'same')).body['balanceMicros'], 80);
  assert.deepEqual(await service.check(), []);
});

test('WA-06 a wallet with an enormous write-off is still shown', async () => {
  const user = await newUser(0);
  for (const key of ['one', 'two', 'three']) assert.equal((await move(user, 'clawback', MOST, key)).status, 200);
  const path = `${APP}/wallets/${user}`;
  await operator.get(200, 'POST', `${path}/reinstate`, { reason: 'hopeless', writeOff: true });
  const { wallet, entries } = (await operator.get(200, 'GET', path)) as unknown as {
    wallet: Readonly<Record<string, unknown>>;
    entries: readonly Readonly<Record<string, unknown>>[];
  };
  assert.deepEqual([wallet['status'], wallet['shortfallMicros']], ['active', 0]);
  assert.deepEqual(
    entries.map(({ amountMicros }) => amountMicros),
    [MOST, MOST, MOST, MOST],
  );
  assert.deepEqual(await service.check(), []);
});
