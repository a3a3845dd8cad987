import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Listed, Roster } from '#kernel/work/indexed-set.ts';
import { promotedShareOf } from '../../../../../tests/support/promoted.ts';

interface Named extends Listed {
  readonly name: string;
}

const named = (name: string): Named => ({ name, place: -1 });

test('WA-17 a roster has what was added, not deleted', () => {
  const [a, b, c, d] = [named('a'), named('b'), named('c'), named('d')];
  const roster = new Roster<Named>();
  for (const one of [a, b, c]) roster.add(one);
  assert.deepEqual(
    [a, c, a, d].map((one) => roster.delete(one)),
    [true, true, false, false],
  );
  roster.add(d);
  roster.add(a);
  const names = () =>
    roster
      .all()
      .map(({ name }) => name)
      .toSorted();
  assert.deepEqual(names(), ['a', 'b', 'd']);
  for (const one of roster.all()) roster.delete(one);
  assert.deepEqual(names(), []);
});

test('WA-17 what a roster had is collected with the young generation', () => {
  const roster = new Roster<Listed & { readonly kept: object }>();
  const share = promotedShareOf((kept) => {
    const one = { kept, place: -1 };
    roster.add(one);
    return () => roster.delete(one);
  });
  assert.ok(share < 0.1, `${share} of it was promoted`); // Of a Set, 0.58.
});
