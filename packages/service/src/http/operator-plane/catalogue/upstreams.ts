import { upstreamListSchema } from '@purser/contract/upstreams.ts';
import type { UpstreamReport } from '#gateway/upstream/report.ts';
import { type OperatorPlane } from '#http/planes/operator-plane.ts';
import type { Plane } from '#http/planes/planes.ts';

/** The route by which operators see how their providers serve (CC-16). */
export function addUpstreamRoutes(plane: Plane, { readUpstreams }: OperatorPlane): void {
  plane.get('/operator/upstreams', { schema: { response: { 200: upstreamListSchema } } }, async () => ({
    upstreams: readUpstreams().map(toWire),
  }));
}

function toWire({ lastMinute, models, keys, ...report }: UpstreamReport) {
  return {
    ...report,
    models: [...models],
    testInMs: report.testInMs ?? null,
    lastMinute: { ...lastMinute, firstByteMs: lastMinute.firstByteMs ?? null },
    keys: keys.map((key) => ({ ...key, name: key.name ?? null })),
    underWay: report.underWay ?? null,
    waiting: report.waiting ?? null,
  };
}
