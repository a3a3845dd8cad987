import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Upstream } from '#catalogue/catalogue.ts';
import { inOrder } from '#gateway/upstream/choosing.ts';

function named(name: string, weight?: number): Upstream {
  return { providerName: name, weight } as Upstream;
}

function order(upstreams: readonly [Upstream, ...Upstream[]], shares: readonly number[] = [], broken = ''): string {
  const left = [...shares];
  const isAskable = ({ providerName }: Upstream) => !broken.includes(providerName);
  return inOrder(upstreams, isAskable, () => left.shift() ?? 0)
    .map(({ providerName }) => providerName)
    .join('');
}

test('CC-16 upstreams are asked in catalogue order', () => {
  assert.equal(order([named('a'), named('b'), named('c')]), 'abc');
});

test('CC-16 weighted upstreams are drawn first, others follow in order', () => {
  const all = [named('a', 3), named('x'), named('b', 1), named('y')] as const;
  assert.equal(order(all, [0, 0]), 'abxy');
  assert.equal(order(all, [0.749, 0]), 'abxy');
  assert.equal(order(all, [0.75, 0]), 'baxy');
  assert.equal(order(all, [0.999, 0.999]), 'baxy');
});

test('CC-16 shares of many draws match the weights', () => {
  const all = [named('a', 1), named('b', 3)] as const;
  const shares = Array.from({ length: 100 }, (_, index) => index / 100);
  assert.equal(shares.filter((share) => order(all, [share]) === 'ab').length, 25);
});

test('CC-16 upstreams to avoid go last, in their order', () => {
  assert.equal(order([named('a'), named('b'), named('c'), named('d')], [], 'ac'), 'bdac');
  assert.equal(order([named('a'), named('b')], [], 'ab'), 'ab');
});
