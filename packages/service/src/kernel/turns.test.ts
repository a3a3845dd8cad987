import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTurns } from '#kernel/turns.ts';

test('so much runs at a time, so much waits, in the order in which it came, and the rest is not done', async () => {
  const turns = createTurns({ runningMax: 2, waitingMax: 2 });
  const begun: number[] = [];
  const ends = [0, 1, 2, 3, 4].map(() => Promise.withResolvers<void>());
  const all = ends.map(({ promise }, index) =>
    turns.take(async () => {
      begun.push(index);
      await promise;
      if (index === 1) throw new Error('one that fails');
      return index;
    }),
  );
  assert.equal(await all[4], undefined);
  assert.deepEqual(begun, [0, 1]);
  ends[1]?.resolve();
  await assert.rejects(all[1] ?? Promise.resolve(), /one that fails/);
  assert.deepEqual(begun, [0, 1, 2]);
  for (const { resolve } of ends) resolve();
  assert.deepEqual(await Promise.all([all[0], all[2], all[3]]), [0, 2, 3]);
  assert.deepEqual(begun, [0, 1, 2, 3]);
  assert.equal(await turns.take(() => Promise.resolve('again')), 'again');
});
