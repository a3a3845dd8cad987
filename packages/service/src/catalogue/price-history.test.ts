import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pastPrices } from '#catalogue/price-history.ts';
import type { PriceHistoryRow } from '#catalogue/queries.ts';

const ROW: Omit<PriceHistoryRow, 'price_id' | 'since_ms'> = {
  model_id: 'acme.large-1',
  provider: 'one',
  provider_model: 'large',
  effective_from_ms: null,
  ended_ms: null,
  input_micros_per_million: 1n,
  cached_input_micros_per_million: 1n,
  cache_write_micros_per_million: 1n,
  output_micros_per_million: 1n,
  margin_basis_points: 0,
  margin_micros_per_call: 0n,
  details: null,
};

test('MO-05 the history tells each upstream’s past, present and future prices', () => {
  const rows: readonly PriceHistoryRow[] = [
    { ...ROW, price_id: 1n, since_ms: 10 },
    { ...ROW, price_id: 2n, since_ms: 15, effective_from_ms: 20 },
    { ...ROW, price_id: 3n, since_ms: 15, effective_from_ms: 25, ended_ms: 18 },
    { ...ROW, price_id: 4n, since_ms: 16, effective_from_ms: 40 },
    { ...ROW, price_id: 5n, since_ms: 12, provider: 'two', ended_ms: 22 },
    { ...ROW, price_id: 6n, since_ms: 12, provider: 'three' },
  ];
  const told = pastPrices(rows, 30).map(({ price, fromMs, untilMs, state }) => [
    Number(price.price_id),
    fromMs,
    untilMs,
    state,
  ]);
  assert.deepEqual(told, [
    [1, 10, 20, 'past'], // The catalogue names it to this day, but another took its place.
    [2, 20, 40, 'current'],
    [3, 25, undefined, 'withdrawn'],
    [4, 40, undefined, 'future'],
    [5, 12, 22, 'past'],
    [6, 12, undefined, 'current'],
  ]);
});

test('MO-05 the history shows the price charged after a backdated edit', () => {
  const rows: readonly PriceHistoryRow[] = [
    { ...ROW, price_id: 1n, since_ms: 10, ended_ms: 30 },
    { ...ROW, price_id: 2n, since_ms: 15, effective_from_ms: 20, ended_ms: 30 },
    // A new margin, for the ordinary price and the one that took its place.
    { ...ROW, price_id: 3n, since_ms: 30 },
    { ...ROW, price_id: 4n, since_ms: 30, effective_from_ms: 20 },
  ];
  const told = pastPrices(rows, 40).map(({ fromMs, untilMs, state }) => [fromMs, untilMs, state]);
  assert.deepEqual(told, [
    [10, 20, 'past'],
    [20, 30, 'past'],
    [30, 30, 'past'],
    [30, undefined, 'current'],
  ]);
});
