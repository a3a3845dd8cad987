import { sealedEmail, setAccount } from '../../support/database.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isAtLeastOperator,
  OPERATOR_ACCESS,
  type OperatorRole,
} from '../../../packages/contract/src/operator-access.ts';
import type { Reply } from '../../support/client.ts';
import { emailOf, newOperator, type Person, signIn } from '../../support/control.ts';
import { untilWaiting } from '../../support/lock-wait.ts';
import { assertPage, IN_CONSOLE, signedInBrowser } from '../../support/page.ts';
import { assertRefusal, type Code } from '../../support/refusal.ts';
import { newsTo } from '../../support/second-factor.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { type FullLine, idOf } from '../../support/trail.ts';

/** The limits in money of operators, and the acts that need a second person. */

const { service, app, newUser } = await setStage({
  environment: {
    PURSER_OPERATOR_LIMITS: 'support=100/1000 finance=5000/20000 admin=none',
    PURSER_CREDIT_MAX_MICROS: '4000',
    PURSER_SECOND_PERSON_MICROS: '2000',
  },
});
const { owner } = service.database;
const APP = `/operator/apps/${app.appId}`;
const admin = await newOperator(service);
let keys = 0;

type Act = 'credit' | 'refund' | 'clawback';

function move(by: Person, user: string, act: Act, amountMicros: number, key = `key-${(keys += 1)}`): Promise<Reply> {
  return by.ask('POST', `${APP}/wallets/${user}/${act}`, { amountMicros, reason: 'agreed', idempotencyKey: key });
}

async function balanceOf(user: string): Promise<unknown> {
  const { wallet } = (await admin.get(200, 'GET', `${APP}/wallets/${user}`)) as { wallet: Record<string, unknown> };
  return wallet['balanceMicros'];
}

function decide(by: Person, pendingId: unknown, how: 'confirm' | 'reject'): Promise<Reply> {
  return by.ask('POST', `/operator/pending/${String(pendingId)}/${how}`, { reason: 'checked' });
}

function assertRefused(reply: Reply, code: Code): void {
  assertRefusal(reply, { code, param: reply.error['param'] as string | null }, reply.text);
}

/** An act of 3,000 micros that waits, its user and the person who asked for it. */
async function newPending(act: Act = 'credit', by?: Person) {
  const [user, asker] = [await newUser(10_000), by ?? (await newOperator(service, 'finance'))];
  const key = `key-${(keys += 1)}`;
  const reply = await move(asker, user, act, 3_000, key);
  assert.equal(reply.status, 202, reply.text);
  return { user, asker, key, pendingId: String(reply.body['pendingId']) };
}

/** The newest lines of the trail. */
async function newest(count: number): Promise<readonly FullLine[]> {
  return (await admin.get(200, 'GET', `/operator/audit?limit=${count}`))['entries'] as FullLine[];
}

test('CP-07 of twenty simultaneous refunds, exactly the day’s sum goes through', async () => {
  const support = await newOperator(service, 'support');
  // Each on a wallet of its own: acts on one wallet wait for each other, and would be in order without any lock of the operator.
  const users = await Promise.all(Array.from({ length: 20 }, () => newUser(10_000)));
  const replies = await Promise.all(
    users.map(async (user, at) => ({
      user,
      key: `day-${at}`,
      reply: await move(support, user, 'refund', 90, `day-${at}`),
    })),
  );
  const done = replies.filter(({ reply }) => reply.status === 200);
  assert.equal(done.length, 11); // 11 times 90 is 990, and 12 times 90 is more than 1,000.
  for (const { reply } of replies) if (reply.status !== 200) assertRefused(reply, 'FORBIDDEN');
  const balances = await Promise.all(users.map(balanceOf));
  assert.equal(
    balances.reduce<number>((sum, balance) => sum + Number(balance), 0),
    200_000 - 990,
  );
  const { user, key } = done[0] ?? assert.fail('none went through');
  assert.equal((await move(support, user, 'refund', 90, key)).status, 200, 'a repeat moves nothing');
  assert.equal((await move(support, user, 'refund', 10)).status, 200);
  assertRefused(await move(support, user, 'refund', 1), 'FORBIDDEN');
  assert.equal((await move(await newOperator(service, 'support'), user, 'refund', 1)).status, 200);
  await sql(owner)`update operator.movements set at = at - interval '24 hours'
    where account_id = ${await idOf(support)}`;
  assert.equal((await move(support, user, 'refund', 100)).status, 200);
});

test('CP-07 two simultaneous refunds do not both take the day’s rest', async () => {
  const support = await newOperator(service, 'support');
  const users = [await newUser(1_000), await newUser(1_000)];
  await sql(owner)`insert into operator.movements (account_id, amount_micros) values (${await idOf(support)}, 910)`;
  // Both are held where they are counted. So without the lock of the account, both would have read the same sum.
  const lock = await owner.connect();
  await sql(lock)`begin; lock table operator.movements in share mode`;
  const asked = Promise.all(users.map((user) => move(support, user, 'refund', 90)));
  try {
    await untilWaiting(service.database, 2);
  } finally {
    await sql(lock)`commit`;
    lock.release();
  }
  assert.deepEqual(new Set((await asked).map(({ status }) => status)), new Set([200, 403]));
});

test('CP-07 an act above the role’s limit is refused', async () => {
  const user = await newUser(10_000);
  const [support, finance] = [await newOperator(service, 'support'), await newOperator(service, 'finance')];
  const refused = await move(support, user, 'refund', 101);
  assert.match(refused.text, /FORBIDDEN.*€0\.0001 \(100 micros\) in one act\. .* €0\.000101 \(101 micros\)/);
  assert.equal(await balanceOf(user), 10_000);
  assert.equal((await move(support, user, 'refund', 100)).status, 200);
  for (const act of ['refund', 'clawback'] as const) {
    assertRefused(await move(finance, user, act, 5_001), 'FORBIDDEN');
  }
  assert.equal(await balanceOf(user), 9_900);
});

test('CP-07 a credit has an upper bound in every role', async () => {
  const user = await newUser(0);
  assertRefused(await move(admin, user, 'credit', 4_001), 'FORBIDDEN');
  const opening = { userId: 'too-rich', creditMicros: 4_001, idempotencyKey: 'rich', reason: 'gift' };
  assertRefused(await admin.ask('POST', `${APP}/wallets`, opening), 'FORBIDDEN');
  await admin.get(404, 'GET', `${APP}/wallets/too-rich`);
  assert.equal((await move(admin, user, 'credit', 2_000)).status, 200);
});

test('CP-07 an act above one person’s amount waits for another operator', async () => {
  const { user, asker, key, pendingId } = await newPending();
  assert.equal(await balanceOf(user), 10_000);
  const twice = await move(asker, user, 'credit', 3_000, key);
  assert.equal(twice.body['pendingId'], pendingId, 'a repeat makes no second');
  assertRefused(await move(asker, user, 'credit', 3_001, key), 'CONFLICT');
  const { acts } = (await asker.get(200, 'GET', '/operator/pending')) as { acts: Record<string, unknown>[] };
  const waiting = acts.find((act) => act['pendingId'] === pendingId);
  const balances = [waiting?.['before'], waiting?.['after']].map(
    (facts) => (facts as FullLine['after'])?.['balanceMicros'],
  );
  assert.deepEqual([waiting?.['amountMicros'], ...balances], [3_000, 10_000, 13_000]);

  assertRefused(await decide(asker, pendingId, 'confirm'), 'FORBIDDEN');
  assertRefused(await decide(await newOperator(service, 'support'), pendingId, 'confirm'), 'FORBIDDEN');
  assert.equal(await balanceOf(user), 10_000);
  const second = await newOperator(service, 'finance');
  const confirmed = await decide(second, pendingId, 'confirm');
  const { act: done, wallet } = confirmed.body as { act: { state: string }; wallet: { balanceMicros: number } };
  assert.deepEqual([confirmed.status, wallet.balanceMicros, done.state], [200, 13_000, 'done'], confirmed.text);
  const [act, confirmation] = await newest(2);
  assert.deepEqual(
    [confirmation?.action, confirmation?.actor, confirmation?.reason],
    ['pending.confirm', await idOf(second), 'checked'],
  );
  assert.deepEqual(
    [act?.action, act?.actor, act?.reason, act?.amountMicros],
    ['wallet.credit', await idOf(asker), 'agreed', 3_000],
  );
  assert.equal(act?.after?.['pendingId'], pendingId);

  assertRefused(await decide(await newOperator(service, 'finance'), pendingId, 'confirm'), 'CONFLICT');
  const repeat = await move(asker, user, 'credit', 3_000, key);
  assert.equal(repeat.status, 200, 'a repeat gets the answer of the first time');
  assert.equal(await balanceOf(user), 13_000);
  assert.deepEqual(await service.check(), []);
});

test('CP-07 two simultaneous confirmations do the act once, counted for both', async () => {
  const { user, asker, pendingId } = await newPending('refund');
  const seconds = [await newOperator(service, 'finance'), await newOperator(service, 'finance')];
  const replies = await Promise.all(seconds.map((one) => decide(one, pendingId, 'confirm')));
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200, 409]));
  assert.equal(await balanceOf(user), 7_000);
  const winner = seconds[replies.findIndex(({ status }) => status === 200)] ?? asker;
  const rows = await sql<{ account_id: string }>(owner)`select account_id from operator.movements
    where account_id = any(${[await idOf(asker), ...(await Promise.all(seconds.map(idOf)))]}) and amount_micros = 3000`;
  assert.deepEqual(rows.map(({ account_id: id }) => id).toSorted(), [await idOf(asker), await idOf(winner)].toSorted());
  await sql(owner)`insert into operator.movements (account_id, amount_micros) values (${await idOf(winner)}, 15000)`;
  const next = await newPending('refund');
  assertRefused(await decide(winner, next.pendingId, 'confirm'), 'FORBIDDEN');
  assert.equal(await balanceOf(next.user), 10_000);
});

test('CP-07 possible confirmers are mailed once, and each person counts once', async () => {
  const emails = [admin, await newOperator(service, 'finance'), await newOperator(service, 'support')].map(emailOf);
  const [first = '', same = '', support = ''] = await Promise.all(emails);
  const asker = await newOperator(service, 'finance');
  const email = await emailOf(asker);
  const other = email.replace('@', '+two@');
  await setAccount(owner, same, `email = '${sealedEmail(other)}'`);
  const { user, key, pendingId } = await newPending('credit', asker);
  await move(asker, user, 'credit', 3_000, key);
  const mails = await Promise.all([first, email, other, support].map((to) => newsTo(service, to)));
  const told = mails.map((texts) => texts.filter((text) => text.includes(`${email} requested an act`)).length);
  assert.deepEqual(told, [1, 0, 0, 0]);
  assertRefused(await decide(await signIn(service, other), pendingId, 'confirm'), 'FORBIDDEN');
  assert.equal(await balanceOf(user), 10_000);
});

test('CP-07 an act is judged again when it is confirmed', async () => {
  const first = await newPending();
  await sql(owner)`update accounts.accounts set operator_role = 'support'
    where account_id = ${await idOf(first.asker)}`;
  assertRefused(await decide(admin, first.pendingId, 'confirm'), 'FORBIDDEN');
  assert.equal(await balanceOf(first.user), 10_000);

  const [user, asker] = [await newUser(0), await newOperator(service, 'finance')];
  for (const key of ['one', 'two']) assert.equal((await move(asker, user, 'clawback', 1_500, key)).status, 200);
  const body = { writeOff: true, reason: 'hopeless' };
  const { pendingId } = await asker.get(202, 'POST', `${APP}/wallets/${user}/reinstate`, body);
  assert.equal((await move(asker, user, 'clawback', 1_500)).status, 200);
  assertRefused(await decide(admin, pendingId, 'confirm'), 'CONFLICT');
  const { wallet } = (await admin.get(200, 'GET', `${APP}/wallets/${user}`)) as { wallet: Record<string, unknown> };
  assert.deepEqual([wallet['status'], wallet['shortfallMicros']], ['suspended', 4_500]);
});

test('CP-07 an expired or rejected act can only be asked for anew', async () => {
  const expired = await newPending();
  await sql(owner)`update operator.pending_acts
    set requested_at = requested_at - interval '24 hours', expires_at = expires_at - interval '24 hours'
    where pending_id = ${expired.pendingId}`;
  for (const how of ['confirm', 'reject'] as const) {
    assertRefused(await decide(admin, expired.pendingId, how), 'CONFLICT');
  }
  const again = await move(expired.asker, expired.user, 'credit', 3_000, expired.key);
  assert.equal(again.status, 202);
  assert.notEqual(again.body['pendingId'], expired.pendingId);
  const rejected = await decide(expired.asker, again.body['pendingId'], 'reject');
  assert.deepEqual([rejected.status, rejected.body['state']], [200, 'rejected']);
  assertRefused(await decide(admin, again.body['pendingId'], 'confirm'), 'CONFLICT');
  assertRefused(await decide(admin, 'pnd_none', 'confirm'), 'NOT_FOUND');
  assert.equal(await balanceOf(expired.user), 10_000);
});

test('CP-07 a support session moves no more than its limits', async () => {
  const support = await newOperator(service, 'support');
  const user = await newUser(10_000);
  const { pendingId, ...waiting } = await newPending();
  const role: OperatorRole = 'support';
  const closed = Object.entries(OPERATOR_ACCESS).filter(
    ([name, { least }]) => name.includes(' /operator/') && !isAtLeastOperator(role, least),
  );
  assert.ok(closed.length >= 15);
  for (const [name] of closed) {
    const [method = '', path = ''] = name.split(' ');
    const body =
      method === 'GET' ? undefined : { amountMicros: 1, reason: 'mine', idempotencyKey: 'mine', writeOff: true };
    const at = path
      .replace('{appId}', app.appId)
      .replace('{userId}', user)
      .replace(/\{\w+\}/g, 'x');
    const reply = await support.ask(method, at, body);
    assert.equal(reply.status, 403, `${name}: ${reply.text}`);
  }
  assertRefused(await decide(support, pendingId, 'confirm'), 'FORBIDDEN');
  let moved = 0;
  for (const amount of [10_000, 2_001, 101, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 1]) {
    const reply = await move(support, user, 'refund', amount);
    if (reply.status === 200) moved += amount;
    else assertRefused(reply, 'FORBIDDEN');
  }
  assert.equal(moved, 1_000);
  assert.deepEqual([await balanceOf(user), await balanceOf(waiting.user)], [9_000, 10_000]);
});

test('CP-07 CP-10 only somebody else confirms a waiting act on its page', async () => {
  const { asker, user, pendingId } = await newPending();
  const path = `/ops/pending?id=${pendingId}`;
  const browserOf = async (person: Person) => {
    const { account } = (await person.get(200, 'GET', '/sessions/current')) as { account: { email: string } };
    return signedInBrowser(service, account.email, 'Overview');
  };
  const own = await (await browserOf(asker)).open(path);
  assert.ok(!own.text.includes('value="confirm"') && own.text.includes('value="reject"'), own.text);
  const second = await browserOf(await newOperator(service, 'finance'));
  assert.match((await second.open('/ops/pending')).text, new RegExp(pendingId));
  const page = await second.open(path);
  assertPage(page, 200, 'Credit', IN_CONSOLE);
  for (const shown of ['3,000 micros', '>10,000<', '>13,000<']) assert.ok(page.text.includes(shown), shown);
  const done = await second.submit('/ops/pending', { reason: 'checked', act: 'confirm' });
  assertPage(done, 200, 'Credit', IN_CONSOLE);
  assert.match(done.text, /The act was done\./);
  assert.equal(await balanceOf(user), 13_000);
});
