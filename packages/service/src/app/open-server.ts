import { composePlanes } from '#app/control-plane.ts';
import { createOwnCalls } from '#http/own-calls.ts';
import { createHttpServer } from '#http/server.ts';
import { createDoctorSight } from '#app/doctor-sight.ts';
import { createUnderWay } from '#http/under-way.ts';

type Acts = Omit<Parameters<typeof composePlanes>[0], 'ownCalls' | 'underWay' | 'readAllMetrics'>;
type Serves = Omit<Parameters<typeof createHttpServer>[0], 'planes' | 'underWay' | 'sightOf'>;

/** Makes the planes and pages, and the server of all. Pages may send calls of people through it. */
export async function openServer(acts: Acts, serves: Serves) {
  const underWay = createUnderWay();
  const ownCalls = createOwnCalls();
  const planes = await composePlanes({ ...acts, readAllMetrics: serves.metrics.readAll, underWay, ownCalls });
  const sightOf = createDoctorSight(acts);
  const server = createHttpServer({ ...serves, planes, underWay, sightOf });
  ownCalls.attach(server);
  return { server, planes, underWay };
}
