import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repeat } from '#kernel/time/repeat.ts';

test('OP-12 work never runs twice at once, and stop waits for it', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const turns: PromiseWithResolvers<void>[] = [];
  const repeated = repeat(() => {
    const turn = Promise.withResolvers<void>();
    turns.push(turn);
    return turn.promise;
  }, 100);
  t.mock.timers.tick(350);
  assert.equal(turns.length, 1, 'runs that were due meanwhile are skipped');
  turns[0]?.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  t.mock.timers.tick(100);
  assert.equal(turns.length, 2);
  let isStopped = false;
  const stopping = repeated.stop().then(() => (isStopped = true));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isStopped, false);
  turns[1]?.resolve();
  await stopping;
  t.mock.timers.tick(500);
  assert.equal(turns.length, 2);
});
