import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createPool } from '../../../packages/service/src/db/pool/pool.ts';
import { startInstance } from '../../../packages/service/src/db/processes/instance.ts';
import type { CallId } from '../../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import { checkLedger } from '../../../packages/service/src/ledger/check/check.ts';
import { createHolds } from '../../../packages/service/src/ledger/holds.ts';
import { reapHolds } from '../../../packages/service/src/ledger/recovery/queries.ts';
import { BACKLOG_LIMITS, type BacklogLimits } from '../../../packages/service/src/ledger/settlement/settling.ts';
import { createSpool } from '../../../packages/service/src/ledger/settlement/spool.ts';
import { createSandboxHolds } from '../../../packages/service/src/sandbox/holds/sandbox-holds.ts';
import { catalogueAt, chargeFor } from '../../support/catalogue.ts';
import { chat } from '../../support/client.ts';
import { startDatabaseProxy } from '../../support/database-proxy.ts';
import { createTestDatabase } from '../../support/database.ts';
import { afterwards, makeOpenDirectory } from '../../support/embedded-harness.ts';
import { createGate } from '../../support/gate.ts';
import { APP, createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../../support/ledger-database.ts';
import { receiptOf } from '../../support/receipts.ts';
import { completionBody, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { readSandboxWallet } from '../../support/sandbox-wallet.ts';
import { readDemo, startServiceProcess } from '../../support/service-process.ts';
import { mountSmallDisk } from './small-disk.ts';
import { filesOf, makeSpoolParent, recordsOf, spoolIn, untilEmpty } from '../../support/spool.ts';
import { sql } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';

const RELEASE_MS_MAX = 45_000;
const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };
const CHARGE = chargeFor({ prompt: 40, completion: 20 });
const log = createLog('silent');

/** A gateway process whose network to the database can be cut, and one call that ends during the cut. */
async function dieInOutage(
  t: TestContext,
  { hasSurvivor = false, ends = 'killed' }: { readonly hasSurvivor?: boolean; readonly ends?: 'killed' | 'stopped' },
) {
  const upstream = await startScriptedUpstream();
  afterwards(t, upstream.close);
  const database = await createTestDatabase();
  afterwards(t, database.close);
  const proxy = await startDatabaseProxy(database.url);
  afterwards(t, proxy.close);
  const dataDirectory = makeOpenDirectory(t);
  const catalogue = catalogueAt(upstream.baseUrl, { timeoutMs: 60_000 });
  const start = async (databaseUrl = proxy.url) => {
    const service = await startServiceProcess({ dataDirectory, catalogue, databaseUrl });
    afterwards(t, service.stop);
    return service;
  };
  const dying = await start();
  const survivor = hasSurvivor ? await start() : undefined;
  const { liveKey: key, userId: user } = readDemo(dataDirectory);
  const gate = createGate();
  const write = completionBody({ model: 'large-upstream', content: 'Hi.', usage: USAGE });
  const answer = { headers: { 'content-type': 'application/json' }, body: [{ waitFor: gate.opened }, { write }] };
  upstream.script(answer);
  const call = chat({ url: dying.url, key, user });
  await upstream.arrival(0);
  if (survivor !== undefined) upstream.script(answer);
  const beside = survivor === undefined ? undefined : chat({ url: survivor.url, key, user });
  if (beside !== undefined) await upstream.arrival(1);
  if (ends === 'killed') proxy.reset();
  else proxy.fallSilent();
  gate.open();
  const { status, headers } = await call;
  assert.deepEqual([status, headers.get('x-service-charge-micros')], [200, String(CHARGE)]);
  const spool = spoolIn(dataDirectory);
  const besideId = (await beside)?.headers.get('x-service-call-id') ?? undefined;
  assert.equal(recordsOf(spool).length, survivor === undefined ? 1 : 2);
  await (ends === 'killed' ? dying.kill() : dying.stop());
  proxy.restore();
  const callIds = [headers.get('x-service-call-id') ?? '', ...(besideId === undefined ? [] : [besideId])];
  return { database, spool, start, callId: callIds[0] ?? '', callIds };
}

async function assertCharged({ database, spool, callIds }: Awaited<ReturnType<typeof dieInOutage>>): Promise<void> {
  for (const callId of callIds) {
    await waitUntil('the call has ended', () => receiptOf(database, callId), RELEASE_MS_MAX);
    const receipt = await receiptOf(database, callId);
    assert.deepEqual([receipt?.outcome, receipt?.charged], ['answered', CHARGE]);
  }
  await untilEmpty(spool);
  assert.equal((await database.owner.query('select from ledger.holds')).rowCount, 0);
  assert.deepEqual((await checkLedger(database.owner)).differences, []);
}

test('WA-17 a start charges what a killed gateway answered', async (t) => {
  const outage = await dieInOutage(t, {});
  await outage.start();
  // Checked as soon as it is ready, long before its reaper may release anything.
  assert.equal((await receiptOf(outage.database, outage.callId))?.charged, CHARGE);
  await assertCharged(outage);
});

test('WA-17 a gateway stops without its database', async (t) => {
  const outage = await dieInOutage(t, { ends: 'stopped' });
  await outage.start();
  await assertCharged(outage);
});

test('WA-17 the surviving gateway charges for both', async (t) => {
  await assertCharged(await dieInOutage(t, { hasSurvivor: true }));
});

test('WA-17 settlements on disk wait for their own database', async (t) => {
  const outage = await dieInOutage(t, {});
  const other = await createTestDatabase();
  afterwards(t, other.close);
  // Test databases are copies of one template, and a copy keeps the template's name.
  await sql(other)`update db.identity set database_id = gen_random_uuid()`;
  const stranger = await outage.start(other.url);
  await stranger.stop();
  assert.equal(recordsOf(outage.spool).length, 1);
  await outage.start();
  await assertCharged(outage);
});

/** The holds of a process whose network to the database can be cut. */
async function arrangeHolds(
  t: TestContext,
  {
    backlog = BACKLOG_LIMITS,
    parent = makeSpoolParent(t),
  }: { readonly backlog?: BacklogLimits; readonly parent?: string } = {},
) {
  const ledger = await createLedgerDatabase();
  afterwards(t, ledger.close);
  const proxy = await startDatabaseProxy(ledger.database.url);
  afterwards(t, proxy.close);
  const pool = createPool({ url: ledger.database.url, role: 'live', connectionsMax: 2, log });
  const behind = createPool({ url: proxy.url, role: 'live', connectionsMax: 1, log });
  afterwards(t, async () => Promise.all([pool.end(), behind.end()]));
  const instance = await startInstance(pool, log);
  afterwards(t, instance.leave);
  const clock = { ms: 0, nowMs: () => clock.ms };
  const directory = spoolIn(parent);
  const spool = createSpool({ directory, clock, log });
  const holds = createHolds({ pools: { turns: behind, upkeep: behind }, instance, spool, backlog, log });
  afterwards(t, holds.stop);
  await ledger.open('anna', 1_000);
  return { ledger, proxy, holds, spool, clock, directory };
}

/** Fences every process and releases all holds. */
async function fence({ database, live }: LedgerDatabase): Promise<void> {
  await sql(database)`update db.instances set lease_until = clock_timestamp() - interval '1 second'`;
  await reapHolds(live, 100);
}

test('WA-10 a told charge is booked after its hold was reaped', async (t) => {
  const { ledger, proxy, holds, directory } = await arrangeHolds(t);
  const [told, left] = [holdOf('anna', 60), holdOf('anna', 60)];
  await holds.place(told);
  await holds.place(left);
  proxy.reset();
  assert.deepEqual(await holds.settle(endOf(told, 50), micros(60n)), { charged: 50n });
  await holds.settle({ ...endOf(left, 50), outcome: 'abandoned' }, micros(60n));
  await fence(ledger);
  proxy.restore();
  await waitUntil('the replay has charged it', async () => {
    await holds.replay();
    return filesOf(directory).length === 0;
  });
  const { balance, held } = await ledger.wallet('anna');
  assert.deepEqual({ balance, held }, { balance: 950, held: 0 });
  assert.equal((await receiptOf(ledger.database, told.callId))?.outcome, 'expired');
  assert.deepEqual(await ledger.differences(), []);
});

test('WA-10 an untold charge is never booked late', async (t) => {
  const { ledger, holds } = await arrangeHolds(t);
  const request = holdOf('anna', 60);
  await holds.place(request);
  await fence(ledger);
  assert.deepEqual(await holds.settle(endOf(request, 50), micros(60n)), { charged: 0n });
  await holds.replay();
  assert.equal((await ledger.wallet('anna')).balance, 1_000);
});

const isNotBehind = (fault: Error): boolean => !fault.message.includes('Too many settlements wait');

test('WA-17 a settlement that waits too long stops new holds', async (t) => {
  const { ledger, proxy, holds, spool, clock, directory } = await arrangeHolds(t);
  const request = holdOf('anna', 60);
  await holds.place(request);
  proxy.reset();
  await holds.settle(endOf(request, 50), micros(60n));
  clock.ms += BACKLOG_LIMITS.ageMsMax;
  await assert.rejects(holds.place(holdOf('anna', 10)), isNotBehind); // For now only the database is missing.
  clock.ms += 1;
  await assert.rejects(holds.place(holdOf('anna', 10)), /Too many settlements wait/);
  assert.equal((await ledger.wallet('anna')).held, 60);
  proxy.restore();
  await waitUntil('nothing waits', () => spool.kept() === 0);
  await untilEmpty(directory);
  assert.equal((await holds.place(holdOf('anna', 10))).kind, 'granted');
});

test('WA-17 no hold is placed while too many settlements wait', async (t) => {
  const { ledger, proxy, holds } = await arrangeHolds(t, { backlog: { ageMsMax: 30_000, settlementsMax: 1 } });
  const requests = [holdOf('anna', 10), holdOf('anna', 10)] as const;
  for (const request of requests) await holds.place(request);
  proxy.reset();
  await holds.settle(endOf(requests[0], 5), micros(10n));
  await assert.rejects(holds.place(holdOf('anna', 10)), isNotBehind);
  await holds.settle(endOf(requests[1], 5), micros(10n));
  await assert.rejects(holds.place(holdOf('anna', 10)), /Too many settlements wait/);
  assert.equal((await ledger.wallet('anna')).held, 20);
});

test('WA-17 with a full disk a call waits for the database', async (t) => {
  const disk = mountSmallDisk(t);
  if (disk === undefined) return t.skip('This process may not mount a small disk.');
  const { ledger, proxy, holds, spool, directory } = await arrangeHolds(t, { parent: disk.directory });
  const requests = [holdOf('anna', 60), holdOf('anna', 60)] as const;
  for (const request of requests) await holds.place(request);
  proxy.reset();
  await holds.settle(endOf(requests[0], 50), micros(60n));
  disk.fill();
  const others: CallId[] = []; // They fill the rest of the file's last page.
  for (let isKept = true; isKept; ) {
    const other = endOf(holdOf('anna', 60), 50);
    others.push(other.callId);
    isKept = await spool.keep(other);
  }
  const before = filesOf(directory);
  assert.equal(recordsOf(directory).length, others.length); // The records of the first call and of the others except the last, all whole lines.
  let isAnswered = false;
  const second = holds.settle(endOf(requests[1], 50), micros(60n)).finally(() => (isAnswered = true));
  await waitUntil('it waits', () => spool.kept() === others.length + 2);
  assert.equal(await spool.keep(endOf(requests[1], 50)), false); // By then the one before it has been tried.
  assert.deepEqual([isAnswered, filesOf(directory)], [false, before]);
  proxy.restore();
  assert.deepEqual(await second, { charged: 50n });
  for (const callId of others) spool.crossOff(callId);
  await untilEmpty(directory);
  const { balance, held } = await ledger.wallet('anna');
  assert.deepEqual({ balance, held }, { balance: 900, held: 0 });
  return undefined;
});

test('SB-02 a sandbox call is charged after a database outage', async (t) => {
  const { ledger, proxy } = await arrangeHolds(t);
  const direct = createPool({ url: ledger.database.url, role: 'sandbox', connectionsMax: 1, log });
  const cut = createPool({ url: proxy.url, role: 'sandbox', connectionsMax: 1, log });
  afterwards(t, async () => Promise.all([direct.end(), cut.end()]));
  const instance = await startInstance(ledger.live, log);
  afterwards(t, instance.leave);
  const holds = createSandboxHolds({ reserve: direct, settle: cut }, instance, micros(1_000n));
  const request = holdOf('tester', 60);
  await holds.place(request);
  proxy.reset();
  const settlement = { callId: request.callId, charge: micros(80n), tokens: 15 };
  assert.deepEqual(await holds.settle(settlement, micros(60n)), { charged: 60n });
  const wallet = () => readSandboxWallet(ledger.database, { appId: APP }, 'tester');
  assert.equal((await wallet())?.held, 60);
  proxy.restore();
  await waitUntil('it is charged', async () => (await wallet())?.balance === 940);
  assert.equal((await wallet())?.held, 0);
});
