import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Queryable } from '#db/pool/pool.ts';
import type { AppId } from '#kernel/values/ids.ts';
import { createLog } from '#kernel/log.ts';
import { readMetrics } from '#kernel/metrics/metrics.ts';
import { startTraceWriter } from '#calls/traces/writer.ts';

const ENDED = {
  endedMs: 0,
  appId: 'app_1' as AppId,
  mode: 'live',
  userId: undefined,
  correlationId: 'cor_1',
  callId: undefined,
  model: undefined,
  isStream: false,
  wire: 'chat',
  session: undefined,
  outcome: 'refused',
  status: 400,
  failure: undefined,
  code: 'BAD_REQUEST',
  param: undefined,
  message: undefined,
  charged: 0n,
  promptTokens: 0,
  completionTokens: 0,
  durationMs: 1,
} as const;

/** A database that takes statements or does not, and the number of rows that each one had. */
function databaseThat(isUp: boolean): { readonly db: Queryable; readonly rows: readonly number[] } {
  const rows: number[] = [];
  const query = async (_text: string, values: readonly string[]): Promise<unknown> => {
    if (!isUp) throw new Error('The database is away.');
    rows.push(String(values[0]).split(',').length);
    return { rows: [], rowCount: 0 };
  };
  return { db: { query } as unknown as Queryable, rows };
}

const dropped = (): unknown =>
  readMetrics().find(({ name }) => name === 'purser_call_traces_dropped_total')?.samples[0]?.[1];

test('CC-19 during an outage ten thousand traces wait at most', async () => {
  const { db } = databaseThat(false);
  const writer = startTraceWriter({ db, log: createLog('silent'), keptMs: 1 });
  for (let count = 0; count < 10_003; count += 1) writer.note(ENDED);
  await writer.stop();
  assert.equal(dropped(), 3);
});

test('CC-19 traces leave in batches of a thousand', async () => {
  const { db, rows } = databaseThat(true);
  const writer = startTraceWriter({ db, log: createLog('silent'), keptMs: 1 });
  for (let count = 0; count < 2_500; count += 1) writer.note(ENDED);
  assert.deepEqual(rows, [], 'noting a call sends nothing');
  await writer.stop();
  assert.deepEqual(rows, [1_000, 1_000, 500]);
  const off = startTraceWriter({ db, log: createLog('silent'), keptMs: 0 });
  off.note(ENDED);
  await off.stop();
  assert.equal(rows.length, 3);
});

test('CC-19 traces of answered live calls are rate-limited', async () => {
  const { db } = databaseThat(true);
  const writer = startTraceWriter({ db, log: createLog('silent'), keptMs: 1_000 });
  const given = (appId: string, calls: number) =>
    Array.from({ length: calls }, () => writer.hasRoomForAnswered(appId as AppId)).filter(Boolean).length;
  assert.equal(given('app_1', 9), 5);
  const others = Array.from({ length: 20 }, (_, at) => given(`app_of_${at}`, 9));
  assert.equal(
    others.reduce((sum, one) => sum + one, 0),
    45,
  );
  await writer.stop();
});
