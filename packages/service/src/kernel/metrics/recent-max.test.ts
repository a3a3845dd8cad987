import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRecentMax } from '#kernel/metrics/recent-max.ts';

test('OP-05 the recent maximum is forgotten after its turns', () => {
  const recent = createRecentMax(3);
  assert.equal(recent.read(), 0);
  recent.note(7);
  recent.note(5);
  recent.turn();
  recent.note(2);
  assert.deepEqual([recent.read(), recent.read()], [7, 7]);
  recent.turn();
  assert.equal(recent.read(), 7);
  recent.turn();
  assert.equal(recent.read(), 2);
});
