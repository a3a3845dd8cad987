import { randomUUID } from 'node:crypto';
import type { Config } from '#app/settings/config.ts';
import { VERSION } from '#db/schema/functions.ts';
import type { Log } from '#kernel/log.ts';
import type { MetricReading } from '#kernel/metrics/metrics.ts';
import type { CallExport } from '#telemetry/call-export.ts';
import type { Origin } from '#telemetry/otlp.ts';

/** Starts the export of calls as OpenTelemetry traces. Undefined without an endpoint: then none of its code is loaded. */
export async function openCallExport({ telemetry }: Config, log: Log): Promise<CallExport | undefined> {
  if (telemetry?.traces === undefined) return undefined;
  const { startCallExport } = await import('#telemetry/call-export.ts');
  const { traces: target, sampler, tracesEveryMs: everyMs } = telemetry;
  return startCallExport({ target, sampler, everyMs, origin: originOf(telemetry), log });
}

interface Stoppable {
  readonly stop: () => Promise<void>;
}

/** Starts the export of what `/metrics` shows. For one process of a service, because the readings are those of all. */
export async function openMetricsExport(
  { telemetry }: Config,
  readAll: () => Promise<readonly MetricReading[]>,
  log: Log,
): Promise<Stoppable | undefined> {
  if (telemetry?.metrics === undefined) return undefined;
  const { startMetricsExport } = await import('#telemetry/metrics-export.ts');
  const { metrics: target, metricsEveryMs: everyMs } = telemetry;
  return startMetricsExport({ target, everyMs, origin: originOf(telemetry), readAll, log });
}

/** Each process is an instance, unless the operator named it. */
function originOf({ resource }: NonNullable<Config['telemetry']>): Origin {
  const own = { 'service.version': VERSION, 'service.instance.id': randomUUID() };
  return { version: VERSION, resource: { ...own, ...resource } };
}
