import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Offer } from '#catalogue/shown-price.ts';
import { modelFilters, narrowed } from '#web/console/home/model-list.ts';

/** Makes as much of an offer as the list looks at. */
function offer(name: string, id: string, [input, output, contextTokens]: readonly [bigint, bigint, number]): Offer {
  return { name, model: { id, contextTokens }, prices: [{ tiers: [{ input, output }] }] } as unknown as Offer;
}

const OFFERS = [
  offer('acme.large-1', 'acme.large-1', [300n, 900n, 200_000]),
  offer('acme.small-1', 'acme.small-1', [20n, 1_000n, 8_000]),
  offer('best', 'other.wide-2', [20n, 80n, 1_000_000]),
  offer('other.wide-2', 'other.wide-2', [20n, 80n, 1_000_000]),
];
const found = (query: string) => narrowed(OFFERS, modelFilters(new URLSearchParams(query))).map(({ name }) => name);

test('MO-06 a model search matches all words', () => {
  assert.deepEqual(found(''), ['acme.large-1', 'acme.small-1', 'best', 'other.wide-2']);
  assert.deepEqual(found('q=ACME+1'), ['acme.large-1', 'acme.small-1']);
  assert.deepEqual(found('q=wide'), ['best', 'other.wide-2']);
  assert.deepEqual(found('q=wide+acme'), []);
  assert.deepEqual(found('provider=other&q=best'), ['best']);
  assert.deepEqual(found('provider=acm'), []);
});

test('MO-06 models sort by price, context or name', () => {
  assert.deepEqual(found('sort=input'), ['acme.small-1', 'best', 'other.wide-2', 'acme.large-1']);
  assert.deepEqual(found('sort=output'), ['best', 'other.wide-2', 'acme.large-1', 'acme.small-1']);
  assert.deepEqual(found('sort=context'), ['best', 'other.wide-2', 'acme.large-1', 'acme.small-1']);
  assert.deepEqual(found('sort=constructor'), found('sort=name'));
});
