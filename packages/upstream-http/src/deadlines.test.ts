import assert from 'node:assert/strict';
import { test } from 'node:test';
import { promotedShareOf } from '../../../tests/support/promoted.ts';
import { Deadlines } from './deadlines.ts';

const TICK_MS = 100;

test('CC-09 what has met its deadline is collected with the young generation', () => {
  const deadlines = new Deadlines();
  const share = promotedShareOf((kept) => {
    const timed = { ticksLeft: Number.POSITIVE_INFINITY, place: -1, onOverdue: () => assert.equal(kept, undefined) };
    deadlines.add(timed);
    return () => {
      deadlines.remove(timed);
      deadlines.remove(timed);
    };
  });
  assert.ok(share < 0.1, `${share} of it was promoted`);
});

test('CC-09 simultaneous deadlines each fire once, even if one removes another', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const deadlines = new Deadlines();
  const told: string[] = [];
  const timedAs = (name: string, ticksLeft: number, act: () => void) => {
    const timed = {
      ticksLeft,
      place: -1,
      onOverdue: () => {
        told.push(name);
        deadlines.remove(timed);
        act();
      },
    };
    deadlines.add(timed);
    return timed;
  };
  timedAs('first', 1, () => deadlines.remove(taken));
  const taken = timedAs('taken', 1, () => {});
  timedAs('third', 1, () => {});
  timedAs('last', 2, () => {});
  t.mock.timers.tick(TICK_MS);
  assert.deepEqual(told, ['first', 'third']);
  t.mock.timers.tick(TICK_MS);
  assert.deepEqual(told, ['first', 'third', 'last']);
});
