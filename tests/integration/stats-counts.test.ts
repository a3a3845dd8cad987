import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createPool } from '../../packages/service/src/db/pool/pool.ts';
import type { AppId, KeyId } from '../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { startCallCounts } from '../../packages/service/src/calls/stats/call-counts.ts';
import type { EndedCall } from '../../packages/service/src/calls/stats/call-sums.ts';
import { createStats } from '../../packages/service/src/calls/stats/stats.ts';
import { createTestDatabase } from '../support/database.ts';
import { sqlValue } from '../support/sql.ts';

/** What processes count in memory, as it arrives in the database. */

const HOUR_MS = 3_600_000;
const log = createLog('silent');
const database = await createTestDatabase();
const live = createPool({ url: database.url, role: 'live', connectionsMax: 4, log });
after(async () => {
  await live.end();
  await database.close();
});

const APP = 'app_counted' as AppId;
const CALL: EndedCall = {
  appId: APP,
  keyId: 'key_1' as KeyId,
  mode: 'sandbox',
  model: 'acme.large-1',
  outcome: 'charged',
  charged: 7n,
  promptTokens: 10,
  completionTokens: 5,
  firstByteMs: 40,
  totalMs: 900,
};

test('CP-04 counts of several processes add up', async () => {
  const processes = Array.from({ length: 3 }, () => startCallCounts({ db: live, log }));
  for (const { note } of processes) {
    for (let call = 0; call < 20; call += 1) {
      note(CALL);
      note({ ...CALL, keyId: 'key_2' as KeyId, outcome: 'PAYMENT_REQUIRED', charged: 0n, totalMs: undefined });
    }
  }
  await Promise.all(processes.map(({ stop }) => stop()));
  const stats = createStats(live);
  const time = { appId: APP, mode: 'sandbox', fromMs: Date.now() - HOUR_MS, toMs: Date.now() + HOUR_MS } as const;
  const { calls, chargedCalls, refusals, charged, promptTokens, total, firstByte } = await stats.totals(time);
  assert.deepEqual([calls, chargedCalls, refusals, charged, promptTokens], [120, 60, 60, 420n, 1_200]);
  assert.deepEqual([total.count, total.buckets[7], firstByte.count], [60, 60, 120]);
  assert.deepEqual(await stats.byKey(time), [
    { keyId: 'key_1', calls: 60, chargedCalls: 60, charged: 420n },
    { keyId: 'key_2', calls: 60, chargedCalls: 0, charged: 0n },
  ]);
});

test('CP-04 delayed counts belong to their calls’ hour', async () => {
  let nowMs = 0;
  const { note, stop } = startCallCounts({ db: live, log, clock: { nowMs: () => nowMs } });
  note({ ...CALL, appId: 'app_late' as AppId });
  nowMs = 3 * HOUR_MS;
  await stop();
  const hours = await sqlValue<number>(database)`select extract(epoch
    from date_trunc('hour', now(), 'UTC') - hour)::float8 / 3600 as hours
    from stats.hours where app_id = 'app_late'`;
  assert.equal(hours, 3);
});
