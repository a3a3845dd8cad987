import { sealedEmail, setAccount } from '../../support/database.ts';
import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { test } from 'node:test';
import { createAccounts } from '../../../packages/service/src/developers/account.ts';
import { createPool, type Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { systemClock } from '../../../packages/service/src/kernel/time/clock.ts';
import { Refusal } from '../../../packages/service/src/kernel/faults/refusal.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { createThrottle } from '../../../packages/service/src/limits/throttle.ts';
import { type Reply, send } from '../../support/client.ts';
import { newOwner, PASSWORD, stopRefill } from '../../support/control.ts';
import { keysOf } from '../../support/keys.ts';
import { untilWaiting } from '../../support/lock-wait.ts';
import { assertRefused } from '../../support/refusal.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
// As if behind one proxy of ours, so that a test can call from any address.
const { service } = await setStage({ environment: { PURSER_PROXY_HOPS: '1' } });
const { owner } = service.database;

function post(path: string, from: string, body: unknown): Promise<Reply> {
  return send(path, { url: service.url, body, headers: { 'x-forwarded-for': from } });
}

function register(from: string, email: string): Promise<Reply> {
  return post('/accounts', from, { email, password: PASSWORD });
}

/** Empties the buckets whose names match, as if all their tries had just been used. */
async function useUp(like: string): Promise<void> {
  const { rowCount } = await owner.query(`update limits.buckets set units = 0 where app_id like $1`, [like]);
  assert.ok((rowCount ?? 0) > 0, like);
  await stopRefill(service);
}

/** Accounts on their own database connection, with a record of their work and of the mails that they send. */
async function overheardAccounts(t: { after: (end: () => Promise<void>) => void }) {
  const pool = createPool({
    url: service.database.url,
    role: 'live',
    connectionsMax: 1,
    log: createLog('silent'),
    emails: owner.emails,
  });
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
    keys: keysOf(Buffer.alloc(32, 'x')),
    sendReset: async (email) => void mails.push(email),
    clock: systemClock,
    publicUrl: 'https://purser.test',
    operatorName: 'Purser',
    sendVerification: async () => {},
    sendNews: async () => {},
    isSecondFactorRequired: false,
  });
  /** The work done for one action. */
  async function workOf(act: () => Promise<unknown>): Promise<readonly string[]> {
    work.length = 0;
    await act();
    return [...work];
  }
  return { accounts, mails, workOf, mostAtOnce: () => mostAtOnce };
}

test('CP-01 every failed sign-in costs the same work', async (t) => {
  const { accounts, workOf } = await overheardAccounts(t);
  const { email } = await newOwner(service);
  const mute = sealedEmail('mute@example.test');
  await owner.query(`insert into accounts.accounts (account_id, email) values ('acct_mute', '${mute}')`);
  const device = `${'x'.repeat(22)}.${'A'.repeat(43)}`;
  const works: (readonly string[])[] = [];
  for (const one of [email, 'nobody@example.test', 'mute@example.test', 'no e-mail at all']) {
    const work = await workOf(async () => {
      const answer = await accounts.signIn({
        email: one,
        password: 'wrong',
        device,
        from: '192.0.2.9',
        isProgram: true,
      });
      assert.ok(answer instanceof Refusal && answer.code === 'UNAUTHORIZED');
    });
    works.push(work);
  }
  const [known = [], ...others] = works;
  assert.equal(known.filter((step) => step === 'argon2').length, 1);
  assert.equal(known.length, 6, known.join('\n')); // One look at the account, three buckets, one hash, the sign-in counted.
  for (const other of others) assert.deepEqual(other, known);
});

test('CP-01 a process hashes at most two passwords at once', async (t) => {
  const { accounts, workOf, mostAtOnce } = await overheardAccounts(t);
  const work = await workOf(() =>
    Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        accounts.signIn({
          email: `n${index}`,
          password: 'x',
          device: undefined,
          from: `192.0.2.${100 + index}`,
          isProgram: true,
        }),
      ),
    ),
  );
  assert.equal(work.filter((step) => step === 'argon2').length, 12);
  assert.ok(mostAtOnce() <= 2, `${mostAtOnce()} at once`); // On a busy machine, one may end before the next begins.
});

test('CP-01 a reset request is answered even while accounts are unreadable', async () => {
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

test('CP-01 an e-mail gets three reset mails, then one per ten minutes', async (t) => {
  const { accounts, mails } = await overheardAccounts(t);
  const { email } = await newOwner(service);
  for (let times = 0; times < 6; times += 1) await accounts.requestReset(times % 2 === 0 ? email : email.toUpperCase());
  assert.deepEqual(mails, [email, email, email]);
  const fiveMinutes = 5 * 60 * 1_000_000;
  for (const sent of [3, 4]) {
    await sql(owner)`update limits.buckets set refilled_at_us = refilled_at_us - ${fiveMinutes}
      where app_id like 'reset:%'`;
    for (let times = 0; times < 3; times += 1) await accounts.requestReset(email);
    assert.equal(mails.length, sent); // The refused requests did not use up the tries that had been refilled.
  }
});

test('CP-01 at most twenty resets can be requested from one address', async () => {
  for (let times = 0; times < 20; times += 1) {
    assert.equal((await post('/password-resets', '192.0.2.11', { email: `n${times}@example.test` })).status, 202);
    if (times === 0) await stopRefill(service);
  }
  assertRefused(await post('/password-resets', '192.0.2.11', { email: 'n@example.test' }), 'TOO_MANY_REQUESTS');
  assert.equal((await post('/password-resets', '192.0.2.12', { email: 'n@example.test' })).status, 202);
});

test('CP-01 at most twenty accounts can be created from one address', async () => {
  for (let times = 0; times < 20; times += 1) {
    assert.equal((await register('192.0.2.13', `a${times}@many.test`)).status, 201);
    if (times === 0) await stopRefill(service);
  }
  assertRefused(await register('192.0.2.13', 'a20@many.test'), 'TOO_MANY_REQUESTS');
  assert.equal((await register('192.0.2.14', 'a20@many.test')).status, 201);
});

test('CP-01 one address can learn of at most ten known e-mails', async () => {
  const { email } = await newOwner(service);
  for (let times = 0; times < 10; times += 1) assertRefused(await register('192.0.2.15', email), 'CONFLICT');
  const known = await register('192.0.2.15', email);
  const unknown = await register('192.0.2.15', 'new@example.test');
  assertRefused(known, 'TOO_MANY_REQUESTS');
  assert.deepEqual({ ...unknown.error, correlationId: '' }, { ...known.error, correlationId: '' });
  assertRefused(await register('192.0.2.16', email), 'CONFLICT');
});

/** The remaining tries of each address that has tried to sign in. */
const addressBuckets = () => bucketsLike('sign-in-from:%');
/** The remaining tries of all addresses together, for each e-mail. */
const sharedBuckets = () => bucketsLike('sign-in-all:%');

async function bucketsLike(like: string): Promise<readonly { readonly app_id: string; readonly tries: string }[]> {
  return sql<{ app_id: string; tries: string }>(owner)`select app_id, (units / 60000000)::text as tries
    from limits.buckets where app_id like ${like}`;
}

test('CP-01 one address may try a hundred wrong passwords', async () => {
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

test('CP-01 a stranger’s password guesses use up only their own tries', async () => {
  const { email } = await newOwner(service);
  const wrong = () => post('/sessions', '192.0.2.20', { email, password: 'wrong' });
  assertRefused(await wrong(), 'UNAUTHORIZED');
  await stopRefill(service);
  for (let times = 1; times < 20; times += 1) assertRefused(await wrong(), 'UNAUTHORIZED');
  assertRefused(await post('/sessions', '192.0.2.20', { email, password: PASSWORD }), 'TOO_MANY_REQUESTS');
  assert.equal((await post('/sessions', '192.0.2.21', { email, password: PASSWORD })).status, 200);
});

test('CP-01 all addresses together may try five hundred wrong passwords per e-mail', async () => {
  const { email } = await newOwner(service);
  const before = new Set(
    (await sharedBuckets()).filter(({ tries }) => tries === '499').map(({ app_id: name }) => name),
  );
  assertRefused(await post('/sessions', '192.0.2.22', { email, password: 'wrong' }), 'UNAUTHORIZED');
  const made = (await sharedBuckets()).filter(({ app_id: name, tries }) => tries === '499' && !before.has(name));
  assert.equal(made.length, 1);
  await useUp(made[0]?.app_id ?? '');
  assertRefused(await post('/sessions', '192.0.2.23', { email, password: PASSWORD }), 'TOO_MANY_REQUESTS');
});

test('CP-01 a signed-in user may guess the current password twenty times', async () => {
  const person = await newOwner(service);
  const change = { currentPassword: 'wrong', newPassword: 'a new password' };
  assertRefused(await person.ask('PUT', '/accounts/current/password', change), 'UNAUTHORIZED');
  await useUp('password:%');
  const right = { ...change, currentPassword: PASSWORD };
  assertRefused(await person.ask('PUT', '/accounts/current/password', right), 'TOO_MANY_REQUESTS');
});

test('CP-01 no bucket name reveals an e-mail or an address', async () => {
  const rows = await sql<{ name: string }>(owner)`select app_id as name from limits.buckets where app_id like '%:%'`;
  assert.ok(rows.length > 5);
  for (const { name } of rows) assert.match(name, /^[a-z-]+:[A-Za-z0-9_-]{43}$/);
});

test('CP-01 a sign-in during password change gets no session', async () => {
  const { email } = await newOwner(service);
  let reply = await signInDuringChange(email);
  // On a slow machine the statement may give up waiting for the lock: a fault, and no session either.
  for (let times = 0; times < 10 && reply.status === 500; times += 1) reply = await signInDuringChange(email);
  assertRefused(reply, 'UNAUTHORIZED');
  const { rowCount } = await owner.query(
    `select from accounts.sessions s join accounts.accounts a using (account_id) where a.email = '${sealedEmail(email)}'`,
  );
  assert.equal(rowCount, 1); // The session that `newOwner` opened.
});

/** The right password, accepted while a transaction that changes it is still open. */
async function signInDuringChange(email: string): Promise<Reply> {
  const { rows } = await owner.query<{ hash: string }>(
    `select password_hash as hash from accounts.accounts where email = '${sealedEmail(email)}'`,
  );
  const stored = rows[0]?.hash;
  const client = await owner.connect();
  await client.query('begin');
  await setAccount(client, email, `password_hash = 'another'`);
  const reply = post('/sessions', '192.0.2.19', { email, password: PASSWORD });
  await Promise.race([untilWaiting(service.database, 1), reply]);
  await client.query('commit');
  client.release();
  const answer = await reply;
  if (answer.status === 500) {
    await sql(owner)`update accounts.accounts set password_hash = ${stored} where email = ${sealedEmail(email)}`;
  }
  return answer;
}
