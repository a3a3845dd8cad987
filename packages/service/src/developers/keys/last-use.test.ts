import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { startKeyUse } from '#developers/keys/last-use.ts';
import type { Queryable } from '#db/pool/pool.ts';
import { type KeyId, newKeyId } from '#kernel/values/ids.ts';
import { createLog } from '#kernel/log.ts';

/** The recorder on a clock of its own, with the statements that it sends: how long ago each key was used. */
function startNoting(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const clock = { now: 1_000_000 };
  const database = { isDown: false };
  const sent: ReadonlyMap<KeyId, number>[] = [];
  const query = async (_: string, [keys, ago]: readonly [readonly KeyId[], readonly number[]]) => {
    if (database.isDown) throw new Error('made by a test');
    sent.push(new Map(keys.map((key, index) => [key, ago[index] ?? Number.NaN])));
    return { rows: [], rowCount: 0 };
  };
  const db = { query } as unknown as Queryable;
  const use = startKeyUse({ db, clock: { nowMs: () => clock.now }, log: createLog('silent') });
  const pass = async (ms: number): Promise<void> => {
    clock.now += ms;
    t.mock.timers.tick(ms);
    for (let turn = 0; turn < 10; turn += 1) await yieldToOthers();
  };
  return { use, pass, sent, database };
}

test('CP-03 each key’s last use is recorded every minute', async (t) => {
  const { use, pass, sent } = startNoting(t);
  const [often, once] = [newKeyId(), newKeyId()];
  use.note(often);
  use.note(once);
  await pass(40_000);
  assert.deepEqual(sent, []);
  use.note(often);
  await pass(20_000);
  assert.deepEqual(sent, [
    new Map([
      [often, 20_000],
      [once, 60_000],
    ]),
  ]);
  await pass(60_000);
  assert.equal(sent.length, 1, 'nothing was used since');
});

test('CP-03 uses that failed to record are recorded the next time', async (t) => {
  const { use, pass, sent, database } = startNoting(t);
  const key = newKeyId();
  use.note(key);
  database.isDown = true;
  await pass(60_000);
  database.isDown = false;
  await pass(60_000);
  assert.deepEqual(sent, [new Map([[key, 120_000]])]);
});

test('CP-03 a process that ends records its pending uses', async (t) => {
  const { use, sent } = startNoting(t);
  const key = newKeyId();
  use.note(key);
  await use.stop();
  assert.deepEqual(sent, [new Map([[key, 0]])]);
});

test('CP-03 the uses of many keys take several statements', async (t) => {
  const { use, sent } = startNoting(t);
  for (let count = 0; count < 2_001; count += 1) use.note(newKeyId());
  await use.stop();
  assert.deepEqual(
    sent.map(({ size }) => size),
    [1_000, 1_000, 1],
  );
});
