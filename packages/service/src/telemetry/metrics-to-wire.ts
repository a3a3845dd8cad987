import type { Distribution } from '#kernel/metrics/histogram.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import type { MetricReading } from '#kernel/metrics/metrics.ts';
import { attributesToWire, nanosOf } from '#telemetry/otlp.ts';

/** The number in the schema which says that sums and histograms count from the start. */
const CUMULATIVE = 2;
const LABEL = /([a-z_]+)="([^"]*)"/g;
/** Units by the end of a name, as OpenTelemetry writes them. */
const UNITS = [
  [/_seconds(_total)?$/, 's'],
  [/_ms_total$/, 'ms'],
  [/_bytes(_total)?$/, 'By'],
] as const;

interface Period {
  /** When counting began, since 1970. */
  readonly startMs: number;
  readonly nowMs: number;
}

/** The readings of `/metrics` as OTLP metrics, under the same names and with the same labels. */
export function metricsToWire(readings: readonly MetricReading[], { startMs, nowMs }: Period): readonly JsonObject[] {
  const timeUnixNano = nanosOf(nowMs);
  const startTimeUnixNano = nanosOf(startMs);
  return readings.map(({ name, kind, help, samples, distribution }) => {
    const about = { name, description: help, unit: unitOf(name) };
    const start = kind === 'gauge' ? {} : { startTimeUnixNano };
    if (distribution !== undefined) {
      const points = bucketsToWire(distribution, { startTimeUnixNano, timeUnixNano });
      return { ...about, histogram: { dataPoints: points, aggregationTemporality: CUMULATIVE } };
    }
    const dataPoints = samples.map(([labels, value]) => ({
      ...start,
      timeUnixNano,
      asDouble: value,
      attributes: attributesToWire(labelsOf(labels)),
    }));
    if (kind === 'gauge') return { ...about, gauge: { dataPoints } };
    return { ...about, sum: { dataPoints, aggregationTemporality: CUMULATIVE, isMonotonic: true } };
  });
}

/** The counts are of each bucket alone in both, and the last is of what is above all bounds. */
function bucketsToWire({ bounds, series }: Distribution, times: JsonObject): readonly JsonObject[] {
  return series.map(([labels, counts, sum]) => ({
    ...times,
    count: String(counts.reduce((total, count) => total + count, 0)),
    sum,
    bucketCounts: counts.map(String),
    explicitBounds: bounds,
    attributes: attributesToWire(labelsOf(labels)),
  }));
}

function unitOf(name: string): string {
  return UNITS.find(([end]) => end.test(name))?.[1] ?? '1';
}

/** Reads labels. Their values hold no quotes (`kernel/metrics/metrics.ts`). */
function labelsOf(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from(text.matchAll(LABEL), ([, name = '', value = '']) => [name, value]));
}
