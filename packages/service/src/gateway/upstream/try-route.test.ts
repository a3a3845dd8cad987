import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Upstream } from '#catalogue/catalogue.ts';
import type { Asked } from '#gateway/call/call.ts';
import type { Hold } from '#gateway/call/lane.ts';
import type { Route } from '#gateway/call/route.ts';
import { createUpstreams, type Upstreams } from '#gateway/upstream/upstreams.ts';
import { ceilingOf } from '#catalogue/price.ts';
import { OwnSignal } from '#kernel/signal.ts';
import { UpstreamError, type UpstreamErrorKind } from '#providers/provider.ts';

const ASKED: Asked = { request: {}, requestText: '{}' };
const PROMPT = { tokensMax: 100, tokensEstimated: 25 };
const OUTPUT = 50;

const COMMON = { onAbandon: 'cancel', timeoutMs: 10_000, weight: undefined, firstByteMs: undefined } as const;

/** An upstream whose tokens all cost so many micros. */
function upstreamAt(providerName: string, micros = 1, more: Partial<Upstream> = {}): Upstream {
  const each = BigInt(micros) * 1_000_000n;
  return {
    providerName,
    provider: { kind: 'openai-compatible', baseUrl: `http://${providerName}.test/v1`, onAbandon: 'cancel' },
    providerModel: 'large',
    price: {
      priceId: BigInt(micros),
      inputMicrosPerMillion: each,
      cachedInputMicrosPerMillion: each,
      cacheWriteMicrosPerMillion: each,
      outputMicrosPerMillion: each,
      marginBasisPoints: 0n,
    },
    outputLimitParameter: 'max_tokens',
    ...COMMON,
    ...more,
  };
}

interface Setting {
  readonly isStream?: boolean;
  /** The granted hold; as much as the dearest costs unless given. */
  readonly granted?: bigint;
  readonly timeoutMs?: number;
}

function stage(keyCount = 1) {
  let nowMs = 0;
  const keysOf = () => Array.from({ length: keyCount }, (_, key) => `key-${key}`);
  const upstreams: Upstreams = createUpstreams({ keysOf, clock: { nowMs: () => nowMs }, random: () => 0 });
  return {
    upstreams,
    pass: (ms: number) => void (nowMs += ms),
    routeOf: (these: readonly Upstream[], { isStream = false, granted, timeoutMs = 30_000 }: Setting = {}) => {
      const gone = new OwnSignal();
      const dearest = these
        .map(({ price }) => ceilingOf(price, PROMPT.tokensMax, OUTPUT))
        .toSorted(byAmount)
        .at(-1);
      const app = { appId: 'app' };
      const call = {
        app,
        model: { timeoutMs, contextTokens: 100_000 },
        prompt: PROMPT,
        choices: 1,
        outputTokensMax: OUTPUT,
        isStream,
      };
      const hold = { mode: 'live', call: { ...call, upstreams: these }, granted: granted ?? dearest };
      return { gone, route: upstreams.routeOf(hold as unknown as Hold<'live'>, gone) };
    },
  };
}

function byAmount(left: bigint, right: bigint): number {
  return left < right ? -1 : 1;
}

function failure(kind: UpstreamErrorKind, retryAfterSeconds?: number): UpstreamError {
  return new UpstreamError(kind, `The provider: ${kind}.`, { retryAfterSeconds });
}

/** Takes the route with one failure after the other. Returns who was asked, and what the caller is told if nobody was left. */
function walk(route: Route, failures: readonly UpstreamError[]) {
  const asked: string[] = [];
  for (const fault of [...failures, undefined]) {
    assert.equal(route.begin(), undefined);
    asked.push(`${route.upstream.providerName}${route.key === 0 ? '' : ` ${route.key}`}`);
    const told = fault && route.failed(fault);
    if (told !== undefined) return { asked, told: told as UpstreamError };
  }
  route.answered();
  return { asked, told: undefined };
}

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

test('CC-16 an upstream that is dearer than the hold is not asked, with the output limit of the first', () => {
  const dear = upstreamAt('dear', 3);
  const all = [upstreamAt('first', 2), dear, upstreamAt('cheap', 1)];
  const needed = ceilingOf(dear.price, PROMPT.tokensMax, OUTPUT);
  const poor = stage().routeOf(all, { granted: needed - 1n }).route;
  assert.deepEqual(walk(poor, [failure('outage')]).asked, ['first', 'cheap']);
  const rich = stage().routeOf(all, { granted: needed }).route;
  assert.deepEqual(walk(rich, [failure('outage')]).asked, ['first', 'dear']);
  assert.equal(rich.outputTokens, OUTPUT);
});

test('CC-16 a lowered output limit is the same at every upstream, and one that it does not fit is not asked', () => {
  const first = upstreamAt('first', 2);
  const granted = ceilingOf(first.price, PROMPT.tokensMax, 20);
  const { route } = stage().routeOf([first, upstreamAt('dear', 3), upstreamAt('same', 2)], { granted });
  assert.equal(route.outputTokens, 20);
  assert.deepEqual(walk(route, [failure('throttled')]).asked, ['first', 'same']);
  assert.equal(route.callOf(ASKED).outputTokens, 20);
});

test('CC-16 a caller who has left is asked for at no other upstream', () => {
  const { route, gone } = stage().routeOf([upstreamAt('first'), upstreamAt('second')]);
  route.begin();
  gone.abort();
  const fault = failure('outage');
  assert.equal(route.failed(fault), fault);
});

test('CC-16 all tries of a call together have its model’s time', () => {
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

test('CC-16 the caller is told the most telling failure, with the shortest wait that a provider asked for', () => {
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

/** Makes an upstream's breaker open. */
function breakAt({ routeOf }: ReturnType<typeof stage>, upstream: Upstream, fault = failure('outage')): void {
  for (let count = 0; count < 3; count += 1) walk(routeOf([upstream]).route, [fault]);
}

test('CC-16 an upstream whose breaker is open goes last, is skipped, and gets one call as a test after its pause', () => {
  const all = [upstreamAt('first'), upstreamAt('second')] as const;
  const on = stage();
  breakAt(on, all[0]);
  assert.deepEqual(
    on.upstreams.inOrder(all).map(({ providerName }) => providerName),
    ['second', 'first'],
  );
  assert.deepEqual(walk(on.routeOf(all).route, []).asked, ['second']);
  assert.deepEqual(walk(on.routeOf(on.upstreams.inOrder(all)).route, [failure('throttled')]).asked, ['second']);
  on.pass(5_000);
  const test = on.routeOf(all).route;
  test.begin();
  assert.equal(test.upstream, all[0]);
  assert.deepEqual(walk(on.routeOf(all).route, []).asked, ['second'], 'one call tests');
  test.answered();
  assert.deepEqual(walk(on.routeOf(all).route, []).asked, ['first']);
});

test('CC-16 if every breaker is open, all are asked as if none were', () => {
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

test('CC-16 the keys of a pool take turns, and a throttled one hands the call to the next', () => {
  const one = [upstreamAt('first')];
  const on = stage(3);
  const asked = Array.from({ length: 4 }, () => walk(on.routeOf(one).route, []).asked[0]);
  assert.deepEqual(asked, ['first', 'first 1', 'first 2', 'first']);
  const { route } = on.routeOf([...one, upstreamAt('second')]);
  const throttled = failure('throttled');
  assert.deepEqual(walk(route, [throttled, throttled, throttled]).asked, ['first 1', 'first 2', 'first', 'second']);
});

test('CC-16 an outage concerns all keys of a pool, and a refused key only itself', () => {
  const all = [upstreamAt('first'), upstreamAt('second')];
  assert.deepEqual(walk(stage(3).routeOf(all).route, [failure('outage')]).asked, ['first', 'second']);
  const on = stage(2);
  // Each first call of a pair goes to key 0, which is refused.
  for (let count = 0; count < 3; count += 1) {
    walk(on.routeOf(all).route, [failure('unauthorized')]);
    walk(on.routeOf(all).route, []);
  }
  const asked = Array.from({ length: 4 }, () => walk(on.routeOf(all).route, []).asked[0]);
  assert.deepEqual(new Set(asked), new Set(['first 1']));
});

test('CC-16 a stream whose first chunk does not come in time goes on to the next upstream', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { routeOf } = stage();
  const { route } = routeOf([upstreamAt('first', 1, { firstByteMs: 2_000 }), upstreamAt('second')], { isStream: true });
  const caller = new OwnSignal();
  route.begin();
  const signal = route.signalFor(caller);
  t.mock.timers.tick(1_999);
  assert.equal(signal.aborted, false);
  t.mock.timers.tick(1);
  assert.deepEqual([signal.aborted, caller.aborted], [true, false]);
  assert.equal(route.failed(failure('given-up')), undefined);
  route.begin();
  assert.equal(route.upstream.providerName, 'second');
  const second = route.signalFor(caller);
  route.answered();
  t.mock.timers.tick(60_000);
  assert.equal(second.aborted, false, 'the limit is for the first chunk');
  caller.abort();
  assert.equal(second.aborted, true);
});

test('CC-16 a stream with nobody to go on to waits as long as its model lets it, and makes no timer', () => {
  const { route } = stage().routeOf([upstreamAt('only')], { isStream: true });
  const caller = new OwnSignal();
  route.begin();
  assert.equal(route.signalFor(caller), caller);
});

test('CC-11 a caller who leaves before the first chunk is not taken for a slow provider', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { route, gone } = stage().routeOf([upstreamAt('first'), upstreamAt('second')], { isStream: true });
  const caller = new OwnSignal();
  route.begin();
  const signal = route.signalFor(caller);
  gone.abort();
  caller.abort();
  assert.equal(signal.aborted, true);
  const fault = failure('given-up');
  assert.equal(route.failed(fault), fault);
});

test('CC-16 a provider without room hands its calls to the next upstream, and its place is free again when a call ends', () => {
  const full = upstreamAt('first');
  const limited = { ...full, provider: { ...full.provider, limits: { callsAtOnce: 1, queueMs: 0 } } };
  const all = [limited, upstreamAt('second')];
  const on = stage();
  const first = on.routeOf(all, { isStream: true }).route;
  first.begin();
  first.answered();
  const second = on.routeOf(all).route;
  assert.throws(() => second.begin(), { kind: 'throttled' });
  assert.equal(second.failed(failure('throttled')), undefined);
  second.begin();
  assert.deepEqual([second.upstream.providerName, second.tries], ['second', 1]);
  first.ended();
  first.ended();
  assert.deepEqual(walk(on.routeOf(all).route, []).asked, ['first']);
  assert.deepEqual(walk(on.routeOf([limited]).route, []).asked, ['first'], 'being full is no evidence against it');
});
