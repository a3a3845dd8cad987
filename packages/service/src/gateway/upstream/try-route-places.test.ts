import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OwnSignal } from '#kernel/work/signal.ts';
import { refusalOfUpstream } from '#gateway/answer/upstream-refusals.ts';
import { readMetrics, renderMetrics } from '#kernel/metrics/metrics.ts';
import { UpstreamError } from '#providers/port/provider.ts';
import { breakAt, failure, stage, upstreamAt, walk } from '../../../../../tests/support/route-stage.ts';

function faultOf(work: () => unknown): UpstreamError {
  try {
    work();
  } catch (fault) {
    if (fault instanceof UpstreamError) return fault;
  }
  throw new Error('It was let in.');
}

/** The gauge of the only upstream. */
function isOpen(): string | undefined {
  return /^purser_upstream_open\{.*\} (\d)$/m.exec(renderMetrics(readMetrics()))?.[1];
}

test('CC-16 pool keys take turns, and throttled ones pass calls on', () => {
  const one = [upstreamAt('first')];
  const on = stage(3);
  const asked = Array.from({ length: 4 }, () => walk(on.routeOf(one).route, []).asked[0]);
  assert.deepEqual(asked, ['first', 'first 1', 'first 2', 'first']);
  const { route } = on.routeOf([...one, upstreamAt('second')]);
  const throttled = failure('throttled');
  assert.deepEqual(walk(route, [throttled, throttled, throttled]).asked, ['first 1', 'first 2', 'first', 'second']);
});

test('CC-16 an outage affects the pool, a refused key only itself', () => {
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

test('CC-16 a stream with a late first chunk changes upstream', (t) => {
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

test('CC-16 a stream without alternatives waits without a timer', () => {
  const { route } = stage().routeOf([upstreamAt('only')], { isStream: true });
  const caller = new OwnSignal();
  route.begin();
  assert.equal(route.signalFor(caller), caller);
});

test('CC-11 a caller who leaves early makes no provider look slow', (t) => {
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

test('CC-16 a full provider hands its calls to the next upstream', () => {
  const full = upstreamAt('first');
  const limited = { ...full, provider: { ...full.provider, limits: { callsAtOnce: 1, queueMs: 0 } } };
  const all = [limited, upstreamAt('second')];
  const on = stage();
  const first = on.routeOf(all, { isStream: true }).route;
  first.begin();
  first.answered();
  const second = on.routeOf(all).route;
  assert.throws(() => second.begin(), { kind: 'throttled', isOwnLimit: true });
  assert.equal(second.failed(failure('throttled')), undefined);
  second.begin();
  assert.deepEqual([second.upstream.providerName, second.tries], ['second', 1]);
  first.ended();
  first.ended();
  assert.deepEqual(walk(on.routeOf(all).route, []).asked, ['first']);
  assert.deepEqual(walk(on.routeOf([limited]).route, []).asked, ['first'], 'being full is no evidence against it');
});

test('CC-16 a call frees its place even after a limit edit', () => {
  const open = upstreamAt('first');
  const limited = () => ({ ...open, provider: { ...open.provider, limits: { callsAtOnce: 1, queueMs: 0 } } });
  const on = stage();
  const { route } = on.routeOf([limited()], { isStream: true });
  route.begin();
  route.answered();
  walk(on.routeOf([{ ...open }]).route, []); // The limits are gone,
  route.ended();
  assert.deepEqual(walk(on.routeOf([limited()]).route, []).asked, ['first'], 'and are back, and nothing is under way');
});

test('CC-17 a call that all limits refuse learns when to return', () => {
  const limits = { callsPerMinute: 1, queueMs: 0 };
  const limited = [upstreamAt('first'), upstreamAt('second')].map((upstream) => {
    return { ...upstream, provider: { ...upstream.provider, limits } };
  });
  const on = stage();
  for (const upstream of limited) {
    walk(on.routeOf([upstream]).route, []);
    on.pass(20_000);
  }
  const { route } = on.routeOf(limited.toReversed()); // The shortest wait is that of the one asked last.
  assert.equal(route.failed(faultOf(() => route.begin())), undefined);
  const told = route.failed(faultOf(() => route.begin()));
  assert.ok(told instanceof UpstreamError);
  const { message, code, detail } = refusalOfUpstream(told);
  assert.deepEqual([code, detail.retryAfterSeconds], ['UPSTREAM_THROTTLED', 20]);
  assert.match(message, /its own limit is used up\. Nothing was charged\. Try again after 20 s\./);
  assert.match(refusalOfUpstream(failure('throttled', 7)).message, /^The model provider is throttling calls/);
});

test('CC-16 an idle upstream counts as open while calls avoid it', () => {
  const on = stage();
  breakAt(on, upstreamAt('first'));
  on.pass(4_999);
  assert.equal(isOpen(), '1');
  on.pass(1);
  assert.equal(isOpen(), '0');
  const { route } = on.routeOf([upstreamAt('first')]);
  route.begin();
  assert.equal(isOpen(), '1', 'its test is under way');
  route.answered();
  assert.equal(isOpen(), '0');
});
