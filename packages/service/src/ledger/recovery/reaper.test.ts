import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { createLog } from '#kernel/log.ts';
import { startReaper } from '#ledger/recovery/reaper.ts';

const LEASE_S = 15;
const SHORT_LEASE_S = 3;

/** A reaper for one kind of money, with its own clock. */
function startPassing(t: TestContext, prepare?: () => Promise<boolean>, leaseS?: number) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const database = { isDown: false };
  const asked: number[] = [];
  const release = (holdsMax: number): Promise<number> => {
    asked.push(holdsMax);
    return database.isDown ? Promise.reject(new Error('made by a test')) : Promise.resolve(0);
  };
  const pass = prepare === undefined ? { release } : { release, prepare };
  const lease = leaseS === undefined ? {} : { leaseMs: leaseS * 1_000 };
  const reaper = startReaper({ passes: [pass], log: createLog('silent'), ...lease });
  t.after(reaper.stop);
  /** Advances the clock by so many seconds, and returns whether the last pass released holds. */
  const releasesAfter = async (seconds: number): Promise<boolean> => {
    const before = asked.length;
    for (let second = 0; second < seconds; second += 1) {
      t.mock.timers.tick(1_000);
      await yieldToOthers(); // Lets the pass end.
    }
    assert.equal(asked.length, before + seconds);
    return (asked.at(-1) ?? 0) > 0;
  };
  return { database, releasesAfter };
}

test('WA-10 a reaper releases nothing before a whole lease in touch', async (t) => {
  const { database, releasesAfter } = startPassing(t);
  assert.equal(await releasesAfter(LEASE_S), false);
  assert.equal(await releasesAfter(1), true);
  database.isDown = true;
  await releasesAfter(1);
  database.isDown = false;
  assert.equal(await releasesAfter(LEASE_S), false);
  assert.equal(await releasesAfter(1), true);
});

test('WA-10 a reaper waits for the lease in the settings', async (t) => {
  const { releasesAfter } = startPassing(t, undefined, SHORT_LEASE_S);
  assert.equal(await releasesAfter(SHORT_LEASE_S), false);
  assert.equal(await releasesAfter(1), true);
});

test('WA-10 a reaper releases nothing before spooled settlements land', async (t) => {
  let isSettled = false;
  const { releasesAfter } = startPassing(t, () => Promise.resolve(isSettled));
  assert.equal(await releasesAfter(2 * LEASE_S), false);
  isSettled = true;
  assert.equal(await releasesAfter(1), true);
});
