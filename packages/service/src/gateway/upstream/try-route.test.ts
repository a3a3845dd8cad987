import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ceilingOf } from '#catalogue/price.ts';
import { UpstreamError } from '#providers/port/provider.ts';
import {
  ASKED,
  OUTPUT,
  PROMPT,
  breakAt,
  failure,
  stage,
  upstreamAt,
  walk,
} from '../../../../../tests/support/route-stage.ts';

for (const kind of ['throttled', 'outage', 'timeout', 'unauthorized'] as const) {
  test(`CC-16 a call goes on to the next upstream after: ${kind}`, () => {
    const { route } = stage().routeOf([upstreamAt('first'), upstreamAt('second')]);
    const { asked, told } = walk(route, [failure(kind)]);
    assert.deepEqual([asked, told, route.tries], [['first', 'second'], undefined, 2]);
  });
}

for (const kind of [
  'rejected',
  'too-long',
  'refused',
  'given-up',
  'unsent',
  'malformed',
  'cut',
  'too-large',
] as const) {
  test(`CC-16 a call asks no other upstream after: ${kind}`, () => {
    const { route } = stage().routeOf([upstreamAt('first'), upstreamAt('second')]);
    const fault = failure(kind);
    assert.deepEqual(walk(route, [fault, failure('outage')]), { asked: ['first'], told: fault });
  });
}

test('CC-16 an upstream dearer than the hold is skipped', () => {
  const dear = upstreamAt('dear', 3);
  const all = [upstreamAt('first', 2), dear, upstreamAt('cheap', 1)];
  const needed = ceilingOf(dear.price, PROMPT.tokensMax, OUTPUT);
  const askedWith = (granted: bigint) => walk(stage().routeOf(all, { granted }).route, [failure('outage')]).asked;
  assert.deepEqual(askedWith(needed - 1n), ['first', 'cheap']);
  assert.deepEqual(askedWith(needed), ['first', 'dear']);
});

test('CC-16 a lowered output limit is the same at every upstream', () => {
  const first = upstreamAt('first', 2);
  const granted = ceilingOf(first.price, PROMPT.tokensMax, 20);
  const { route } = stage().routeOf([first, upstreamAt('dear', 3), upstreamAt('same', 2)], { granted });
  assert.equal(route.outputTokens, 20);
  assert.deepEqual(walk(route, [failure('throttled')]).asked, ['first', 'same']);
  assert.equal(route.callOf(ASKED).outputTokens, 20);
});

test('CC-16 an absent caller’s call asks no other upstream', () => {
  const { route, gone } = stage().routeOf([upstreamAt('first'), upstreamAt('second')]);
  route.begin();
  gone.abort();
  const fault = failure('outage');
  assert.equal(route.failed(fault), fault);
});

test('CC-16 all tries of a call share its time', () => {
  const { routeOf, pass } = stage();
  const three = [upstreamAt('first'), upstreamAt('second'), upstreamAt('third')];
  const { route } = routeOf(three, { timeoutMs: 15_000 });
  route.begin();
  assert.equal(route.callOf(ASKED).timeoutMs, 10_000);
  pass(10_000);
  assert.equal(route.failed(failure('timeout')), undefined);
  route.begin();
  assert.equal(route.callOf(ASKED).timeoutMs, 5_000);
  pass(5_000);
  assert.ok(route.failed(failure('timeout')) instanceof UpstreamError);
  assert.equal(route.tries, 2);
});

test('CC-16 the caller gets the most telling failure and shortest wait', () => {
  const three = [upstreamAt('first'), upstreamAt('second'), upstreamAt('third')];
  const told = (...failures: UpstreamError[]) => {
    const { route } = stage().routeOf(three);
    const { kind, retryAfterSeconds } = walk(route, failures).told ?? assert.fail('it was answered');
    return [kind, retryAfterSeconds, route.upstream.providerName];
  };
  assert.deepEqual(told(failure('outage'), failure('throttled', 20), failure('timeout')), ['throttled', 20, 'second']);
  assert.deepEqual(told(failure('throttled', 20), failure('throttled', 3), failure('throttled')), [
    'throttled',
    3,
    'first',
  ]);
  assert.deepEqual(told(failure('unauthorized'), failure('outage'), failure('unauthorized')), [
    'outage',
    undefined,
    'second',
  ]);
  assert.deepEqual(told(failure('outage'), failure('timeout'), failure('outage', 9)), ['timeout', undefined, 'second']);
  assert.deepEqual(told(failure('throttled', 5), failure('rejected')), ['rejected', undefined, 'second']);
});

test('CC-16 an upstream with an open breaker goes last', () => {
  const all = [upstreamAt('first'), upstreamAt('second')] as const;
  const on = stage();
  breakAt(on, all[0]);
  assert.deepEqual(
    on.upstreams.inOrder(all).map(({ providerName }) => providerName),
    ['second', 'first'],
  );
  assert.deepEqual(walk(on.routeOf(all).route, []).asked, ['second']);
  const both = [failure('throttled'), failure('outage')];
  assert.deepEqual(walk(on.routeOf(on.upstreams.inOrder(all)).route, both).asked, ['second', 'first']);
  on.pass(5_000);
  const test = on.routeOf(all).route;
  test.begin();
  assert.equal(test.upstream, all[0]);
  assert.deepEqual(walk(on.routeOf(all).route, []).asked, ['second'], 'one call tests');
  test.answered();
  assert.deepEqual(walk(on.routeOf(all).route, []).asked, ['first']);
});

test('CC-16 if every breaker is open, all are asked as usual', () => {
  const all = [upstreamAt('first'), upstreamAt('second')];
  const on = stage();
  for (const upstream of all) breakAt(on, upstream);
  assert.deepEqual(walk(on.routeOf(all).route, [failure('outage')]).asked, ['first', 'second']);
});

test('CC-16 rejections open no breaker', () => {
  const all = [upstreamAt('first'), upstreamAt('second')];
  const on = stage();
  for (let count = 0; count < 20; count += 1) breakAt(on, upstreamAt('first'), failure('rejected'));
  assert.deepEqual(walk(on.routeOf(all).route, []).asked, ['first']);
});
