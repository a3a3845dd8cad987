import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { createPool } from '../../packages/service/src/db/pool/pool.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { type Observation, observe, selectIncidents } from '../../packages/service/src/status/queries.ts';
import { createTestDatabase } from '../support/database.ts';
import { sql, sqlValue } from '../support/sql.ts';

/** How incidents begin, go on and end, by what the processes of a service note. */

const database = await createTestDatabase();
const live = createPool({ url: database.url, role: 'live', connectionsMax: 4, log: createLog('silent') });
after(async () => {
  await live.end();
  await database.close();
});
beforeEach(() =>
  database.owner.query(
    'delete from status.incidents; delete from status.usual; update status.service set seen_at = null',
  ),
);

const NOTHING: Observation = { silentMs: 10_000, isSlow: false, out: [], firstByteMs: new Map() };

function note(what: Partial<Observation> = {}): Promise<void> {
  return observe(live, { ...NOTHING, ...what });
}

/** Streams of a model took so long to begin. */
function seen(ms: number): Pick<Observation, 'firstByteMs'> {
  return { firstByteMs: new Map([['a.one', ms]]) };
}

/** Acts as if this much time had passed. */
async function pass(interval: string): Promise<void> {
  for (const column of [
    'incidents set began_at = began_at -',
    'service set seen_at = seen_at -',
    'usual set seen_at = seen_at -',
  ]) {
    await database.owner.query(`update status.${column} interval '${interval}'`);
  }
  await database.owner.query(
    `update status.incidents set seen_at = seen_at - interval '${interval}', ended_at = ended_at - interval '${interval}'`,
  );
}

/** Returns the model, the state, whether it has ended, and how many seconds it lasted or has been seen. */
async function incidents(): Promise<readonly (readonly [string, string, boolean, number])[]> {
  const rows = await sql<{ model: string; state: string; ended: boolean; seconds: number }>(database)`
    select model, state, ended_at is not null as ended,
      round(extract(epoch from coalesce(ended_at, seen_at) - began_at))::int as seconds
    from status.incidents order by incident_id`;
  return rows.map(({ model, state, ended, seconds }) => [model, state, ended, seconds] as const);
}

test('OP-14 a time without processes is one incident', async () => {
  await note({ silentMs: undefined });
  assert.deepEqual(await incidents(), [], 'a new service was never out');
  await pass('50 seconds');
  await note({ silentMs: undefined });
  assert.deepEqual(await incidents(), [], 'a restart is none');
  await pass('20 minutes');
  await Promise.all([1, 2, 3].map(() => note({ silentMs: undefined })));
  assert.deepEqual(await incidents(), [['', 'out', true, 1_200]]);
  await pass('3 minutes');
  await note({ silentMs: 180_000 });
  assert.deepEqual((await incidents()).slice(1), [['', 'out', true, 180]], 'its database was away');
  await pass('1 hour');
  await note({ silentMs: 10_000 });
  assert.equal((await incidents()).length, 2, 'only the clock has moved');
});

test('OP-14 an incident lasts while any process sees it', async () => {
  await note({ out: ['a.one'] });
  await pass('20 seconds');
  await note({ silentMs: 9_000 }); // Another process, which has not called the model.
  assert.deepEqual(await incidents(), [['a.one', 'out', false, 0]], 'the first one may still see it');
  await note({ out: ['a.one'] });
  assert.deepEqual(await incidents(), [['a.one', 'out', false, 20]]);
  await pass('40 seconds');
  await note();
  assert.deepEqual(await incidents(), [['a.one', 'out', true, 20]]);
  await pass('4 minutes');
  await note({ out: ['a.one'] });
  assert.deepEqual(await incidents(), [['a.one', 'out', false, 300]]);
  await pass('30 minutes');
  await note({ out: ['a.one', 'a.two'] });
  assert.deepEqual(await incidents(), [
    ['a.one', 'out', true, 300],
    ['a.one', 'out', false, 0],
    ['a.two', 'out', false, 0],
  ]);
  const listed = await selectIncidents(live, { days: 30, most: 1, models: ['a.one', 'a.two'] });
  assert.deepEqual(
    listed.map(({ model, ended_at: ended }) => [model, ended === null]),
    [
      ['a.one', true],
      ['a.two', true],
      ['a.one', false],
    ],
  );
});

test('OP-14 MO-04 incidents of hidden models take no places', async () => {
  const many = Array.from({ length: 40 }, (_, at) => `b.reserved-${at}`);
  await note({ out: ['a.one', 'a.two', 'a.three'] });
  await pass('1 second');
  await note({ out: ['a.one', 'a.two', 'a.three', ...many], isSlow: true });
  const listed = await selectIncidents(live, { days: 30, most: 1, models: ['a.one', 'a.two'] });
  assert.deepEqual(listed.map(({ model }) => model).toSorted(), ['', 'a.one', 'a.two']);
});

test('OP-14 a model is slow at twice its usual time', async () => {
  await note(seen(900));
  await note(seen(1_850));
  assert.deepEqual(await incidents(), [], 'twice as long is not noticed below a second');
  await note({ ...seen(5_000), out: ['a.one'] });
  await note({ ...seen(5_000), isSlow: true });
  assert.deepEqual(
    (await incidents()).map(([model, state]) => [model, state]),
    [
      ['a.one', 'out'],
      ['', 'slow'],
      ['a.one', 'slow'],
    ],
  );
  const ms = await sqlValue<number>(database)`select first_byte_ms as ms from status.usual`;
  assert.ok(Math.abs((ms ?? 0) - 900) < 5, 'what is usual changes over days');
});

test('OP-14 incidents are kept for ninety days', async () => {
  await note({ out: ['a.one'] });
  await pass('1 minute');
  await note();
  await pass('91 days');
  await note({ silentMs: 10_000 });
  assert.deepEqual(await incidents(), []);
});
