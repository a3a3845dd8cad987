// A receiver of OTLP over HTTP that decodes what comes with the published schema, as a collector does.
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import protobuf from 'protobufjs/light.js';
import { ROOT } from '../../tools/toolchain.ts';

const SCHEMA = path.join(ROOT, 'tests/fixtures/otlp-schema.json');
const COLLECTOR = 'opentelemetry.proto.collector';
const TYPES = {
  '/v1/traces': `${COLLECTOR}.trace.v1.ExportTraceServiceRequest`,
  '/v1/metrics': `${COLLECTOR}.metrics.v1.ExportMetricsServiceRequest`,
} as const;

export type OtlpPath = keyof typeof TYPES;
type Value = string | number | boolean;

/** A span as it came, with its attributes by name. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly traceState: string | undefined;
  readonly name: string;
  readonly kind: number;
  readonly startNanos: bigint;
  readonly endNanos: bigint;
  readonly hasFailed: boolean;
  readonly flags: number;
  readonly attributes: Readonly<Record<string, Value>>;
  readonly resource: Readonly<Record<string, Value>>;
}

type OtlpRequest = Awaited<ReturnType<typeof receive>>;

export type OtlpReceiver = Awaited<ReturnType<typeof startOtlpReceiver>>;

/** Listens on a free port of this machine. What cannot be decoded is answered 400. */
export async function startOtlpReceiver() {
  const requests: OtlpRequest[] = [];
  let status: number | 'hang' = 200;
  let hanging = 0;
  const server = createServer((incoming, response) => {
    void receive(incoming).then(
      (request) => {
        if (status === 'hang') {
          hanging += 1;
          return;
        }
        if (status === 200) requests.push(request);
        response.writeHead(status).end();
      },
      () => response.writeHead(400).end(),
    );
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    /** All spans that were taken. One that was sent again, because the answer to it came too late, is there once. */
    spans: () => [
      ...new Map(requests.flatMap(({ message }) => spansIn(message)).map((span) => [span.spanId, span])).values(),
    ],
    /** How many requests were not answered. */
    hanging: () => hanging,
    /** Answers from now on with this status; `hang`: not at all. */
    answer: (next: number | 'hang') => void (status = next),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function receive(incoming: IncomingMessage) {
  const { url: at = '', headers } = incoming;
  const sent = await buffer(incoming);
  const bytes = headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
  const isJson = headers['content-type'] === 'application/json';
  const message = isJson ? (JSON.parse(bytes.toString()) as Message) : decodeOtlp(at as OtlpPath, bytes);
  return {
    path: at,
    headers,
    /** The body as it came, without compression. */
    bytes,
    /** The message in the shape of OTLP/JSON. */
    message,
  };
}

let root: protobuf.Root | undefined;

/** Decodes a protobuf request with the published schema, into the shape of OTLP/JSON: ids in hexadecimal, 64-bit numbers as text. */
export function decodeOtlp(at: OtlpPath, bytes: Buffer): Message {
  root ??= protobuf.Root.fromJSON(JSON.parse(readFileSync(SCHEMA, 'utf8')) as protobuf.INamespace);
  const type = root.lookupType(TYPES[at]);
  return hexIds(type.toObject(type.decode(bytes), { longs: String, bytes: String })) as Message;
}

function hexIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hexIds);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) =>
      /^(trace|span|parentSpan)Id$/.test(key)
        ? [key, Buffer.from(String(member), 'base64').toString('hex')]
        : [key, hexIds(member)],
    ),
  );
}

export interface Message {
  readonly resourceSpans?: readonly ResourceSpans[];
  readonly resourceMetrics?: readonly ResourceMetrics[];
}

interface ResourceSpans {
  readonly resource: { readonly attributes: readonly KeyValue[] };
  readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
}

interface ResourceMetrics extends Pick<ResourceSpans, 'resource'> {
  readonly scopeMetrics: readonly { readonly metrics: readonly Metric[] }[];
}

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, Value>>;
}

interface WireSpan
  extends Pick<ReceivedSpan, 'traceId' | 'spanId' | 'parentSpanId' | 'traceState' | 'name' | 'kind' | 'flags'> {
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly KeyValue[];
  readonly status?: { readonly code?: number };
}

interface Point {
  readonly attributes?: readonly KeyValue[];
  readonly asDouble?: number;
}

/** A metric of the kinds that the service sends. */
export interface Metric {
  readonly name: string;
  readonly unit: string;
  readonly sum?: { readonly isMonotonic: boolean; readonly dataPoints?: readonly Point[] };
  readonly gauge?: { readonly dataPoints?: readonly Point[] };
  readonly histogram?: {
    readonly dataPoints?: readonly { readonly attributes?: readonly KeyValue[]; readonly count: string }[];
  };
}

/** The metrics of a request. */
export function metricsIn({ resourceMetrics = [] }: Message): readonly Metric[] {
  return resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
}

function spansIn({ resourceSpans = [] }: Message): readonly ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        startNanos: BigInt(span.startTimeUnixNano),
        endNanos: BigInt(span.endTimeUnixNano),
        hasFailed: span.status?.code === 2,
        attributes: valuesOf(span.attributes),
        resource: valuesOf(resource.attributes),
      })),
    ),
  );
}

/** Attributes by their names. Whole numbers come as text. */
export function valuesOf(attributes: readonly KeyValue[] = []): Readonly<Record<string, Value>> {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, boolValue, intValue, doubleValue } }) => [
      key,
      stringValue ?? boolValue ?? (intValue === undefined ? (doubleValue ?? '') : Number(intValue)),
    ]),
  );
}
