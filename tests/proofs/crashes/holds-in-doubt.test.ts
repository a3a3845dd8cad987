import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import pg from 'pg';
import { startInstance } from '../../../packages/service/src/db/processes/instance.ts';
import { createPool, type Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { createHolds } from '../../../packages/service/src/ledger/holds.ts';
import { BACKLOG_LIMITS } from '../../../packages/service/src/ledger/settlement/settling.ts';
import { createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../../support/ledger-database.ts';
import { lockWallet } from '../../support/lock-wait.ts';
import { openTestSpool } from '../../support/spool.ts';
import { sql } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';

const log = createLog('silent');

let ledger: LedgerDatabase;
let pool: Pool;

before(async () => {
  ledger = await createLedgerDatabase();
  // As the owner, whose statements have no timers that the mocked clock could fire.
  pool = createPool({ url: ledger.database.url, role: 'owner', connectionsMax: 2, log });
  pool.options.connectionTimeoutMillis = 0;
});

after(async () => {
  await pool.end();
  await ledger.close();
});

function databaseError(code: string): Error {
  return Object.assign(new pg.DatabaseError('made by a test', 0, 'error'), { code });
}

const lost = (): Error => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

/** The statements that place a hold. */
const isPlacing = ({ name }: pg.QueryConfig): boolean => name === 'ledger_place_one' || name === 'ledger_reserve';

/** A pool that loses the answer of each statement that places. Later answers are lost to another fault than the first. */
function losing(later: () => Error): Pool {
  let answers = 0;
  const query = async (statement: pg.QueryConfig): Promise<unknown> => {
    const answer = await pool.query(statement);
    if (!isPlacing(statement)) return answer;
    answers += 1;
    throw answers === 1 ? lost() : later();
  };
  return { query } as unknown as Pool;
}

/** Advances the clock in small steps, and lets the database work between them, until the promise settles. */
async function passTime(tick: (ms: number) => void, promise: Promise<unknown>): Promise<void> {
  const over = promise.then(
    () => true,
    () => true,
  );
  while (!(await Promise.race([over, yieldToOthers(false)]))) tick(100);
}

for (const [what, later] of [
  ['a lost connection', lost],
  ['a locked row', () => databaseError('55P03')],
  ['a server that turned read-only', () => databaseError('25006')],
  ['a violated constraint', () => databaseError('23514')],
] as const) {
  test(`WA-07 a hold whose answer was lost is released even after ${what}`, async (t) => {
    const user = what.replaceAll(' ', '-');
    await ledger.open(user, 100);
    const instance = await startInstance(pool, log);
    t.after(instance.stop);
    const pools = { turns: losing(later), upkeep: pool };
    const holds = createHolds({ pools, instance, spool: openTestSpool(t), backlog: BACKLOG_LIMITS, log });
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const placed = holds.place(holdOf(user, 60));
    await passTime((ms) => t.mock.timers.tick(ms), placed);
    await assert.rejects(placed);
    assert.equal((await ledger.wallet(user)).held, 60); // It was placed, but the service does not know.
    t.mock.timers.tick(1_000); // The channel rests after a failure.
    t.mock.timers.reset();
    assert.equal(await holds.releaseOrphans(), 1);
    const isFreed = async (): Promise<boolean> => (await ledger.wallet(user)).held === 0;
    await waitUntil('the hold is released', isFreed);
    assert.deepEqual(await ledger.differences(), []);
  });
}

test('WA-07 a hold placed after its call’s end is released', async (t) => {
  await ledger.open('late', 100);
  const instance = await startInstance(pool, log);
  t.after(instance.stop);
  const sent: pg.QueryConfig[] = [];
  /** A network that keeps back what was sent while other connections go on. */
  const query = async (statement: pg.QueryConfig): Promise<unknown> => {
    if (!isPlacing(statement)) return pool.query(statement);
    sent.push(statement);
    throw new Error('Query read timeout');
  };
  const pools = { turns: { query } as unknown as Pool, upkeep: pool };
  const holds = createHolds({ pools, instance, spool: openTestSpool(t), backlog: BACKLOG_LIMITS, log });
  await assert.rejects(holds.place(holdOf('late', 60)));
  assert.equal(await holds.releaseOrphans(), 0);
  for (const statement of sent) await pool.query(statement); // The statement still arrives.
  assert.equal((await ledger.wallet('late')).held, 60);
  assert.equal(await holds.releaseOrphans(), 1);
  await waitUntil('the hold is released', async () => (await ledger.wallet('late')).held === 0);
  assert.equal(await holds.releaseOrphans(), 0);
});

test('WA-10 the hold of a running call is never orphaned', async (t) => {
  await ledger.open('running', 100);
  const instance = await startInstance(pool, log);
  t.after(instance.stop);
  const pools = { turns: pool, upkeep: pool };
  const holds = createHolds({ pools, instance, spool: openTestSpool(t), backlog: BACKLOG_LIMITS, log });
  const request = holdOf('running', 60);
  assert.equal((await holds.place(request)).kind, 'granted');
  assert.equal(await holds.releaseOrphans(), 0);
  const lock = await lockWallet(ledger.database, 'running');
  const settled = holds.settle(endOf(request, 25), request.most);
  assert.equal(await holds.releaseOrphans(), 0);
  await lock.release();
  assert.deepEqual(await settled, { charged: 25n });
  assert.equal((await ledger.wallet('running')).balance, 75);
});

test('WA-10 a call ending during the reaper’s query is no orphan', async (t) => {
  await ledger.open('ending', 100);
  const instance = await startInstance(pool, log);
  t.after(instance.stop);
  const request = holdOf('ending', 60);
  /** Answers after the call has ended, with what was true before. */
  const query = async (text: string, values: unknown[]): Promise<unknown> => {
    const answer = await pool.query(text, values);
    await holds.settle(endOf(request, 25), request.most);
    return answer;
  };
  const pools = { turns: pool, upkeep: { query } as unknown as Pool };
  const holds = createHolds({ pools, instance, spool: openTestSpool(t), backlog: BACKLOG_LIMITS, log });
  await holds.place(request);
  assert.equal(await holds.releaseOrphans(), 0);
  assert.equal((await ledger.wallet('ending')).balance, 75);
});

test('CC-14 a joined call with an unkept answer keeps its hold', async (t) => {
  await ledger.open('joined', 100);
  const instance = await startInstance(pool, log);
  t.after(instance.stop);
  const pools = { turns: pool, upkeep: pool };
  const holds = createHolds({ pools, instance, spool: openTestSpool(t), backlog: BACKLOG_LIMITS, log });
  const request = holdOf('joined', 60);
  await holds.place(request);
  await sql(ledger)`update ledger.holds set is_joined = true where call_id = ${request.callId}`;
  const first = await holds.settle({ ...endOf(request, 25), isUnkept: true }, request.most);
  assert.equal(first.isJoined, true);
  assert.equal(await holds.releaseOrphans(), 0);
  assert.deepEqual(await holds.settle(endOf(request, 25), request.most), { charged: 25n });
  assert.equal((await ledger.wallet('joined')).balance, 75);
});

test('CC-14 a joined call answered from disk is forgotten afterwards', async (t) => {
  await ledger.open('forgotten', 100);
  const instance = await startInstance(pool, log);
  t.after(instance.stop);
  const pools = { turns: pool, upkeep: pool };
  const holds = createHolds({ pools, instance, spool: openTestSpool(t), backlog: BACKLOG_LIMITS, log });
  const request = holdOf('forgotten', 60);
  await holds.place(request);
  const { owner } = ledger.database;
  const { rows } = await owner.query(
    `update ledger.holds set is_joined = true where call_id = $1 returning to_jsonb(holds) as hold`,
    [request.callId],
  );
  const lock = await lockWallet(ledger.database, 'forgotten');
  t.after(lock.release);
  assert.deepEqual(await holds.settle({ ...endOf(request, 25), isUnkept: true }, request.most), { charged: 25n });
  await lock.release();
  await waitUntil('it has ended', async () => (await ledger.wallet('forgotten')).balance === 75);
  // If it held again, no running call would own the hold.
  await sql(owner)`insert into ledger.holds select (jsonb_populate_record(null::ledger.holds, ${rows[0].hold})).*`;
  t.after(() => owner.query('delete from ledger.holds where call_id = $1', [request.callId]));
  await waitUntil('its hold is orphaned', async () => (await holds.releaseOrphans()) === 1);
});

test('WA-07 a locked wallet delays other holds only once', async (t) => {
  await ledger.open('locked', 100);
  await ledger.open('free', 100);
  const instance = await startInstance(pool, log);
  t.after(instance.stop);
  let statements = 0;
  const turns = {
    query: (statement: pg.QueryConfig): Promise<unknown> => {
      statements += 1;
      return ledger.live.query(statement);
    },
  } as unknown as Pool;
  const pools = { turns, upkeep: pool };
  const holds = createHolds({ pools, instance, spool: openTestSpool(t), backlog: BACKLOG_LIMITS, log });
  t.after(holds.stop);
  const requests = Array.from({ length: 10 }, () => holdOf('locked', 5));
  for (const request of requests) assert.equal((await holds.place(request)).kind, 'granted');
  const lock = await lockWallet(ledger.database, 'locked');
  t.after(lock.release);
  statements = 0;
  const ended = Promise.all(requests.map((request) => holds.settle(endOf(request, 1), request.most)));
  await lock.waiting(1);
  assert.equal((await holds.place(holdOf('free', 5))).kind, 'granted');
  assert.ok(statements <= 4, `${statements} statements: two turns, and one for each wallet`);
  await lock.release();
  await ended; // Some were answered from disk.
  await waitUntil('all calls are charged', async () => (await ledger.wallet('locked')).balance === 90);
});
