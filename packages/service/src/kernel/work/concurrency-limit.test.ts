import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConcurrencyLimit } from '#kernel/work/concurrency-limit.ts';

test('CP-11 work beyond the limits waits in order or is not run', async () => {
  const limit = createConcurrencyLimit({ runningMax: 2, waitingMax: 2 });
  const begun: number[] = [];
  const ends = [0, 1, 2, 3, 4].map(() => Promise.withResolvers<void>());
  const all = ends.map(({ promise }, index) =>
    limit.run(async () => {
      begun.push(index);
      await promise;
      if (index === 1) throw new Error('this work fails');
      return index;
    }),
  );
  assert.equal(await all[4], undefined);
  assert.deepEqual(begun, [0, 1]);
  ends[1]?.resolve();
  await assert.rejects(all[1] ?? Promise.resolve(), /this work fails/);
  assert.deepEqual(begun, [0, 1, 2]);
  for (const { resolve } of ends) resolve();
  assert.deepEqual(await Promise.all([all[0], all[2], all[3]]), [0, 2, 3]);
  assert.deepEqual(begun, [0, 1, 2, 3]);
  assert.equal(await limit.run(() => Promise.resolve('again')), 'again');
});
