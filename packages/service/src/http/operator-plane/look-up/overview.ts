import {
  findQuerySchema,
  foundSchema,
  overviewSchema,
  serviceStatsQuerySchema,
  serviceStatsSchema,
} from '@purser/contract/operator-overview.ts';
import type { OperatorRoutes } from '#http/planes/operator-routes.ts';
import { sentMs } from '#http/requests/sent.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted } from '#http/planes/planes.ts';
import { statsTimeOf } from '#calls/stats/range.ts';

/** Routes with which operators begin: what needs them, the figures of the service, and finding an entity (CP-10). */
export function addOverviewRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  const { cell, find, stats, clock } = operator;

  routes.show('/operator/overview', { answer: overviewSchema }, async () => {
    const [own, others] = await Promise.all([operator.readAttention(), operator.readAttentionElsewhere()]);
    const otherCells = others.map((other) => ({
      cell: other.cell,
      answers: other.attention !== undefined,
      ...other.attention,
    }));
    return { cell, ...own, otherCells: cell === undefined ? undefined : otherCells };
  });

  routes.show(
    '/operator/stats',
    { query: serviceStatsQuerySchema, answer: serviceStatsSchema },
    async ({ query: { mode, step, from, to, appId } }) => {
      const asked = { mode, step, fromMs: sentMs(from), toMs: sentMs(to) };
      const time = granted(statsTimeOf(asked, clock.nowMs()));
      const range = appId === undefined ? ({ of: 'every app', ...time } as const) : { appId, ...time };
      const [totals, series, { apps, models, outcomes }] = await Promise.all([
        stats.totals(range),
        stats.series({ ...range, step }),
        stats.groups(range),
      ]);
      const named = models.map(({ model, ...sums }) => ({ model: model === '' ? null : model, ...sums }));
      return { ...time, totals, series, apps, models: named, outcomes };
    },
  );

  routes.show('/operator/find', { query: findQuerySchema, answer: foundSchema }, async ({ query: { q } }) => {
    const found = await find(q);
    if (cell === undefined || found.length > 0) return { found };
    const otherCells = await operator.findElsewhere(q);
    return { found, otherCells: otherCells.map((other) => ({ ...other, answers: other.has !== undefined })) };
  });
}
