import assert from 'node:assert/strict';
import { after, afterEach, before, test, type TestContext } from 'node:test';
import { startInstance } from '../../packages/service/src/db/processes/instance.ts';
import { createPool } from '../../packages/service/src/db/pool/pool.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { createHolds } from '../../packages/service/src/ledger/holds.ts';
import { BACKLOG_LIMITS } from '../../packages/service/src/ledger/settlement/settling.ts';
import { reapHolds } from '../../packages/service/src/ledger/recovery/queries.ts';
import { reapSandboxHolds, reserveSandboxHolds } from '../../packages/service/src/sandbox/holds/queries.ts';
import { readMetrics, renderMetrics } from '../../packages/service/src/kernel/metrics/metrics.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { openTestSpool } from '../support/spool.ts';
import { sql, sqlValue } from '../support/sql.ts';
import { waitUntil } from '../support/wait-until.ts';
import { APP, createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { lockWallet } from '../support/lock-wait.ts';
import { receiptOf } from '../support/receipts.ts';
import { readSandboxWallet } from '../support/sandbox-wallet.ts';

const ALL = 500;
const log = createLog('silent');

let ledger: LedgerDatabase;

before(async () => {
  ledger = await createLedgerDatabase();
});

afterEach(async () => {
  assert.deepEqual(await ledger.differences(), []);
});

after(() => ledger.close());

async function runOut(instance: bigint): Promise<void> {
  await sql(ledger)`update db.instances set lease_until = clock_timestamp() - interval '1 millisecond'
    where instance_id = ${instance}`;
}

async function stateOf(instance: bigint): Promise<string | undefined> {
  return sqlValue<string>(ledger)`select state from db.instances where instance_id = ${instance}`;
}

async function reapWhileLocked(user: string): Promise<number> {
  const lock = await lockWallet(ledger.database, user);
  try {
    return await reapHolds(ledger.live, ALL);
  } finally {
    await lock.release();
  }
}

test('WA-10 a process without a lease loses its holds', async () => {
  const dead = await ledger.addInstance();
  await ledger.open('orphan', 100);
  await ledger.open('other', 100);
  const orphan = holdOf('orphan', 60, { streamsMax: 1 });
  await ledger.reserve([orphan, holdOf('other', 10)], dead);
  await ledger.reserve([holdOf('orphan', 20)]); // Its process is alive.
  await runOut(dead);
  assert.equal(await reapHolds(ledger.live, ALL), 2);
  const { balance, held, openStreams } = await ledger.wallet('orphan');
  assert.deepEqual({ balance, held, openStreams }, { balance: 100, held: 20, openStreams: 0 });
  assert.equal((await ledger.wallet('other')).held, 0);
  const receipt = { outcome: 'expired', charged: 0, held: 60, isEstimated: false, prompt: 0, completion: 0 };
  assert.deepEqual(await receiptOf(ledger.database, orphan.callId), receipt);
  assert.equal(await reapHolds(ledger.live, ALL), 0);
});

test('WA-10 a hold never expires by age alone', async () => {
  await ledger.open('old', 100);
  const request = holdOf('old', 60);
  await ledger.reserve([request]);
  await sql(ledger)`update ledger.holds set placed_at = placed_at - interval '1 year'
    where call_id = ${request.callId}`;
  assert.equal(await reapHolds(ledger.live, ALL), 0);
  assert.deepEqual(await ledger.settle([endOf(request, 25)]), [{ isSettled: true, charged: 25 }]);
});

test('WA-10 a reaper with limit zero releases nothing', async () => {
  const late = await ledger.addInstance();
  await ledger.open('asked', 100);
  const request = holdOf('asked', 60);
  await ledger.reserve([request], late);
  await runOut(late);
  assert.equal(await reapHolds(ledger.live, 0), 0);
  assert.equal(await stateOf(late), 'live');
  assert.equal((await ledger.wallet('asked')).held, 60);
  await ledger.settle([endOf(request, 0)]);
});

test('WA-10 a reaper releases at most its limit', async () => {
  const dead = await ledger.addInstance();
  await ledger.open('many', 100);
  await ledger.reserve(
    Array.from({ length: 7 }, () => holdOf('many', 10)),
    dead,
  );
  await runOut(dead);
  const released: number[] = [];
  for (let pass = 0; pass < 4; pass += 1) released.push(await reapHolds(ledger.live, 3));
  assert.deepEqual(released, [3, 3, 1, 0]);
  assert.equal((await ledger.wallet('many')).held, 0);
});

test('WA-10 two reapers at once release each hold once', async () => {
  const dead = await ledger.addInstance();
  await ledger.open('raced', 1_000);
  await ledger.reserve(
    Array.from({ length: 40 }, () => holdOf('raced', 10)),
    dead,
  );
  await runOut(dead);
  const released = await Promise.all([reapHolds(ledger.live, ALL), reapHolds(ledger.live, ALL)]);
  assert.equal(released[0] + released[1], 40);
  assert.equal((await ledger.wallet('raced')).held, 0);
});

test('WA-10 a fenced process places no hold under its old id', async () => {
  const fenced = await ledger.addInstance();
  await ledger.open('fenced', 100);
  await runOut(fenced);
  await reapHolds(ledger.live, ALL);
  assert.equal(await stateOf(fenced), 'dead');
  await assert.rejects(ledger.reserve([holdOf('fenced', 10)], fenced), { code: '55000' });
  assert.equal((await ledger.wallet('fenced')).held, 0);
});

/** The holds of a separate process, as `compose` makes them. It ends with the test at the latest. */
async function startProcess(t: TestContext) {
  const pool = createPool({ url: ledger.database.url, role: 'live', connectionsMax: 2, log });
  const instance = await startInstance(pool, log);
  const id = (): Promise<bigint> => instance.run((current) => Promise.resolve(current));
  const end = async (): Promise<void> => {
    await instance.stop();
    await pool.end();
  };
  let ended: Promise<void> | undefined;
  const stop = (): Promise<void> => (ended ??= end());
  t.after(stop);
  const pools = { turns: pool, upkeep: pool };
  const holds = createHolds({ pools, instance, spool: openTestSpool(t), backlog: BACKLOG_LIMITS, log });
  return { holds, id, stop };
}

test('WA-10 a locked wallet delays no other wallet’s releases', async () => {
  const dead = await ledger.addInstance();
  await ledger.open('locked', 100);
  await ledger.open('unlocked', 100);
  await ledger.reserve([holdOf('locked', 10), holdOf('unlocked', 10)], dead);
  await runOut(dead);
  assert.equal(await reapWhileLocked('locked'), 1);
  assert.deepEqual([(await ledger.wallet('locked')).held, (await ledger.wallet('unlocked')).held], [10, 0]);
  assert.equal(await reapHolds(ledger.live, ALL), 1);
});

test('WA-10 a process gone for a day is forgotten', async () => {
  const [gone, holding, recent] = [await ledger.addInstance(), await ledger.addInstance(), await ledger.addInstance()];
  await ledger.open('kept', 100);
  await ledger.reserve([holdOf('kept', 10)], holding);
  await sql(ledger)`update db.instances set lease_until = lease_until - interval '25 hours'
    where instance_id = any (${[gone, holding]})`;
  await runOut(recent);
  await reapWhileLocked('kept');
  assert.deepEqual([await stateOf(gone), await stateOf(holding), await stateOf(recent)], [undefined, 'dead', 'dead']);
  await reapHolds(ledger.live, ALL);
  assert.deepEqual([await stateOf(holding), (await ledger.wallet('kept')).held], [undefined, 0]);
});

test('WA-10 a reaper queues for a busy wallet’s lock', async () => {
  const dead = await ledger.addInstance();
  await ledger.open('busy', 100);
  await ledger.reserve([holdOf('busy', 10)], dead);
  await runOut(dead);
  const lock = await lockWallet(ledger.database, 'busy');
  const reaping = reapHolds(ledger.database.owner, ALL); // The owner waits for locks without a limit.
  await lock.waiting(1);
  await lock.release();
  assert.deepEqual([await reaping, (await ledger.wallet('busy')).held], [1, 0]);
});

test('WA-10 a hold of a forgotten process is released', async () => {
  const forgotten = await ledger.addInstance();
  await ledger.open('late', 100);
  await ledger.reserve([holdOf('late', 10)], forgotten);
  await sql(ledger)`delete from db.instances where instance_id = ${forgotten}`;
  assert.equal(await reapHolds(ledger.live, ALL), 1);
  assert.equal((await ledger.wallet('late')).held, 0);
});

test('WA-10 a forgotten process places no hold', async () => {
  await ledger.open('forgotten', 100);
  await assert.rejects(ledger.reserve([holdOf('forgotten', 10)], -1n), { code: '55000' });
});

test('WA-10 a fenced process continues under a new id', async (t) => {
  await ledger.open('woken', 100);
  const { holds, id } = await startProcess(t);
  const first = holdOf('woken', 10);
  assert.equal((await holds.place(first)).kind, 'granted');
  const before = await id();
  await sql(ledger)`update db.instances set state = 'dead' where instance_id = ${before}`;
  await reapHolds(ledger.live, ALL);
  const second = holdOf('woken', 20);
  assert.deepEqual(await holds.place(second), { kind: 'granted', granted: 20n });
  assert.notEqual(await id(), before);
  assert.match(renderMetrics(readMetrics()), /^purser_leases_lost_total [1-9]/m);
  assert.deepEqual(await holds.settle(endOf(first, 5), micros(10n)), { charged: 0n }); // It came too late.
  assert.deepEqual(await holds.settle(endOf(second, 5), micros(20n)), { charged: 5n });
  assert.equal((await ledger.wallet('woken')).balance, 95);
});

test('WA-10 a live process renews its lease', async (t) => {
  const { id } = await startProcess(t);
  const instance = await id();
  await runOut(instance);
  await waitUntil('the lease is renewed', async () => (await secondsLeft(instance)) > 10);
});

test('WA-10 a lease always has its configured length', async (t) => {
  const pool = createPool({ url: ledger.database.url, role: 'live', connectionsMax: 1, log });
  const instance = await startInstance(pool, log, 3_000);
  t.after(() => instance.stop().then(() => pool.end()));
  const id = await instance.run((current) => Promise.resolve(current));
  assert.ok((await secondsLeft(id)) <= 3);
  await runOut(id);
  const left = await waitUntil('the lease is renewed', async () => {
    const seconds = await secondsLeft(id);
    return seconds > 0 && seconds;
  });
  assert.ok(left <= 3, `${left} s`);
});

async function secondsLeft(instance: bigint): Promise<number> {
  const left = await sqlValue<number>(ledger)`select extract(epoch
    from lease_until - clock_timestamp())::float8 as left from db.instances where instance_id = ${instance}`;
  return left ?? 0;
}

test('WA-10 a graceful shutdown releases the lease at once', async (t) => {
  await ledger.open('left', 100);
  const { holds, id, stop } = await startProcess(t);
  await holds.place(holdOf('left', 10));
  const instance = await id();
  await stop();
  assert.equal(await stateOf(instance), 'dead');
  assert.equal(await reapHolds(ledger.live, ALL), 1);
});

test('WA-10 a dead process’s sandbox holds are released too', async () => {
  const dead = await ledger.addInstance();
  const sandbox = createPool({ url: ledger.database.url, role: 'sandbox', connectionsMax: 1, log });
  const grant = micros(1_000n);
  await reserveSandboxHolds(sandbox, dead, grant, [holdOf('tester', 60, { streamsMax: 1 })]);
  await reserveSandboxHolds(sandbox, ledger.instance, grant, [holdOf('tester', 20)]);
  await runOut(dead);
  assert.equal(await reapSandboxHolds(sandbox, ALL), 0); // It fences nobody. The ledger does that.
  await reapHolds(ledger.live, ALL);
  assert.equal(await reapSandboxHolds(sandbox, ALL), 1);
  const left = { balance: 1_000, held: 20, openStreams: 0, requests: 0, spentThisMonth: 0 };
  assert.deepEqual(await readSandboxWallet(ledger.database, { appId: APP }, 'tester'), left);
  const forgotten = await ledger.addInstance();
  await reserveSandboxHolds(sandbox, forgotten, grant, [holdOf('tester', 30)]);
  await sql(ledger)`delete from db.instances where instance_id = ${forgotten}`;
  assert.equal(await reapSandboxHolds(sandbox, ALL), 1);
  assert.equal((await readSandboxWallet(ledger.database, { appId: APP }, 'tester'))?.held, 20);
  await sandbox.end();
});

test('WA-10 a stuck hold does not block other releases', async () => {
  const dead = await ledger.addInstance();
  await ledger.open('broken', 100);
  await ledger.open('sound', 100);
  const ended = holdOf('broken', 10);
  await ledger.reserve([ended], dead);
  await ledger.settle([endOf(ended, 4)]);
  await ledger.reserve([holdOf('sound', 10)], dead);
  const { owner } = ledger.database;
  await sql(owner)`insert into ledger.holds (call_id, wallet_id, amount_micros, month, is_stream, instance_id)
    select call_id, wallet_id, 1, month, false, ${dead} from usage.calls where call_id = ${ended.callId}`;
  await runOut(dead);
  await reapHolds(ledger.live, ALL).catch(() => 0);
  await sql(owner)`delete from ledger.holds where call_id = ${ended.callId}`;
  assert.equal((await ledger.wallet('sound')).held, 0);
});
