import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Indexed, IndexedSet } from '#kernel/work/indexed-set.ts';
import { promotedShareOf } from '../../../../../tests/support/promoted.ts';

interface Named extends Indexed {
  readonly name: string;
}

const named = (name: string): Named => ({ name, place: -1 });

test('WA-17 an indexed set has what was added, not deleted', () => {
  const [a, b, c, d] = [named('a'), named('b'), named('c'), named('d')];
  const set = new IndexedSet<Named>();
  for (const one of [a, b, c]) set.add(one);
  assert.deepEqual(
    [a, c, a, d].map((one) => set.delete(one)),
    [true, true, false, false],
  );
  set.add(d);
  set.add(a);
  const names = () =>
    set
      .all()
      .map(({ name }) => name)
      .toSorted();
  assert.deepEqual(names(), ['a', 'b', 'd']);
  for (const one of set.all()) set.delete(one);
  assert.deepEqual(names(), []);
});

test('WA-17 what an indexed set had is collected with the young generation', () => {
  const set = new IndexedSet<Indexed & { readonly kept: object }>();
  const share = promotedShareOf((kept) => {
    const one = { kept, place: -1 };
    set.add(one);
    return () => set.delete(one);
  });
  assert.ok(share < 0.1, `${share} of it was promoted`); // Of a Set, 0.58.
});
