import type { Ground } from '#app/process/ground.ts';
import { createPublicCertificate } from '#app/monitoring/public-certificate.ts';
import type { MetricsPlane } from '#http/service/metrics.ts';
import type { MetricReading } from '#kernel/metrics/metrics.ts';
import { selectWaitingMail } from '#mail/queries.ts';
import { createAttention } from '#operator/health/attention.ts';
import { createFigures, type FiguresOptions } from '#operator/health/figures.ts';
import type { ReadQueue } from '#operator/health/health.ts';
import { selectWaitingDeliveries } from '#webhooks/queue/queries.ts';

/** Reads the metrics of all processes of the service, merged. */
export type ReadAllMetrics = () => Promise<readonly MetricReading[]>;

/** What waits in tables. */
export const QUEUES: readonly ReadQueue[] = [
  { name: 'deliveries', read: selectWaitingDeliveries },
  { name: 'mail', read: selectWaitingMail },
];

/** Opens what `/metrics` shows: the figures of all processes, and those of the service as a whole. */
export function openMetrics(
  { config, pools, clock, log }: Ground,
  readAllMetrics: ReadAllMetrics,
  { copyAge, comparison }: Pick<FiguresOptions, 'copyAge' | 'comparison'>,
): MetricsPlane {
  const { dataDirectory, publicUrl, metricsToken: token, databaseUrl, durability } = config;
  const pool = pools.planes;
  const figures = createFigures({
    pool,
    dataDirectory,
    attention: createAttention({ pool, clock, readUpstreams: () => [] }),
    queues: QUEUES,
    standbysMin: databaseUrl !== undefined && durability === 'standby' ? 1 : 0,
    certificateEndsMs: createPublicCertificate(publicUrl),
    copyAge,
    comparison,
    log,
  });
  // Not merged: no process declares a figure of the service, and `max` over the workers' last looks would show an old one.
  const readAll = async () => (await Promise.all([readAllMetrics(), figures()])).flat();
  return { token, readAll };
}
