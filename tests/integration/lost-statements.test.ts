import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { startInstance } from '../../packages/service/src/db/processes/instance.ts';
import { createPool, inTransaction, isSilence, type Pool } from '../../packages/service/src/db/pool/pool.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { createHolds } from '../../packages/service/src/ledger/holds.ts';
import { BACKLOG_LIMITS } from '../../packages/service/src/ledger/settlement/settling.ts';
import { createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { openTestSpool } from '../support/spool.ts';
import { sql } from '../support/sql.ts';
import { waitUntil } from '../support/wait-until.ts';

const log = createLog('silent');

let ledger: LedgerDatabase;
let pool: Pool;

before(async () => {
  ledger = await createLedgerDatabase();
  pool = createPool({ url: ledger.database.url, role: 'live', connectionsMax: 4, log });
});

after(async () => {
  await pool.end();
  await ledger.close();
});

/** A pool that runs a statement and then loses the answer, as often as `losses` says, and throws `fault` instead. */
function losing(losses: readonly Error[]): Pool {
  const left = [...losses];
  const query = async (statement: pg.QueryConfig): Promise<unknown> => {
    const answer = await pool.query(statement);
    const fault = left.shift();
    if (fault !== undefined) throw fault;
    return answer;
  };
  return { query } as unknown as Pool;
}

const lost = (): Error => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

test('WA-17 a hold asks a server that accepts and says nothing once', async (t) => {
  let accepted = 0;
  const silent = createServer(() => (accepted += 1)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.after(() => silent.close());
  const url = new URL(ledger.database.url);
  url.port = String((silent.address() as AddressInfo).port);
  const instance = await startInstance(pool, log);
  t.after(instance.stop);
  const turns = createPool({ url: url.href, role: 'live', connectionsMax: 1, connectMsMax: 50, log });
  t.after(() => turns.end());
  const pools = { turns, upkeep: pool };
  const holds = createHolds({ pools, instance, spool: openTestSpool(t), backlog: BACKLOG_LIMITS, log });
  await assert.rejects(holds.place(holdOf('silent', 60)), isSilence);
  assert.equal(accepted, 1);
});

test('WA-07 lost holds and settlements take effect once', async (t) => {
  await ledger.open('repeated', 100);
  const instance = await startInstance(pool, log);
  t.after(instance.stop);
  const pools = { turns: losing(Array.from({ length: 5 }, lost)), upkeep: pool };
  const spool = openTestSpool(t);
  const holds = createHolds({ pools, instance, spool, backlog: BACKLOG_LIMITS, log });
  const request = holdOf('repeated', 60);
  assert.deepEqual(await holds.place(request), { kind: 'granted', granted: 60n });
  assert.equal((await ledger.wallet('repeated')).held, 60);
  assert.deepEqual(await holds.settle(endOf(request, 25), micros(60n)), { charged: 25n });
  await waitUntil('the settlement is confirmed', () => spool.kept() === 0);
  const { balance, held } = await ledger.wallet('repeated');
  assert.deepEqual({ balance, held }, { balance: 75, held: 0 });
  assert.deepEqual(await ledger.differences(), []);
});

test('WA-07 a transaction fails when its connection dies', async () => {
  const interrupted = inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
    const isGone = async (): Promise<boolean> => {
      const { rowCount } = await ledger.database.owner.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
      const left = await sql(ledger)`select from pg_stat_activity where pid = ${rows[0]?.pid}`;
      return rowCount === 1 && left.length === 0;
    };
    await waitUntil('its backend has ended', isGone);
    await tx.query('select 1');
  });
  await assert.rejects(interrupted);
  assert.equal(await inTransaction(pool, async (tx) => (await tx.query('select 1')).rowCount), 1);
});

for (const { keepsOne, left } of [
  { keepsOne: true, left: 1 },
  { keepsOne: false, left: 0 },
]) {
  test(`OP-11 a pool that ${keepsOne ? 'a call waits for keeps one connection' : 'no call waits for keeps no connection'} in a pause`, async (t) => {
    const paused = createPool({ url: ledger.database.url, role: 'live', connectionsMax: 2, log, keepsOne });
    t.after(() => paused.end());
    t.mock.timers.enable({ apis: ['setTimeout'] });
    await Promise.all([paused.query('select'), paused.query('select')]);
    assert.equal(paused.totalCount, 2);
    t.mock.timers.tick(60_000);
    assert.equal(paused.totalCount, left);
    t.mock.timers.reset();
  });
}

test('OP-11 a kept connection serves until it fails or ends', async (t) => {
  const kept = createPool({
    url: ledger.database.url,
    role: 'live',
    connectionsMax: 1,
    keepsConnection: true,
    use: 'calls',
    log,
  });
  const server = async () =>
    (await kept.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' })).rows[0]?.pid;
  t.after(() => kept.ending || kept.end());
  const first = await server();
  assert.deepEqual(await Promise.all([server(), server()]), [first, first]);
  await assert.rejects(kept.query({ text: 'select 1 / 0' }), { code: '22012' });
  const second = await server();
  assert.notEqual(second, first);
  await sql(ledger.database)`select pg_terminate_backend(${second})`;
  await waitUntil('the connection has ended', () => kept.totalCount === 0);
  assert.notEqual(await server(), second);
  const last = server();
  await kept.end();
  await last;
  assert.equal(kept.totalCount, 0);
  await assert.rejects(server(), /after calling end/);
});
