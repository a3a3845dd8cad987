import type { CallSpan } from '#gateway/call/call-span.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import type { SpanFacts, SpanValue } from '#telemetry/call-spans.ts';
import { SCOPE } from '#telemetry/names.ts';
import { encodeMessage, type Messages } from '#telemetry/protobuf.ts';
import type { OtlpTarget } from '#telemetry/settings.ts';

/**
 * The messages of OTLP 1.x (opentelemetry-proto, released versions are stable), as far as we send it. Both encodings
 * come from the same objects: JSON as they are, protobuf by this table. A test decodes them with the published schema.
 */
const MESSAGES: Messages = {
  TracesRequest: { resourceSpans: [1, 'ResourceSpans', true] },
  ResourceSpans: { resource: [1, 'Resource'], scopeSpans: [2, 'ScopeSpans', true] },
  Resource: { attributes: [1, 'KeyValue', true] },
  ScopeSpans: { scope: [1, 'Scope'], spans: [2, 'Span', true] },
  Scope: { name: [1, 'string'], version: [2, 'string'] },
  Span: {
    traceId: [1, 'hex'],
    spanId: [2, 'hex'],
    traceState: [3, 'string'],
    parentSpanId: [4, 'hex'],
    name: [5, 'string'],
    kind: [6, 'enum'],
    startTimeUnixNano: [7, 'fixed64'],
    endTimeUnixNano: [8, 'fixed64'],
    attributes: [9, 'KeyValue', true],
    status: [15, 'Status'],
    flags: [16, 'fixed32'],
  },
  Status: { code: [3, 'enum'] },
  KeyValue: { key: [1, 'string'], value: [2, 'AnyValue'] },
  AnyValue: { stringValue: [1, 'string'], boolValue: [2, 'bool'], intValue: [3, 'int64'], doubleValue: [4, 'double'] },
  MetricsRequest: { resourceMetrics: [1, 'ResourceMetrics', true] },
  ResourceMetrics: { resource: [1, 'Resource'], scopeMetrics: [2, 'ScopeMetrics', true] },
  ScopeMetrics: { scope: [1, 'Scope'], metrics: [2, 'Metric', true] },
  Metric: {
    name: [1, 'string'],
    description: [2, 'string'],
    unit: [3, 'string'],
    gauge: [5, 'Gauge'],
    sum: [7, 'Sum'],
    histogram: [9, 'Histogram'],
  },
  Gauge: { dataPoints: [1, 'NumberDataPoint', true] },
  Sum: { dataPoints: [1, 'NumberDataPoint', true], aggregationTemporality: [2, 'enum'], isMonotonic: [3, 'bool'] },
  Histogram: { dataPoints: [1, 'HistogramDataPoint', true], aggregationTemporality: [2, 'enum'] },
  NumberDataPoint: {
    startTimeUnixNano: [2, 'fixed64'],
    timeUnixNano: [3, 'fixed64'],
    asDouble: [4, 'double'],
    attributes: [7, 'KeyValue', true],
  },
  HistogramDataPoint: {
    startTimeUnixNano: [2, 'fixed64'],
    timeUnixNano: [3, 'fixed64'],
    count: [4, 'fixed64'],
    sum: [5, 'double'],
    bucketCounts: [6, 'fixed64', true],
    explicitBounds: [7, 'double', true],
    attributes: [9, 'KeyValue', true],
  },
};

/**
 * Encodes a request. `TracesRequest` and `MetricsRequest` are `ExportTraceServiceRequest` and
 * `ExportMetricsServiceRequest` of the schema.
 */
export function encode(
  { protocol }: OtlpTarget,
  request: 'TracesRequest' | 'MetricsRequest',
  value: JsonObject,
): Buffer {
  return protocol === 'http/json' ? Buffer.from(JSON.stringify(value)) : encodeMessage(MESSAGES, request, value);
}

/** What all telemetry of a process is about, and who made it. */
export interface Origin {
  readonly resource: Readonly<Record<string, string>>;
  readonly version: string;
}

const KINDS = { internal: 1, server: 2, client: 3 } as const;
const ERROR = 2;
/** Bits of `flags`: it is known whether the parent is of another process, and it is. */
const PARENT_KNOWN = 0x100;
const PARENT_REMOTE = 0x200;

/** The spans of one call, at the wall-clock times that they had. `epochMs`: of the zero of the steady clock. */
export function spansToWire(
  { traceId, state, isSampled }: CallSpan,
  spans: readonly SpanFacts[],
  epochMs: number,
): readonly JsonObject[] {
  const sampled = isSampled ? 1 : 0;
  return spans.map(({ spanId, parentId, name, kind, startMs, endMs, attributes, hasFailed }) => ({
    traceId,
    spanId,
    traceState: state,
    parentSpanId: parentId,
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanosOf(epochMs + startMs),
    endTimeUnixNano: nanosOf(epochMs + Math.max(startMs, endMs)),
    attributes: attributesToWire(attributes),
    status: hasFailed ? { code: ERROR } : undefined,
    flags: sampled | PARENT_KNOWN | (kind === 'server' && parentId !== undefined ? PARENT_REMOTE : 0),
  }));
}

export function tracesRequest({ resource, version }: Origin, spans: readonly JsonObject[]): JsonObject {
  const scopeSpans = [{ scope: { name: SCOPE, version }, spans }];
  return { resourceSpans: [{ resource: { attributes: attributesToWire(resource) }, scopeSpans }] };
}

export function metricsRequest({ resource, version }: Origin, metrics: readonly JsonObject[]): JsonObject {
  const scopeMetrics = [{ scope: { name: SCOPE, version }, metrics }];
  return { resourceMetrics: [{ resource: { attributes: attributesToWire(resource) }, scopeMetrics }] };
}

const NANOS_PER_MS = 1_000_000;

/** Milliseconds since 1970 as nanoseconds. Microseconds are exact. */
export function nanosOf(ms: number): string {
  const whole = Math.floor(ms);
  const rest = Math.min(Math.round((ms - whole) * NANOS_PER_MS), NANOS_PER_MS - 1);
  return `${whole}${String(rest).padStart(6, '0')}`;
}

/** Returns undefined if there are no attributes: protobuf has no empty lists, and both encodings read the same. */
export function attributesToWire(
  attributes: Readonly<Record<string, SpanValue | undefined>>,
): readonly JsonObject[] | undefined {
  const list: JsonObject[] = [];
  for (const key of Object.keys(attributes)) {
    const value = attributes[key];
    if (value !== undefined) list.push({ key, value: valueToWire(value) });
  }
  return list.length === 0 ? undefined : list;
}

function valueToWire(value: SpanValue): JsonObject {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
