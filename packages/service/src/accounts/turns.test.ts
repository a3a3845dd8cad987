import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTurns } from '#accounts/turns.ts';
import { Refusal } from '#kernel/refusal.ts';

test('CP-01 so much work is done at once, so much waits in order, and what comes on top of it is refused undone', async () => {
  const inTurn = createTurns({ atOnceMax: 2, waitingMax: 2 });
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const work = (number: number) => async () => {
    begun.push(number);
    await new Promise<void>((resolve) => ends.push(resolve));
    if (number === 0) throw new Error('broken');
    return number;
  };
  const first = inTurn(work(0));
  const others = [1, 2, 3].map((number) => inTurn(work(number)));
  const refused = await inTurn(work(4));
  assert.ok(refused instanceof Refusal && refused.code === 'TOO_MANY_REQUESTS');
  assert.equal(refused.detail.retryAfterSeconds, 1);
  assert.deepEqual(begun, [0, 1]);
  ends[0]?.();
  await assert.rejects(first, /broken/); // What fails gives its place on all the same.
  await settled();
  assert.deepEqual(begun, [0, 1, 2]);
  ends[1]?.();
  ends[2]?.();
  await settled();
  assert.deepEqual(begun, [0, 1, 2, 3]);
  ends[3]?.();
  assert.deepEqual(await Promise.all(others), [1, 2, 3]);
  const again = inTurn(work(5));
  await settled();
  ends[4]?.();
  assert.equal(await again, 5);
});

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
