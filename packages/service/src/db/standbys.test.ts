import assert from 'node:assert/strict';
import { test } from 'node:test';
import { standbysAsked } from '#db/standbys.ts';

test('OP-11 each form of synchronous_standby_names yields its number of awaited standbys', () => {
  for (const [names, asked] of [
    ['', 0],
    [' ', 0],
    ['*', 1],
    ['a, b', 1],
    ['any', 1],
    ['2 (a, b, c)', 2],
    ['FIRST 3 (a, b, c)', 3],
    [' any 2(*)', 2],
  ] as const) {
    assert.equal(standbysAsked(names), asked, names);
  }
});
