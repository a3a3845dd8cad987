import type { Config } from '#app/settings/config.ts';
import { createDoctor } from '#doctor/doctor.ts';
import { createPublicCertificate } from '#app/monitoring/public-certificate.ts';
import { selectComparison } from '#cells/directory/compare-queries.ts';
import { selectCopyAge } from '#cells/directory/queries.ts';
import { VERSION } from '#db/schema/functions.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { Clock } from '#kernel/time/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { MetricReading } from '#kernel/metrics/metrics.ts';
import { selectWaitingMail } from '#mail/queries.ts';
import { createAttention } from '#operator/health/attention.ts';
import { createFigures } from '#operator/health/figures.ts';
import { createHealth, type ReadQueue } from '#operator/health/health.ts';
import { selectWaitingDeliveries } from '#webhooks/queue/queries.ts';

interface HealthOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly readAllMetrics: () => Promise<readonly MetricReading[]>;
}

/** Opens what tells operators how the service runs. */
export function openHealth(pool: Pool, of: HealthOptions) {
  const { dataDirectory, settings } = of.config;
  return createHealth({
    pool,
    version: VERSION,
    dataDirectory,
    settings,
    readAllMetrics: of.readAllMetrics,
    doctor: createDoctor(of.config, { pool, ...of }),
    queues: QUEUES,
  });
}

const QUEUES: readonly ReadQueue[] = [
  { name: 'deliveries', read: selectWaitingDeliveries },
  { name: 'mail', read: selectWaitingMail },
];

/** Opens what `/metrics` shows: the figures of all processes, and those of the service as a whole. */
export function openMetrics(pool: Pool, of: HealthOptions) {
  const { dataDirectory, publicUrl, metricsToken: token, databaseUrl, durability } = of.config;
  const figures = createFigures({
    pool,
    dataDirectory,
    attention: createAttention({ pool, clock: of.clock, readUpstreams: () => [] }),
    queues: QUEUES,
    standbysMin: databaseUrl !== undefined && durability === 'standby' ? 1 : 0,
    certificateEndsMs: createPublicCertificate(publicUrl),
    copyAge: selectCopyAge,
    comparison: selectComparison,
    log: of.log,
  });
  // Not merged: no process declares a figure of the service, and `max` over the workers' last looks would show an old one.
  const readAll = async () => (await Promise.all([of.readAllMetrics(), figures()])).flat();
  return { token, readAll };
}
