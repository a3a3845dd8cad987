import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { test } from 'node:test';
import { createAccounts } from '../../../packages/service/src/accounts/account.ts';
import { createPool, type Pool } from '../../../packages/service/src/db/pool.ts';
import { Refusal } from '../../../packages/service/src/kernel/refusal.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { createThrottle } from '../../../packages/service/src/limits/throttle.ts';
import { type Reply, send } from '../../support/client.ts';
import { newOwner, PASSWORD, signIn, stopRefill } from '../../support/control.ts';
import { untilWaiting } from '../../support/lock-wait.ts';
import { assertRefusal, type Code } from '../../support/refusal.ts';
import { setStage } from '../../support/stage.ts';

// As behind one proxy of ours, so that a test can call from where it likes.
const { service } = await setStage({ environment: { PURSER_PROXY_HOPS: '1' } });
const { owner } = service.database;

function post(path: string, from: string, body: unknown): Promise<Reply> {
  return send(path, { url: service.url, body, headers: { 'x-forwarded-for': from } });
}

function register(from: string, email: string): Promise<Reply> {
  return post('/accounts', from, { email, password: PASSWORD });
}

function assertRefused(reply: Reply, code: Code): void {
  assertRefusal(reply, { code, param: null, hasLink: false }, reply.text);
}

/** As if all tries of buckets whose names are like this had been used up just now. */
async function useUp(like: string): Promise<void> {
  const { rowCount } = await owner.query(`update limits.buckets set units = 0 where app_id like $1`, [like]);
  assert.ok((rowCount ?? 0) > 0, like);
  await stopRefill(service);
}

/** Accounts on a connection of their own, with what their work consists of, and the mails that they send. */
async function overheardAccounts(t: { after: (end: () => Promise<void>) => void }) {
  const pool = createPool({ url: service.database.url, role: 'live', connectionsMax: 1, log: createLog('silent') });
  t.after(() => pool.end());
  const work: string[] = [];
  const mails: string[] = [];
  const query = pool.query.bind(pool) as (...call: unknown[]) => unknown;
  const overheard = new Proxy(pool, {
    get: (target, name) =>
      name === 'query'
        ? (...call: unknown[]) => {
            const [asked] = call;
            work.push(typeof asked === 'string' ? asked : (asked as { text: string }).text);
            return query(...call);
          }
        : Reflect.get(target, name),
  }) satisfies Pool;
  const running = new Set<number>();
  let mostAtOnce = 0;
  const hook = createHook({
    init: (id, type) => {
      if (!/ARGON2/i.test(type)) return;
      work.push('argon2');
      running.add(id);
      mostAtOnce = Math.max(mostAtOnce, running.size);
    },
    after: (id) => void running.delete(id),
  }).enable();
  t.after(async () => void hook.disable());
  const accounts = createAccounts({
    pool: overheard,
    throttle: createThrottle(overheard),
    secret: Buffer.alloc(32, 'x'),
    sendReset: async (email) => void mails.push(email),
  });
  /** What was done for one act. */
  async function workOf(act: () => Promise<unknown>): Promise<readonly string[]> {
    work.length = 0;
    await act();
    return [...work];
  }
  return { accounts, mails, workOf, mostAtOnce: () => mostAtOnce };
}

test('CP-01 the same work is done for a wrong password, an unknown e-mail and an account without a password', async (t) => {
  const { accounts, workOf } = await overheardAccounts(t);
  const { email } = await newOwner(service);
  await owner.query(`insert into accounts.accounts (account_id, email) values ('acct_mute', 'mute@example.test')`);
  const device = `${'x'.repeat(22)}.${'A'.repeat(43)}`;
  const works: (readonly string[])[] = [];
  for (const one of [email, 'nobody@example.test', 'mute@example.test', 'no e-mail at all']) {
    const work = await workOf(async () => {
      const answer = await accounts.signIn({ email: one, password: 'wrong', device, from: '192.0.2.9' });
      assert.ok(answer instanceof Refusal && answer.code === 'UNAUTHORIZED');
    });
    works.push(work);
  }
  const [known = [], ...others] = works;
  assert.equal(known.filter((step) => step === 'argon2').length, 1);
  assert.equal(known.length, 4, known.join('\n')); // The account, two buckets, the password.
  for (const other of others) assert.deepEqual(other, known);
});

test('CP-01 two passwords are worked on at once in a process, however many sign in', async (t) => {
  const { accounts, workOf, mostAtOnce } = await overheardAccounts(t);
  const work = await workOf(() =>
    Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        accounts.signIn({ email: `n${index}`, password: 'x', device: undefined, from: `192.0.2.${100 + index}` }),
      ),
    ),
  );
  assert.equal(work.filter((step) => step === 'argon2').length, 12);
  assert.equal(mostAtOnce(), 2);
});

test('CP-01 asking for a reset is answered while nothing can be read of any account', async () => {
  const { email } = await newOwner(service);
  const client = await owner.connect();
  await client.query('begin');
  await client.query('lock table accounts.accounts in access exclusive mode');
  try {
    for (const one of [email, 'nobody@example.test']) {
      assert.equal((await post('/password-resets', '192.0.2.10', { email: one })).status, 202);
    }
  } finally {
    await client.query('commit');
    client.release();
  }
});

test('CP-01 an address is sent three mails to reset its password, whoever asks, and then one in ten minutes', async (t) => {
  const { accounts, mails } = await overheardAccounts(t);
  const { email } = await newOwner(service);
  for (let times = 0; times < 6; times += 1) await accounts.requestReset(times % 2 === 0 ? email : email.toUpperCase());
  assert.deepEqual(mails, [email, email, email]);
  const fiveMinutes = 5 * 60 * 1_000_000;
  for (const sent of [3, 4]) {
    await owner.query(`update limits.buckets set refilled_at_us = refilled_at_us - $1 where app_id like 'reset:%'`, [
      fiveMinutes,
    ]);
    for (let times = 0; times < 3; times += 1) await accounts.requestReset(email);
    assert.equal(mails.length, sent); // What had come in after the first five is not lost by asking in vain.
  }
});

test('CP-01 twenty resets are asked for from one address, and no more', async () => {
  for (let times = 0; times < 20; times += 1) {
    assert.equal((await post('/password-resets', '192.0.2.11', { email: `n${times}@example.test` })).status, 202);
    if (times === 0) await stopRefill(service);
  }
  assertRefused(await post('/password-resets', '192.0.2.11', { email: 'n@example.test' }), 'TOO_MANY_REQUESTS');
  assert.equal((await post('/password-resets', '192.0.2.12', { email: 'n@example.test' })).status, 202);
});

test('CP-01 twenty accounts are made from one address, and no more', async () => {
  for (let times = 0; times < 20; times += 1) {
    assert.equal((await register('192.0.2.13', `a${times}@many.test`)).status, 201);
    if (times === 0) await stopRefill(service);
  }
  assertRefused(await register('192.0.2.13', 'a20@many.test'), 'TOO_MANY_REQUESTS');
  assert.equal((await register('192.0.2.14', 'a20@many.test')).status, 201);
});

test('CP-01 ten known e-mails are told from one address; then nothing is told, of known ones or new ones', async () => {
  const { email } = await newOwner(service);
  for (let times = 0; times < 10; times += 1) assertRefused(await register('192.0.2.15', email), 'CONFLICT');
  const known = await register('192.0.2.15', email);
  const unknown = await register('192.0.2.15', 'new@example.test');
  assertRefused(known, 'TOO_MANY_REQUESTS');
  assert.deepEqual({ ...unknown.error, correlationId: '' }, { ...known.error, correlationId: '' });
  assertRefused(await register('192.0.2.16', email), 'CONFLICT');
});

/** What is left to each address that has tried to sign in. */
async function addressBuckets(): Promise<readonly { readonly app_id: string; readonly tries: string }[]> {
  const { rows } = await owner.query<{ app_id: string; tries: string }>(
    `select app_id, (units / 60000000)::text as tries from limits.buckets where app_id like 'sign-in-from:%'`,
  );
  return rows;
}

test('CP-01 one address has a hundred wrong passwords for all e-mails together', async () => {
  const [first, second] = [await newOwner(service), await newOwner(service)];
  const from = '192.0.2.17';
  const before = new Set((await addressBuckets()).map(({ app_id: name }) => name));
  assertRefused(await post('/sessions', from, { email: first.email, password: 'wrong' }), 'UNAUTHORIZED');
  const made = (await addressBuckets()).filter(({ app_id: name }) => !before.has(name));
  assert.deepEqual(
    made.map(({ tries }) => tries),
    ['99'],
  );
  await useUp(made[0]?.app_id ?? '');
  assertRefused(await post('/sessions', from, { email: second.email, password: PASSWORD }), 'TOO_MANY_REQUESTS');
  assert.equal((await post('/sessions', '192.0.2.18', { email: second.email, password: PASSWORD })).status, 200);
});

test('CP-01 somebody who is signed in guesses the present password twenty times, and no more', async () => {
  const person = await newOwner(service);
  const change = { currentPassword: 'wrong', newPassword: 'a new password' };
  assertRefused(await person.ask('PUT', '/accounts/current/password', change), 'UNAUTHORIZED');
  await useUp('password:%');
  const right = { ...change, currentPassword: PASSWORD };
  assertRefused(await person.ask('PUT', '/accounts/current/password', right), 'TOO_MANY_REQUESTS');
});

test('CP-01 no name of a bucket tells an e-mail or an address', async () => {
  const { rows } = await owner.query<{ name: string }>(
    `select app_id as name from limits.buckets where app_id like '%:%'`,
  );
  assert.ok(rows.length > 5);
  for (const { name } of rows) assert.match(name, /^[a-z-]+:[A-Za-z0-9_-]{43}$/);
});

test('CP-01 who signs in while the password is being changed has no session by the old one', async () => {
  const { email } = await newOwner(service);
  let reply = await signInDuringChange(email);
  // Where this machine was so slow that the statement gave up its place in line: a fault, and no session either.
  for (let times = 0; times < 10 && reply.status === 500; times += 1) reply = await signInDuringChange(email);
  assertRefused(reply, 'UNAUTHORIZED');
  const { rowCount } = await owner.query(
    `select from accounts.sessions s join accounts.accounts a using (account_id) where a.email = $1`,
    [email],
  );
  assert.equal(rowCount, 1); // The one that `newOwner` opened.
});

/** The right password, found right while a transaction that changes it has not ended yet. */
async function signInDuringChange(email: string): Promise<Reply> {
  const { rows } = await owner.query<{ hash: string }>(
    `select password_hash as hash from accounts.accounts where email = $1`,
    [email],
  );
  const stored = rows[0]?.hash;
  const client = await owner.connect();
  await client.query('begin');
  await client.query(`update accounts.accounts set password_hash = 'another' where email = $1`, [email]);
  const reply = post('/sessions', '192.0.2.19', { email, password: PASSWORD });
  await Promise.race([untilWaiting(service.database, 1), reply]);
  await client.query('commit');
  client.release();
  const answer = await reply;
  if (answer.status === 500) {
    await owner.query(`update accounts.accounts set password_hash = $2 where email = $1`, [email, stored]);
  }
  return answer;
}

test('CP-01 all other sessions are ended at once, and none of anybody else', async () => {
  const { email, ...person } = await newOwner(service);
  const others = [await signIn(service, email), await signIn(service, email)];
  const stranger = await newOwner(service);
  await person.get(204, 'DELETE', '/sessions/others');
  for (const other of others) assertRefused(await other.ask('GET', '/sessions/current'), 'UNAUTHORIZED');
  for (const one of [person, stranger]) await one.get(200, 'GET', '/sessions/current');
  await person.get(204, 'DELETE', '/sessions/others');
});
