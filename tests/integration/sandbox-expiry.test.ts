import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPool, type Pool } from '../../packages/service/src/db/pool/pool.ts';
import type { AccountId, EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { startSandboxExpiry } from '../../packages/service/src/sandbox/wallets/expiry.ts';
import { reserveSandboxHolds } from '../../packages/service/src/sandbox/holds/queries.ts';
import { expireSandboxWallets } from '../../packages/service/src/sandbox/wallets/queries.ts';
import { createSandboxWallets } from '../../packages/service/src/sandbox/wallets/sandbox-wallets.ts';
import { APP, createLedgerDatabase, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { untilWaiting } from '../support/lock-wait.ts';
import { makeSandboxWallet, readSandboxWallet } from '../support/sandbox-wallet.ts';
import { sql } from '../support/sql.ts';
import { waitUntil } from '../support/wait-until.ts';

const GRANT = micros(1_000n);
const log = createLog('silent');

let ledger: LedgerDatabase;
let sandbox: Pool;

before(async () => {
  ledger = await createLedgerDatabase();
  sandbox = createPool({ url: ledger.database.url, role: 'sandbox', connectionsMax: 2, log });
});

after(async () => {
  await sandbox.end();
  await ledger.close();
});

/** Leaves only these wallets, in this order, each last used the given number of days ago. */
async function setWallets(users: Readonly<Record<string, number>>): Promise<void> {
  const { owner } = ledger.database;
  await sql(owner)`truncate sandbox.wallets, sandbox.holds, sandbox.sessions restart identity`;
  for (const [user, days] of Object.entries(users)) {
    await makeSandboxWallet(ledger.database, { appId: APP }, { user, balance: 7 });
    await sql(owner)`update sandbox.wallets set last_used_at = clock_timestamp() - ${days} * interval '1 day'
      where user_id = ${user}`;
  }
}

async function usersLeft(): Promise<readonly string[]> {
  const rows = await sql<{ user_id: string }>(ledger)`select user_id from sandbox.wallets order by wallet_id`;
  return rows.map(({ user_id: user }) => user);
}

test('SB-08 a wallet idle for 30 days is removed', async () => {
  await setWallets({ old: 31, used: 29, holding: 29 });
  await reserveSandboxHolds(sandbox, ledger.instance, GRANT, [holdOf('holding', 5)]);
  await sql(ledger)`update sandbox.wallets set last_used_at = last_used_at - interval '40 days'
    where user_id = 'holding'`;
  assert.equal(await expireSandboxWallets(sandbox, 0n, 100), 3n);
  assert.deepEqual(await usersLeft(), ['used', 'holding']);
});

test('SB-08 CP-19 a session idle for 30 days is removed', async () => {
  await setWallets({ gone: 31, used: 1 });
  await sql(ledger)`insert into sandbox.sessions (wallet_id, name, last_at, calls, charged_micros)
    select wallet_id, s.name, clock_timestamp() - s.days * interval '1 day', 1, 1
    from sandbox.wallets, (values ('old', 31), ('new', 29)) s (name, days)`;
  await expireSandboxWallets(sandbox, 0n, 100);
  const left = await sql(
    ledger,
  )`select user_id as user, name from sandbox.sessions join sandbox.wallets using (wallet_id)`;
  assert.deepEqual(left, [{ user: 'used', name: 'new' }]);
});

test('SB-08 each pass resumes where the last stopped', async () => {
  await setWallets({ a: 31, b: 0, c: 31, d: 0, e: 31 });
  assert.equal(await expireSandboxWallets(sandbox, 0n, 2), 2n);
  assert.deepEqual(await usersLeft(), ['b', 'c', 'd', 'e']);
  assert.equal(await expireSandboxWallets(sandbox, 2n, 2), 4n);
  assert.deepEqual(await usersLeft(), ['b', 'd', 'e']);
  assert.equal(await expireSandboxWallets(sandbox, 4n, 2), 5n);
  assert.equal(await expireSandboxWallets(sandbox, 5n, 2), undefined);
  assert.deepEqual(await usersLeft(), ['b', 'd']);
});

test('SB-08 a user of a removed wallet gets a new grant', async () => {
  await setWallets({ back: 31 });
  await expireSandboxWallets(sandbox, 0n, 100);
  const [row] = await reserveSandboxHolds(sandbox, ledger.instance, GRANT, [holdOf('back', 5)]);
  assert.equal(row?.outcome, 'granted');
  assert.equal((await readSandboxWallet(ledger.database, { appId: APP }, 'back'))?.balance, Number(GRANT));
});

test('SB-08 a pass skips wallets in use without waiting', async () => {
  await setWallets({ locked: 31, free: 31 });
  const client = await ledger.database.owner.connect();
  await client.query(`begin; select from sandbox.wallets where user_id = 'locked' for update`);
  assert.equal(await expireSandboxWallets(sandbox, 0n, 100), 2n);
  await client.query('commit');
  client.release();
  assert.deepEqual(await usersLeft(), ['locked']);
});

test('SB-05 a reset during removal creates the wallet again', async () => {
  await setWallets({ reset: 31 });
  const client = await ledger.database.owner.connect();
  await client.query('begin; select sandbox.expire(0, 100)');
  // As the owner, who waits for locks without a limit.
  const resetting = createSandboxWallets({
    pool: ledger.database.owner,
    trail: ledger.database.owner,
    grant: GRANT,
  }).reset(
    { accountId: 'acc_test' as AccountId, email: 'owner@app.example', from: '' },
    { appId: APP, userId: 'reset' as EndUserId },
    { balance: undefined, cap: undefined, isSuspended: undefined },
  );
  resetting.catch(() => {});
  try {
    await untilWaiting(ledger.database, 1);
  } finally {
    await client.query('commit');
    client.release();
  }
  assert.equal((await resetting).balance, GRANT);
  assert.deepEqual(await usersLeft(), ['reset']);
});

test('SB-08 a call during removal makes the wallet anew', async () => {
  await setWallets({ calling: 31 });
  const client = await ledger.database.owner.connect();
  await client.query('begin; select sandbox.expire(0, 100)');
  const { owner } = ledger.database;
  const placing = reserveSandboxHolds(owner, ledger.instance, GRANT, [holdOf('calling', 5), holdOf('calling', 6)]);
  placing.catch(() => {});
  try {
    await untilWaiting(ledger.database, 1);
  } finally {
    await client.query('commit');
    client.release();
  }
  assert.deepEqual(
    (await placing).map(({ outcome }) => outcome),
    ['granted', 'granted'],
  );
  assert.equal((await readSandboxWallet(ledger.database, { appId: APP }, 'calling'))?.balance, Number(GRANT));
});

test('SB-08 a service removes idle wallets every minute', async (t) => {
  await setWallets({ first: 31 });
  t.mock.timers.enable({ apis: ['setInterval'] });
  const expiry = startSandboxExpiry(sandbox, log, () => true);
  t.after(expiry.stop);
  const isGone = (user: string) => async () => !(await usersLeft()).includes(user);
  assert.deepEqual(await usersLeft(), ['first']);
  t.mock.timers.tick(60_000);
  await waitUntil('the first wallet is gone', isGone('first'));
  // Created before the place that the service has reached, so it is seen only after the end.
  await setWallets({ second: 31 });
  await waitUntil('the second wallet is gone', async () => {
    t.mock.timers.tick(60_000);
    return isGone('second')();
  });
});
