import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { createLog } from '#kernel/log.ts';
import { startReaper } from '#ledger/reaper.ts';

const LEASE_S = 15;

test('WA-10 a reaper releases nothing until it has reached the database for a whole lease, and again after an outage', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const asked: number[] = [];
  let isDown = false;
  const pass = (holdsMax: number): Promise<number> => {
    asked.push(holdsMax);
    return isDown ? Promise.reject(new Error('made by a test')) : Promise.resolve(0);
  };
  const reaper = startReaper({ passes: [pass], log: createLog('silent') });
  const releasesAfter = async (seconds: number): Promise<boolean> => {
    for (let second = 0; second < seconds; second += 1) {
      t.mock.timers.tick(1_000);
      await yieldToOthers(); // For the pass to end.
    }
    return (asked.at(-1) ?? 0) > 0;
  };
  assert.equal(await releasesAfter(LEASE_S), false);
  assert.equal(await releasesAfter(1), true);
  isDown = true;
  assert.equal(await releasesAfter(1), true);
  isDown = false;
  assert.equal(await releasesAfter(LEASE_S), false);
  assert.equal(await releasesAfter(1), true);
  assert.equal(asked.length, 2 * LEASE_S + 3);
  await reaper.stop();
});
