import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { createPool } from '../../packages/service/src/db/pool/pool.ts';
import type { AppId } from '../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { claimEvents, recordAttempt } from '../../packages/service/src/webhooks/queue/queries.ts';
import { upsertSubscription } from '../../packages/service/src/webhooks/subscriptions/queries.ts';
import { sweepAllEnded } from '../../packages/service/src/webhooks/queue/upkeep.ts';
import { createTestDatabase } from '../support/database.ts';
import { sql, sqlValue } from '../support/sql.ts';

const database = await createTestDatabase();
const live = createPool({ url: database.url, role: 'live', connectionsMax: 8, log: createLog('silent') });
after(async () => {
  await live.end();
  await database.close();
});
const db = database.owner;
const LEASE_MS = 15_000;

let events = 0;

async function subscribe(appId: string): Promise<void> {
  const secret = { sealed: Buffer.from('sealed'), fingerprint: 'f' };
  const wanted = { appId: appId as AppId, endpointUrl: 'https://example.com', threshold: undefined };
  await upsertSubscription(live, { ...wanted, events: ['topup.completed'] }, secret);
}

/** Stores events that have been due for the given number of seconds. */
async function add(appId: string, count: number, dueSeconds: number): Promise<void> {
  await db.query(
    `insert into webhooks.events (event_id, app_id, subscription_id, type, body, created_at, due_at)
     select 'evt_' || lpad((n + $3)::text, 32, '0'), $1, s.subscription_id, 'topup.completed', '{}', clock_timestamp(),
       clock_timestamp() - $4 * interval '1 s'
     from generate_series(1, $2) n, webhooks.subscriptions s where s.app_id = $1`,
    [appId, count, events, dueSeconds],
  );
  events += count;
}

const claim = (most: number, reserved = 0) =>
  claimEvents(live, { id: randomUUID(), most, reserved, leaseMs: LEASE_MS });

async function forget(): Promise<void> {
  await sql(db)`truncate webhooks.subscriptions, webhooks.events, webhooks.attempts, webhooks.copies`;
}

function countOf(rows: readonly { readonly app_id: string }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { app_id: app } of rows) counts[app] = (counts[app] ?? 0) + 1;
  return counts;
}

test('WH-01 a successor gets no removed subscription’s events', async () => {
  await subscribe('a');
  await add('a', 5, 10);
  await sql(live)`delete from webhooks.subscriptions`;
  await subscribe('a');
  assert.deepEqual(await claim(10), []);
  assert.equal(await sqlValue<number>(live)`select webhooks.drop_stale(null, 10) as dropped`, 5);
  await forget();
});

test('WH-11 a single event comes before older backlogs', async () => {
  for (const app of ['a', 'b', 'c']) {
    await subscribe(app);
    await add(app, 100, 3_600);
  }
  await subscribe('healthy');
  await add('healthy', 1, 0);
  assert.deepEqual(countOf(await claim(8)), { a: 3, b: 2, c: 2, healthy: 1 });
  await forget();
});

test('WH-11 first attempts have reserved places', async () => {
  await subscribe('stalled');
  await add('stalled', 100, 3_600);
  assert.deepEqual(countOf(await claim(10, 4)), { stalled: 6 });
  assert.deepEqual(countOf(await claim(4, 4)), {}, 'it already has attempts under way');
  await subscribe('healthy');
  await add('healthy', 3, 0);
  assert.deepEqual(countOf(await claim(4, 4)), { healthy: 1 });
  await forget();
});

test('WH-11 an endpoint has at most 16 open attempts', async () => {
  await subscribe('a');
  await add('a', 100, 10);
  const first = await claimEvents(live, {
    id: '00000000-0000-4000-8000-000000000001',
    most: 1_000,
    reserved: 0,
    leaseMs: LEASE_MS,
  });
  assert.equal(first.length, 16);
  assert.equal((await claim(1_000)).length, 0);
  for (const { event_id: eventId } of first) {
    const outcome = { startedAtMs: 0, durationMs: 1, status: 500, error: undefined };
    assert.equal(
      await recordAttempt(live, { eventId, claim: '00000000-0000-4000-8000-000000000001', outcome }),
      'failed',
    );
  }
  assert.equal((await claim(1_000)).length, 2);
  await forget();
});

test('WH-11 an endpoint’s most tried events come first', async () => {
  await subscribe('a');
  await add('a', 50, 3_600);
  await add('a', 1, 0);
  await sql(db)`update webhooks.events set attempt = 3 where due_at = (select max(due_at) from webhooks.events)`;
  assert.deepEqual(
    (await claim(1)).map(({ attempt }) => attempt),
    [3],
  );
  await forget();
});

test('WH-11 failing endpoints come after healthy ones', async () => {
  for (const app of ['a', 'b', 'c', 'd']) {
    await subscribe(app);
    await add(app, 10, 3_600);
  }
  await sql(db)`update webhooks.subscriptions set failures_in_row = 1`;
  await subscribe('healthy');
  await add('healthy', 1, 0);
  assert.deepEqual(countOf(await claim(1)), { healthy: 1 });
  assert.equal((await claim(3, 3)).length, 0);
  assert.equal((await claim(3, 1)).length, 2);
  await forget();
});

test('WH-03 an unsubscribed type is not sent from the store', async () => {
  await subscribe('a');
  await add('a', 3, 10);
  await sql(db)`update webhooks.subscriptions set events = array['connection.created']`;
  assert.deepEqual(await claim(10), []);
  assert.equal(await sqlValue<number>(live)`select webhooks.drop_stale('a', 10) as dropped`, 3);
  await forget();
});

test('WH-12 attempts with an unreadable secret do not count', async () => {
  await subscribe('a');
  await add('a', 1, 10);
  const id = randomUUID();
  const [event] = await claimEvents(live, { id, most: 1, reserved: 0, leaseMs: LEASE_MS });
  const ended = { eventId: event?.event_id ?? '', claim: id, outcome: undefined, reason: 'secret_unreadable' };
  assert.equal(await recordAttempt(live, ended), 'given_up');
  const rows = await sql<Record<string, unknown>>(db)`
    select e.state, e.attempt, due_at > clock_timestamp() + interval '5 s' as waits, s.failures_in_row, (select count(*)::int from webhooks.attempts) as attempts
    from webhooks.events e join webhooks.subscriptions s using (subscription_id)`;
  assert.deepEqual(rows, [{ state: 'pending', attempt: 1, waits: true, failures_in_row: 0, attempts: 0 }]);
  await forget();
});

test('WH-15 a listener long silent gets nothing', async () => {
  const listener = `insert into webhooks.subscriptions (app_id, listener_id, listening_until, events)
    values ('a', 'l', clock_timestamp() + $1 * interval '1 s', array['topup.completed'])`;
  await db.query(listener, [-1]);
  await sql(db)`select webhooks.tell('a', 'topup.completed', 'one', '{}')`;
  await sql(db)`update webhooks.subscriptions set listening_until = clock_timestamp() + interval '1 minute'`;
  await sql(db)`select webhooks.tell('a', 'topup.completed', 'two', '{}')`;
  const { rows } = await db.query('select event_id from webhooks.copies');
  assert.equal(rows.length, 1);
  await forget();
});

test('WH-13 a dead worker’s attempt is repeated as the same', async () => {
  await subscribe('a');
  await add('a', 1, 10);
  const dead = randomUUID();
  await claimEvents(live, { id: dead, most: 1, reserved: 0, leaseMs: LEASE_MS });
  assert.equal((await claim(1)).length, 0);
  await sql(db)`update webhooks.events set lease_until = clock_timestamp() - interval '1 ms'`;
  const [again] = await claim(1);
  assert.equal(again?.attempt, 1);
  const outcome = { startedAtMs: 0, durationMs: 1, status: 200, error: undefined };
  assert.equal(await recordAttempt(live, { eventId: again?.event_id ?? '', claim: dead, outcome }), 'not_ours');
  assert.equal(await sqlValue<string>(db)`select state from webhooks.events`, 'sending');
  await forget();
});

test('WH-13 workers claiming at once never share events', async () => {
  for (const app of ['a', 'b', 'c', 'd']) {
    await subscribe(app);
    await add(app, 50, 10);
  }
  const claimed = (await Promise.all(Array.from({ length: 8 }, () => claim(20)))).flat();
  assert.equal(new Set(claimed.map(({ event_id: id }) => id)).size, claimed.length);
  assert.ok(claimed.length >= 20);
  await forget();
});

test('WH-14 events are removed 30 days after their end', async () => {
  await subscribe('a');
  await add('a', 2, 10);
  for (const { event_id: eventId } of await claim(2)) {
    await sql(db)`update webhooks.events set claim = ${'00000000-0000-4000-8000-000000000002'}
      where event_id = ${eventId}`;
    const outcome = { startedAtMs: 0, durationMs: 1, status: 200, error: undefined };
    await recordAttempt(live, { eventId, claim: '00000000-0000-4000-8000-000000000002', outcome });
  }
  await sql(db)`update webhooks.events set ended_at = ended_at - interval '30 days'
    where event_id = (select min(event_id) from webhooks.events)`;
  for (const keptDays of [0, 31]) await sweepAllEnded(live, keptDays);
  assert.equal((await db.query('select from webhooks.attempts')).rowCount, 2, 'CP-12 kept as long as the setting says');
  assert.equal(await sqlValue<number>(live)`select webhooks.sweep(10, 30) as removed`, 1);
  const left = await db.query('select event_id from webhooks.attempts');
  assert.equal(left.rows.length, 1);
  await forget();
});

test('WH-11 a claim reads a backlog once', async (t) => {
  const lane = createPool({ url: database.url, role: 'live', connectionsMax: 1, log: createLog('silent') });
  t.after(() => lane.end());
  t.after(forget);
  const claimInLane = () => claimEvents(lane, { id: randomUUID(), most: 8, reserved: 0, leaseMs: LEASE_MS });
  const read = async (): Promise<number> => {
    for (const session of [db, lane]) await session.query('select pg_stat_force_next_flush()');
    const read = await sqlValue<number>(db)`select (seq_tup_read + idx_tup_fetch)::float8 as read
      from pg_stat_user_tables where relid = 'webhooks.events'::regclass`;
    return read ?? Number.NaN;
  };
  const apps = Array.from({ length: 50 }, (_, index) => `app-${index}`);
  for (const app of apps) await subscribe(app);
  await sql(db)`insert into webhooks.events (event_id, app_id, subscription_id, type, created_at, state, ended_at)
    select 'evt_ended_' || n, 'app-0', 0, 'topup.completed', now(), 'delivered', now() from generate_series(1, 10000) n`;
  await sql(db)`analyze`;
  for (let times = 0; times < 8; times += 1) {
    await add('app-1', 1, 0);
    assert.equal((await claimInLane()).length, 1);
  }
  await add('app-2', 1_000, 0);
  const before = await read();
  assert.equal((await claimInLane()).length, 8);
  const rows = (await read()) - before;
  assert.ok(rows < 5 * 1_000, `${rows} rows were read`);
});
