import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namesAny, standbysAsked } from '#db/health/standbys.ts';

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

test('OP-11 a `*` in synchronous_standby_names is found in each form', () => {
  const any = ['*', ' * ', 'FIRST 1 (*)', 'any 2(a, *)', '1 (*,a)', 'a, *'];
  for (const names of any) assert.ok(namesAny(names), names);
  for (const names of ['', 'a', 'ANY 1 (a, b)', '"*"', 'FIRST 1 ("*", b)']) assert.ok(!namesAny(names), names);
});
