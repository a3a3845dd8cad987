import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spanIdOf, spanIdOfTry, traceHeaders } from '#gateway/call/call-span.ts';
import { createBeginSpan, parseTraceparent, parseTracestate } from '#telemetry/trace-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

test('OP-07 a valid `traceparent` is read, an invalid one ignored', () => {
  assert.deepEqual(parseTraceparent(`00-${TRACE}-${SPAN}-01`), { traceId: TRACE, spanId: SPAN, isSampled: true });
  assert.equal(parseTraceparent(`00-${TRACE}-${SPAN}-02`)?.isSampled, false);
  assert.equal(parseTraceparent(`01-${TRACE}-${SPAN}-01-more`)?.traceId, TRACE, 'a later version may have more');
  const invalid = [
    undefined,
    [`00-${TRACE}-${SPAN}-01`],
    '',
    'CANARY',
    `00-${TRACE}-${SPAN}-01-more`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-${SPAN}-1`,
    ` 00-${TRACE}-${SPAN}-01`,
    `01-${TRACE}-${SPAN}-01-${'x'.repeat(512)}`,
  ];
  for (const one of invalid) assert.equal(parseTraceparent(one), undefined, String(one));
});

test('OP-07 a `tracestate` is taken whole or dropped', () => {
  assert.equal(parseTracestate('rojo=00f067aa0ba902b7, congo=t61rcWkgMzE'), 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE');
  assert.equal(parseTracestate('tenant@vendor=a b,,'), 'tenant@vendor=a b');
  const many = Array.from({ length: 33 }, (_, at) => `k${at}=1`).join(',');
  for (const one of [undefined, '', 'a', 'a=', 'A=1', 'a=1,a=2', 'a=1\r\nx: y', 'a=é', many, `a=${'x'.repeat(600)}`]) {
    assert.equal(parseTracestate(one), undefined, String(one));
  }
});

test('OP-07 the caller’s trace continues, and a new one has its own ids', () => {
  const begin = createBeginSpan({ followsParent: true, share: 1 });
  const within = begin(`00-${TRACE}-${SPAN}-01`, 'a=1');
  assert.deepEqual([within.traceId, within.parentId, within.isSampled, within.state], [TRACE, SPAN, true, 'a=1']);
  const [one, other] = [begin(undefined, 'a=1'), begin('CANARY', undefined)];
  assert.match(one.traceId, /^[\da-f]{32}$/);
  assert.match(one.spanId, /^[\da-f]{16}$/);
  assert.notEqual(one.traceId, other.traceId);
  assert.deepEqual([one.parentId, one.isSampled, one.state], [undefined, true, undefined]);
});

test('OP-07 the caller decides whether its trace is kept', () => {
  const following = createBeginSpan({ followsParent: true, share: 0 });
  assert.equal(following(`00-${TRACE}-${SPAN}-01`, undefined).isSampled, true);
  assert.equal(following(undefined, undefined).isSampled, false);
  const own = createBeginSpan({ followsParent: false, share: 1 });
  assert.equal(own(`00-${TRACE}-${SPAN}-00`, undefined).isSampled, true);
});

test('OP-07 a share of traces is kept, always the same ones', () => {
  const begin = createBeginSpan({ followsParent: false, share: 0.25 });
  const ids = Array.from({ length: 1_000 }, () => begin(undefined, undefined).traceId);
  const isKept = (id: string) => begin(`00-${id}-${SPAN}-00`, undefined).isSampled;
  const kept = ids.filter(isKept);
  assert.ok(kept.length > 150 && kept.length < 350, `${kept.length} of 1,000`);
  assert.deepEqual(kept, kept.filter(isKept));
});

test('OP-07 a provider gets its try’s exported span id', () => {
  const span = { traceId: TRACE, spanId: SPAN, parentId: undefined, isSampled: true, state: 'a=1' };
  assert.deepEqual(traceHeaders(span, 2), {
    traceparent: `00-${TRACE}-${spanIdOfTry(span, 2)}-01`,
    tracestate: 'a=1',
  });
  const ids = [
    SPAN,
    ...[1, 2, 3].map((part) => spanIdOf(span, part)),
    ...[1, 2, 3, 4, 5, 6].map((count) => spanIdOfTry(span, count)),
  ];
  assert.equal(new Set(ids).size, ids.length);
  assert.ok(ids.every((id) => /^[\da-f]{16}$/.test(id)));
});
