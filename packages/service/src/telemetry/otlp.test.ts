import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallSpan } from '#gateway/call/call-span.ts';
import type { SpanFacts } from '#telemetry/call-spans.ts';
import { metricsToWire } from '#telemetry/metrics-to-wire.ts';
import { encode, metricsRequest, nanosOf, spansToWire, tracesRequest } from '#telemetry/otlp.ts';
import type { OtlpTarget } from '#telemetry/settings.ts';
import { decodeOtlp } from '../../../../tests/support/otlp-receiver.ts';

const TARGET = { url: 'http://127.0.0.1:4318', headers: {}, timeoutMs: 1, isCompressed: false } as const;
const PROTOBUF: OtlpTarget = { ...TARGET, protocol: 'http/protobuf' };
const JSON_TARGET: OtlpTarget = { ...TARGET, protocol: 'http/json' };
const ORIGIN = { resource: { 'service.name': 'purser', team: 'Zürich' }, version: '0.1.0' };
const SPAN: CallSpan = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  parentId: '00f067aa0ba902b7',
  isSampled: true,
  state: 'a=1',
};

function facts(more: Partial<SpanFacts>): SpanFacts {
  const { spanId, parentId } = SPAN;
  const named = { name: 'POST /v1/chat/completions', kind: 'server', hasFailed: false } as const;
  return { ...named, spanId, parentId, startMs: 1.25, endMs: 1_000.5, attributes: {}, ...more };
}

/** What a receiver reads of both encodings of the same request. */
function read(request: 'TracesRequest' | 'MetricsRequest', value: Parameters<typeof encode>[2]) {
  const path = request === 'TracesRequest' ? '/v1/traces' : '/v1/metrics';
  return [
    decodeOtlp(path, encode(PROTOBUF, request, value)) as unknown,
    JSON.parse(encode(JSON_TARGET, request, value).toString()) as unknown,
  ] as const;
}

test('OP-07 a trace reads the same in both encodings', () => {
  const attributes = {
    text: 'é €',
    whole: 42,
    negative: -1,
    share: 0.25,
    isTrue: true,
    isFalse: false,
    none: undefined,
  };
  const spans = spansToWire(
    SPAN,
    [facts({ attributes }), facts({ kind: 'client', hasFailed: true })],
    1_700_000_000_000,
  );
  const [fromProtobuf, fromJson] = read('TracesRequest', tracesRequest(ORIGIN, spans));
  assert.deepEqual(fromProtobuf, fromJson);
  assert.equal(spans[0]?.['startTimeUnixNano'], '1700000000001250000');
  assert.equal(spans[0]?.['flags'], 0x301, 'sampled, with a parent of another process');
});

test('OP-07 metrics read the same in both encodings', () => {
  const metrics = metricsToWire(
    [
      {
        name: 'purser_calls_total',
        kind: 'counter',
        help: 'Calls.',
        across: 'sum',
        samples: [
          ['{mode="live",outcome="answered"}', 3],
          ['{mode="sandbox",outcome="failed"}', 0],
        ],
      },
      {
        name: 'purser_call_seconds',
        kind: 'histogram',
        help: 'Times.',
        across: 'sum',
        samples: [],
        distribution: { bounds: [0.1, 1], series: [['model="a",mode="live"', [2, 0, 1], 3.5]] },
      },
      { name: 'purser_process_heap_used_bytes', kind: 'gauge', help: 'Heap.', across: 'sum', samples: [['', 1.5]] },
    ],
    { startMs: 1_700_000_000_000, nowMs: 1_700_000_060_000 },
  );
  const [fromProtobuf, fromJson] = read('MetricsRequest', metricsRequest(ORIGIN, metrics));
  assert.deepEqual(fromProtobuf, fromJson);
  assert.deepEqual(
    metrics.map(({ unit }) => unit),
    ['1', 's', 'By'],
  );
});

test('OP-07 a request beyond the first buffer is whole', () => {
  const spans = spansToWire(
    SPAN,
    Array.from({ length: 500 }, () => facts({ attributes: { a: 'x'.repeat(200) } })),
    0,
  );
  const [fromProtobuf, fromJson] = read('TracesRequest', tracesRequest(ORIGIN, spans));
  assert.deepEqual(fromProtobuf, fromJson);
});

test('OP-07 lists of numbers are packed into one field', () => {
  const dataPoints = [{ bucketCounts: ['1', '2'] }];
  const request = { resourceMetrics: [{ scopeMetrics: [{ metrics: [{ histogram: { dataPoints } }] }] }] };
  const bytes = encode(PROTOBUF, 'MetricsRequest', request);
  assert.equal(bytes.subarray(-18).toString('hex'), '321001000000000000000200000000000000');
});

test('OP-07 a field missing from the schema is a fault', () => {
  assert.throws(() => encode(PROTOBUF, 'TracesRequest', { spans: [] }), /has a field spans/);
});

test('OP-07 times are exact to the microsecond', () => {
  assert.equal(nanosOf(1_795_442_400_123.456), '1795442400123456055');
});
