import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHashingLimit } from '#developers/sign-in/hashing-limit.ts';
import { Refusal } from '#kernel/faults/refusal.ts';

test('CP-01 two passwords hash, 32 wait, and more are refused', async () => {
  const limitHashing = createHashingLimit();
  const end = Promise.withResolvers<void>();
  let begun = 0;
  const all = Array.from({ length: 35 }, () =>
    limitHashing(async () => {
      begun += 1;
      await end.promise;
      return true;
    }),
  );
  const refused = await all[34];
  assert.ok(refused instanceof Refusal && refused.code === 'TOO_MANY_REQUESTS');
  assert.equal(refused.detail.retryAfterSeconds, 1);
  assert.equal(begun, 2);
  end.resolve();
  assert.deepEqual(
    (await Promise.all(all)).slice(0, 34),
    Array.from({ length: 34 }, () => true),
  );
});
