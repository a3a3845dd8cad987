import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bucketOf } from '#calls/stats/call-sums.ts';
import { BOUNDS_MS, BUCKETS, latencyOf } from '#calls/stats/latency.ts';

test('CP-04 a duration’s bucket is the first fitting it', () => {
  for (const [bucket, bound] of BOUNDS_MS.entries()) {
    assert.equal(bucketOf(bound), bucket);
    assert.equal(bucketOf(bound + 0.1), bucket + 1);
  }
  assert.equal(bucketOf(1e9), BUCKETS - 1);
  assert.equal(bucketOf(0), 0);
});

test('CP-04 percentiles are found within buckets, and no answers give none', () => {
  const none = Array.from({ length: BUCKETS }, () => 0);
  assert.deepEqual(latencyOf(none), { buckets: none, count: 0, p50Ms: undefined, p95Ms: undefined });
  const buckets = none.with(2, 90).with(10, 10); // 90 answers between 50 and 100 ms, 10 between 2.5 and 5 s.
  const { count, p50Ms, p95Ms } = latencyOf(buckets);
  assert.deepEqual([count, p50Ms, p95Ms], [100, Math.round(50 + (50 * 50) / 90), 3_750]);
  assert.equal(latencyOf(none.with(BUCKETS - 1, 3)).p50Ms, 80_000);
});
