import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, KeyId } from '#kernel/values/ids.ts';
import { createLog } from '#kernel/log.ts';
import { readMetrics } from '#kernel/metrics/metrics.ts';
import { startCallCounts } from '#calls/stats/call-counts.ts';
import type { EndedCall } from '#calls/stats/call-sums.ts';

const CALL: EndedCall = {
  appId: 'app_1' as AppId,
  keyId: 'key_1' as KeyId,
  mode: 'sandbox',
  model: 'acme.large-1',
  outcome: 'charged',
  charged: 7n,
  promptTokens: 10,
  completionTokens: 5,
  firstByteMs: undefined,
  totalMs: 120,
};

/** A database that takes statements or does not, with the values of those that it took. */
function database() {
  const taken: unknown[][] = [];
  const state = { isUp: true };
  const query = async (_text: string, values: unknown[]): Promise<unknown> => {
    if (!state.isUp) throw new Error('The database is away.');
    taken.push(values);
    return { rows: [] };
  };
  return { db: { query } as unknown as Queryable, taken, state };
}

function buckets(...hits: number[]): string {
  return `"{${Array.from({ length: 16 }, (_, at) => (hits.includes(at) ? 1 : 0)).join(',')}}"`;
}

const log = createLog('silent');
const dropped = (): number =>
  Number(readMetrics().find(({ name }) => name === 'purser_stats_calls_dropped_total')?.samples[0]?.[1]);

test('CP-04 calls of one group leave as one sum', async () => {
  const { db, taken } = database();
  const counts = startCallCounts({ db, log });
  counts.note(CALL);
  counts.note({ ...CALL, totalMs: 30 });
  counts.note({ ...CALL, mode: 'live' });
  counts.note({ ...CALL, mode: 'live', model: undefined, outcome: 'BAD_REQUEST', charged: 0n, totalMs: undefined });
  await counts.stop();
  const [values = [], ...rest] = taken;
  assert.deepEqual(values.slice(1, 11), [
    '{"app_1","app_1","app_1"}',
    '{live,live,sandbox}',
    '{"","acme.large-1","acme.large-1"}',
    '{BAD_REQUEST,charged,charged}',
    '{1,0,2}',
    '{0,0,14}',
    '{10,0,20}',
    '{5,0,10}',
    '{null,null,null}',
    `{null,${buckets(3)},${buckets(1, 3)}}`,
  ]);
  assert.deepEqual(values.slice(11), [
    '{"app_1","app_1"}',
    '{live,sandbox}',
    '{"key_1","key_1"}',
    '{2,2}',
    '{1,2}',
    '{7,14}',
  ]);
  assert.deepEqual(rest, []);
});

test('CP-04 during an outage, five-minute sums wait apart', async () => {
  const { db, taken, state } = database();
  let nowMs = 0;
  state.isUp = false;
  const counts = startCallCounts({ db, log, clock: { nowMs: () => nowMs } });
  counts.note(CALL);
  nowMs = 200_000;
  counts.note(CALL);
  nowMs = 7_300_000;
  counts.note(CALL);
  state.isUp = true;
  await counts.stop();
  assert.deepEqual(
    taken.map((values) => [values[0], values[5]]),
    [
      [7_300_000, '{2}'],
      [0, '{1}'],
    ],
  );
});

test('CP-04 ten thousand sums wait at most, and the rest are dropped', async () => {
  const { db, state } = database();
  state.isUp = false;
  const counts = startCallCounts({ db, log });
  const before = dropped();
  for (let app = 0; app < 5_003; app += 1) counts.note({ ...CALL, appId: `app_${app}` as AppId });
  assert.equal(dropped() - before, 3);
  state.isUp = true;
  await counts.stop();
});
