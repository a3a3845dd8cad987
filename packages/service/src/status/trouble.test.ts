import assert from 'node:assert/strict';
import { test } from 'node:test';
import { troubleOf } from '#status/trouble.ts';

const minute = (calls: number, firstByteMs?: number) => ({ lastMinute: { calls, firstByteMs } });
const UP = { state: 'closed', testInMs: undefined } as const;
const OPEN = { state: 'open', testInMs: 5_000 } as const;
/** Its pause is over, and the next call will tell. */
const DUE = { state: 'open', testInMs: 0 } as const;

test('OP-14 a model is out when all its upstreams’ breakers are open', () => {
  const { out } = troubleOf([
    { models: ['a.both', 'a.one'], ...OPEN, ...minute(0) },
    { models: ['a.both'], ...DUE, ...minute(1) },
    { models: ['a.one'], ...UP, ...minute(0) },
    { models: ['a.long-ago'], ...DUE, ...minute(0) },
    { models: ['a.testing'], state: 'testing', testInMs: 0, ...minute(3) },
  ]);
  assert.deepEqual(out, ['a.both', 'a.testing']);
});

test('OP-14 the stream start time is averaged over upstreams', () => {
  const { firstByteMs } = troubleOf([
    { models: ['a.both', 'a.few'], ...UP, ...minute(3, 1_000) },
    { models: ['a.both'], ...UP, ...minute(9, 200) },
    { models: ['a.both', 'a.plain'], ...UP, ...minute(90) },
  ]);
  assert.deepEqual([...firstByteMs], [['a.both', 400]]);
});
