import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPace } from '#limits/pace.ts';

function paceAt(rate: { ratePerMinute: number; rateBurst: number }) {
  const clock = { ms: 0, nowMs: () => clock.ms };
  return { clock, pace: createPace(rate, clock) };
}

test('CP-11 a name has its burst, then its rate', () => {
  const { clock, pace } = paceAt({ ratePerMinute: 120, rateBurst: 3 });
  for (let taken = 0; taken < 3; taken += 1) assert.equal(pace.take('a'), undefined);
  const refusal = pace.take('a');
  assert.equal(refusal?.code, 'TOO_MANY_REQUESTS');
  assert.equal(refusal?.detail.retryAfterMs, 500);
  assert.equal(refusal?.detail.retryAfterSeconds, 1);
  assert.equal(pace.take('b'), undefined, 'another name has its own bucket');
  clock.ms = 499;
  assert.notEqual(pace.take('a'), undefined);
  clock.ms = 500;
  assert.equal(pace.take('a'), undefined);
  clock.ms = 3_600_000;
  for (let taken = 0; taken < 3; taken += 1) assert.equal(pace.take('a'), undefined);
  assert.notEqual(pace.take('a'), undefined, 'a bucket never holds more than its burst');
});

test('CP-11 the memory for names is bounded', () => {
  const { pace } = paceAt({ ratePerMinute: 1, rateBurst: 1 });
  assert.equal(pace.take('first'), undefined);
  assert.notEqual(pace.take('first'), undefined);
  for (let name = 0; name < 50_000; name += 1) pace.take(`other-${name}`);
  assert.equal(pace.take('first'), undefined);
});
