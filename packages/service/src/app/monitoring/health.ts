import { QUEUES, type ReadAllMetrics } from '#app/monitoring/metrics.ts';
import type { Ground } from '#app/process/ground.ts';
import { VERSION } from '#db/schema/functions.ts';
import { createDoctor } from '#doctor/doctor.ts';
import { createHealth, type Health } from '#operator/health/health.ts';

/** Opens what tells operators how the service runs. */
export function openHealth(
  { config, pools, clock, log }: Ground,
  readAllMetrics: ReadAllMetrics,
): () => Promise<Health> {
  const { dataDirectory, settings } = config;
  const pool = pools.planes;
  const doctor = createDoctor(config, { pool, clock, log });
  return createHealth({ pool, version: VERSION, dataDirectory, settings, readAllMetrics, doctor, queues: QUEUES });
}
