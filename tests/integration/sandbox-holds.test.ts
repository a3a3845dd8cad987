import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { migrate } from '../../packages/service/src/db/schema/migrate.ts';
import { createPool, type Pool, sqlStateOf } from '../../packages/service/src/db/pool/pool.ts';
import type { Instance } from '../../packages/service/src/db/processes/instance.ts';
import { insertInstance } from '../../packages/service/src/db/processes/queries.ts';
import type { EndUserId, KeyId } from '../../packages/service/src/kernel/values/ids.ts';
import type { HoldRequest } from '../../packages/service/src/kernel/calls/hold.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { reserveSandboxHolds, settleSandboxHolds } from '../../packages/service/src/sandbox/holds/queries.ts';
import { setNextOutcome } from '../../packages/service/src/sandbox/wallets/queries.ts';
import { createSandboxHolds } from '../../packages/service/src/sandbox/holds/sandbox-holds.ts';
import type { SandboxSettlement } from '../../packages/service/src/sandbox/holds/settlement.ts';
import { APP, createLedgerDatabase, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { waitLongForLocks } from '../support/lock-wait.ts';
import { makeSandboxWallet, readSandboxWallet, type SandboxFigures } from '../support/sandbox-wallet.ts';
import { sql } from '../support/sql.ts';
import { waitUntil } from '../support/wait-until.ts';

const GRANT = 5_000_000;
const log = createLog('silent');

let ledger: LedgerDatabase;
let sandbox: Pool;

before(async () => {
  ledger = await createLedgerDatabase();
  sandbox = createPool({ url: ledger.database.url, role: 'sandbox', connectionsMax: 8, log });
});

after(async () => {
  await sandbox.end();
  await ledger.close();
});

async function reserve(requests: readonly HoldRequest[], pool = sandbox, instance = ledger.instance) {
  const rows = await reserveSandboxHolds(pool, instance, micros(BigInt(GRANT)), requests);
  return requests.map(({ callId }) => {
    const row = rows.find(({ call_id: id }) => id === callId);
    return row?.outcome === 'granted' ? Number(row.granted) : row?.outcome;
  });
}

async function settle(ends: readonly (readonly [HoldRequest, number])[], pool = sandbox): Promise<readonly number[]> {
  const settlements = ends.map(([{ callId }, charge]) => ({ callId, charge: micros(BigInt(charge)), tokens: 7 }));
  const rows = await settleSandboxHolds(pool, settlements);
  return settlements.map(({ callId }) => Number(rows.find(({ call_id: id }) => id === callId)?.charged));
}

async function expectWallet(user: string, expected: Partial<SandboxFigures>): Promise<void> {
  const figures = await readSandboxWallet(ledger.database, { appId: APP }, user);
  assert.deepEqual({ ...figures, ...expected }, figures);
}

async function set(user: string, assignment: string): Promise<void> {
  await ledger.database.owner.query(`update sandbox.wallets set ${assignment} where user_id = $1`, [user]);
}

test('SB-01 a test user’s first call makes a wallet with the grant', async () => {
  assert.deepEqual(await reserve([holdOf('fresh', 100)]), [100]);
  await expectWallet('fresh', { balance: GRANT, held: 100 });
});

test('SB-02 sandbox holds behave like real ones', async () => {
  await makeSandboxWallet(ledger.database, { appId: APP }, { user: 'same', balance: 100, cap: 90 });
  const first = holdOf('same', { least: 10, most: 60 });
  assert.deepEqual(await reserve([first, holdOf('same', 31), holdOf('same', { least: 20, most: 50 })]), [
    60,
    'cap_race_lost',
    23,
  ]);
  assert.deepEqual(await reserve([holdOf('same', 31), first]), ['cap_race_lost', 60]);
  assert.deepEqual(await reserve([holdOf('same', 91)]), ['cap_reached']);
  await set('same', 'is_suspended = true');
  assert.deepEqual(await reserve([holdOf('same', 1)]), ['wallet_suspended']);
  await set('same', 'is_suspended = false, cap_micros = null');
  assert.deepEqual(await reserve([holdOf('same', 18), holdOf('same', 17)]), ['balance_race_lost', 17]);
  await expectWallet('same', { balance: 100, held: 100 });
});

test('LI-02 sandbox streams of one batch share slots', async () => {
  await makeSandboxWallet(ledger.database, { appId: APP }, { user: 'slots', balance: 100 });
  const streams = [1, 2, 3].map((amount) => holdOf('slots', amount, { streamsMax: 2 }));
  assert.deepEqual(await reserve([...streams, holdOf('slots', 4)]), [1, 2, 'stream_limit', 4]);
});

test('CP-08 sandbox calls of one key are judged one after the other', async () => {
  const key = 'key_in_order' as KeyId;
  const ask = (user: string, most: number, of: number, options: Parameters<typeof holdOf>[2] = {}) =>
    holdOf(user, { least: 30, most }, { ...options, budget: { key, micros: micros(BigInt(of)) } });
  await makeSandboxWallet(ledger.database, { appId: APP }, { user: 'waits', balance: 200 });
  // The second call has what the first one leaves of their wallet. The key's limit is changed before the third one.
  const first = holdOf('waits', { least: 1, most: 150 });
  assert.deepEqual(await reserve([first, ask('waits', 30, 40), ask('rich', 30, 200)]), [150, 30, 30]);
  // A retry that its budget refuses finds no call that came after it.
  const retries = { idempotencyKey: { digest: Buffer.from('later'), body: Buffer.from('same'), joins: true } };
  const calls = [ask('rich', 40, 110), ask('poor', 40, 110, retries), holdOf('poor', 30, retries)];
  assert.deepEqual(await reserve(calls), [38, 'budget_race_lost', 30]);
});

test('SB-02 a sandbox charge never exceeds its hold', async () => {
  await makeSandboxWallet(ledger.database, { appId: APP }, { user: 'once', balance: 100 });
  const [first, second] = [holdOf('once', 60, { streamsMax: 1 }), holdOf('once', 20)];
  await reserve([first, second]);
  assert.deepEqual(
    await settle([
      [first, 61],
      [second, 5],
    ]),
    [60, 5],
  );
  await settle([[first, 61]]);
  await expectWallet('once', { balance: 35, held: 0, openStreams: 0, requests: 2, spentThisMonth: 65 });
});

test('SB-02 two simultaneous sandbox settlements take effect once', async () => {
  await makeSandboxWallet(ledger.database, { appId: APP }, { user: 'both', balance: 1_000 });
  for (let round = 1; round <= 20; round += 1) {
    const request = holdOf('both', 40);
    await reserve([request]);
    await Promise.all([settle([[request, 10]]), settle([[request, 10]])]);
    await expectWallet('both', { balance: 1_000 - 10 * round, held: 0, requests: round });
  }
});

test('SB-02 an old hold leaves the new month alone', async () => {
  await makeSandboxWallet(ledger.database, { appId: APP }, { user: 'months', balance: 1_000, cap: 100 });
  const old = holdOf('months', 70);
  await reserve([old]);
  await set('months', `cap_month = '2020-02-01'`);
  await sql(ledger)`update sandbox.holds set month = '2020-02-01' where call_id = ${old.callId}`;
  const fresh = holdOf('months', 100);
  assert.deepEqual(await reserve([fresh]), [100]);
  await settle([[old, 65]]);
  await expectWallet('months', { balance: 935, held: 100, spentThisMonth: 0 });
  await settle([[fresh, 30]]);
  await expectWallet('months', { balance: 905, held: 0, spentThisMonth: 30 });
});

test('SB-08 a wallet left for thirty days starts anew', async () => {
  const idle = `last_used_at = clock_timestamp() - interval '31 days'`;
  await makeSandboxWallet(ledger.database, { appId: APP }, { user: 'idle', balance: 5, cap: 1 });
  await set('idle', `${idle}, is_suspended = true, requests = 9, cap_spent_micros = 4`);
  assert.deepEqual(await reserve([holdOf('idle', 100)]), [100]);
  await expectWallet('idle', { balance: GRANT, held: 100, requests: 0, spentThisMonth: 0 });
  await set('idle', `${idle}, balance_micros = 300`);
  assert.deepEqual(await reserve([holdOf('idle', 100)]), [100]);
  await expectWallet('idle', { balance: 300, held: 200 });
});

test('WA-10 a fenced process places no sandbox hold', async () => {
  const fenced = await ledger.addInstance();
  await sql(ledger)`update db.instances set state = 'dead' where instance_id = ${fenced}`;
  await assert.rejects(reserve([holdOf('fenced', 10)], sandbox, fenced), { code: '55000' });
});

test('SB-02 sandbox holds and settlements never deadlock', async (t) => {
  const { owner, url } = ledger.database;
  const name = `${new URL(url).pathname.slice(1)}_icu`;
  await owner.query(`create database ${name} template template0 locale_provider icu icu_locale 'en-US'`);
  const other = new URL(url);
  other.pathname = `/${name}`;
  const admin = createPool({ url: other.href, role: 'owner', connectionsMax: 1, log });
  const pool = createPool({ url: other.href, role: 'sandbox', connectionsMax: 4, log });
  waitLongForLocks(pool);
  t.after(async () => {
    await Promise.all([admin.end(), pool.end()]);
    await owner.query(`drop database ${name} with (force)`);
  });
  await migrate(admin);
  const instance = await insertInstance(admin, 60_000);
  const conflicts: unknown[] = [];
  const cycle = async (): Promise<void> => {
    for (let round = 0; round < 20 && conflicts.length === 0; round += 1) {
      const requests = ['a', 'B', 'c', 'D', 'e', 'F'].map((user) => holdOf(user, 5));
      try {
        await reserve(requests, pool, instance);
        await settle(
          requests.map((request) => [request, 1]),
          pool,
        );
      } catch (fault) {
        conflicts.push(sqlStateOf(fault));
      }
    }
  };
  await Promise.all([cycle(), cycle(), cycle(), cycle()]);
  assert.deepEqual(conflicts, []);
});

function keyOf(name: string, body = 'body'): HoldRequest {
  return holdOf('joined', 60, { idempotencyKey: { digest: Buffer.from(name), body: Buffer.from(body), joins: true } });
}

function unlessJoined({ callId }: HoldRequest, isUnkept: boolean): SandboxSettlement {
  return { callId, charge: micros(7n), tokens: 3, isUnkept };
}

test('CC-14 a joined sandbox call ends once its answer is kept', async () => {
  const run: Instance['run'] = (statement) => statement(ledger.instance);
  const pools = { reserve: sandbox, settle: sandbox };
  const holds = createSandboxHolds(
    pools,
    {
      run,
      id: () => ledger.instance,
      stop: async () => {},
      failedRenewals: () => 0,
      leave: async () => {},
      isKeeper: () => true,
    },
    micros(BigInt(GRANT)),
  );
  const [kept, unkept] = [keyOf('kept'), keyOf('unkept')];
  for (const request of [kept, unkept]) {
    assert.deepEqual(await holds.place(request), { kind: 'granted', granted: 60n });
    const again = keyOf(request === kept ? 'kept' : 'unkept');
    assert.deepEqual(await holds.place(again), { kind: 'earlier', state: 'running', callId: request.callId });
  }
  const conflict = await holds.place(keyOf('kept', 'other'));
  assert.deepEqual(conflict, { kind: 'earlier', state: 'conflict', callId: kept.callId });

  assert.deepEqual(await holds.settle(unlessJoined(kept, true), micros(60n)), { charged: 0n, isJoined: true });
  await expectWallet('joined', { balance: GRANT, held: 120 });
  assert.deepEqual(await holds.settle(unlessJoined(kept, false), micros(60n)), { charged: 7n });

  const client = await ledger.database.owner.connect();
  await client.query(`begin; select from sandbox.wallets where user_id = 'joined' for update`);
  assert.deepEqual(await holds.settle(unlessJoined(unkept, true), micros(60n)), { charged: 7n });
  await client.query('rollback');
  client.release();
  const isFree = async () => (await readSandboxWallet(ledger.database, { appId: APP }, 'joined'))?.held === 0;
  await waitUntil('it is charged', isFree);
  await expectWallet('joined', { balance: GRANT - 14, held: 0, requests: 2 });
});

const setNext = () =>
  setNextOutcome(sandbox, { appId: APP, userId: 'next' as EndUserId, grant: micros(BigInt(GRANT)), outcome: 'slow' });
const place = (requests: readonly HoldRequest[]) =>
  reserveSandboxHolds(sandbox, ledger.instance, micros(BigInt(GRANT)), requests);

test('SB-02 simultaneous calls take their user’s outcome once', async () => {
  await setNext();
  const batches = Array.from({ length: 8 }, () => [holdOf('next', 10), holdOf('next', 10)]);
  const rows = (await Promise.all(batches.map(place))).flat();
  const took = rows.filter(({ plays }) => plays !== null);
  assert.deepEqual(
    took.map(({ plays, outcome }) => [plays, outcome]),
    [['slow', 'granted']],
  );
  await setNext();
  const again = batches.flat().filter(({ callId }) => callId === took[0]?.call_id);
  assert.equal((await place(again))[0]?.plays, 'slow');
  const later = holdOf('next', 10);
  assert.equal((await place([later]))[0]?.plays, 'slow', 'the second one was still there for the next call');
  await settle(batches.flat().map((one) => [one, 0] as const));
  await settle([[later, 0]]);
});
