/** Where to send one kind of telemetry. */
export interface OtlpTarget {
  /** The address with the path of the kind, such as `/v1/traces`. */
  readonly url: string;
  readonly protocol: 'http/protobuf' | 'http/json';
  /** The headers, which may hold a key of the collector's. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly isCompressed: boolean;
}

export interface Sampler {
  /** The caller's `traceparent` decides, if it sent one. */
  readonly followsParent: boolean;
  /** The share of the traces that begin here, from 0 to 1. */
  readonly share: number;
}

/** How telemetry is exported by OTLP. The names and meanings are OpenTelemetry's (`OTEL_*`). */
export interface TelemetrySettings {
  readonly traces: OtlpTarget | undefined;
  readonly metrics: OtlpTarget | undefined;
  /** The attributes of the resource that all telemetry is about, with `service.name`. */
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: Sampler;
  /** How long the spans of a call may wait for those of others. */
  readonly tracesEveryMs: number;
  readonly metricsEveryMs: number;
}
