import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDrains } from '#gateway/stream/drains.ts';

const LIMITS = { msMax: 1_000, bytesMax: 100, drainsMax: 3, bytesOfAllMax: 150 };

/** Drains that record the names of those that are given up. */
function watched(limits = LIMITS) {
  const drains = createDrains(limits);
  const ended: string[] = [];
  return { ended, begin: (name: string) => drains.begin(() => ended.push(name)) };
}

test('CC-11 one drain too many ends the oldest', () => {
  const { ended, begin } = watched();
  const [first] = [begin('first'), begin('second'), begin('third')];
  assert.deepEqual(ended, []);
  first?.end();
  begin('fourth');
  assert.deepEqual(ended, []);
  begin('fifth');
  assert.deepEqual(ended, ['second']);
});

test('CC-11 a drain reads up to its limit and no further', () => {
  const { ended, begin } = watched();
  const drain = begin('far');
  drain.read(100);
  assert.deepEqual(ended, []);
  drain.read(1);
  drain.read(1);
  assert.deepEqual(ended, ['far']);
});

test('CC-11 when all drains together read too much, the oldest ends', () => {
  const { ended, begin } = watched();
  const old = begin('old');
  const young = begin('young');
  old.read(60);
  young.read(90);
  assert.deepEqual(ended, []);
  young.read(1);
  assert.deepEqual(ended, ['old']);
  young.end();
  const next = begin('next');
  next.read(100);
  begin('last').read(50); // The bytes read by ended drains no longer count.
  assert.deepEqual(ended, ['old']);
});

test('CC-11 a drain ends when its time is up', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { ended, begin } = watched();
  begin('slow');
  begin('quick').end();
  t.mock.timers.tick(999);
  assert.deepEqual(ended, []);
  t.mock.timers.tick(1);
  assert.deepEqual(ended, ['slow']);
});
