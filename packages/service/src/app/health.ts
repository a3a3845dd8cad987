import type { Config } from '#app/config.ts';
import { createDoctor } from '#app/doctor.ts';
import { VERSION } from '#db/functions.ts';
import type { Pool } from '#db/pool.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { MetricReading } from '#kernel/metrics.ts';
import { selectWaitingMail } from '#mail/queries.ts';
import { createHealth } from '#operator/health.ts';
import { selectWaitingDeliveries } from '#webhooks/queries.ts';

/** Opens what tells operators how the service runs. */
export function openHealth(
  pool: Pool,
  of: {
    readonly config: Config;
    readonly clock: Clock;
    readonly log: Log;
    readonly readAllMetrics: () => Promise<readonly MetricReading[]>;
  },
) {
  const { dataDirectory, settings } = of.config;
  return createHealth({
    pool,
    version: VERSION,
    dataDirectory,
    settings,
    readAllMetrics: of.readAllMetrics,
    doctor: createDoctor(of.config, { pool, ...of }),
    queues: [
      { name: 'deliveries', read: selectWaitingDeliveries },
      { name: 'mail', read: selectWaitingMail },
    ],
  });
}
