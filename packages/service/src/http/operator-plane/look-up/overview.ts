import {
  findQuerySchema,
  foundSchema,
  overviewSchema,
  serviceStatsQuerySchema,
  serviceStatsSchema,
} from '@purser/contract/operator-overview.ts';
import type { CellAttention, OtherCellAttention } from '#http/cells/operators/attention.ts';
import type { FoundElsewhere } from '#http/cells/operators/find.ts';
import { figuresToWire } from '#http/serializers/figures-to-wire.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { epochMsOf, isoOf } from '#kernel/time/clock.ts';
import { microsToWire } from '#kernel/values/micros.ts';
import { statsTimeOf } from '#calls/stats/range.ts';
import type { FoundEntity } from '#operator/look-up/entities.ts';
import type { Figures } from '#calls/stats/stats.ts';

/** Routes with which operators begin: what needs them, the figures of the service, and finding an entity (CP-10). */
export function addOverviewRoutes(plane: Plane, operator: OperatorPlane): void {
  const { find, stats, clock } = operator;
  plane.get('/operator/overview', { schema: { response: { 200: overviewSchema } } }, async () => {
    const [{ findings, deliveries, ...sums }, others] = await Promise.all([
      operator.readAttention(),
      operator.readAttentionElsewhere(),
    ]);
    return {
      cell: operator.cell,
      findings: findings.map(({ of, names, ...finding }) => ({
        ...finding,
        of: [...of],
        names: names.map((name) => name ?? null),
      })),
      ...sumsToWire(sums),
      deliveries,
      otherCells: operator.cell === undefined ? undefined : others.map(otherCellToWire),
    };
  });

  plane.get(
    '/operator/stats',
    { schema: { querystring: serviceStatsQuerySchema, response: { 200: serviceStatsSchema } } },
    async ({ query }) => {
      const { mode, step, from, to, appId } = query;
      const asked = {
        mode,
        step,
        fromMs: from === undefined ? undefined : epochMsOf(from),
        toMs: to === undefined ? undefined : epochMsOf(to),
      };
      const time = granted(statsTimeOf(asked, clock.nowMs()));
      const range = appId === undefined ? ({ of: 'every app', ...time } as const) : { appId, ...time };
      const [totals, series, { apps, models, outcomes }] = await Promise.all([
        stats.totals(range),
        stats.series({ ...range, step }),
        stats.groups(range),
      ]);
      return {
        mode,
        from: isoOf(time.fromMs),
        to: isoOf(time.toMs),
        totals: withCost(totals),
        series: series.map(({ atMs, ...point }) => ({ at: isoOf(atMs), ...withCost(point) })),
        apps: apps.map(({ appId: id, ...sums }) => ({ appId: id, ...withCost(sums) })),
        models: models.map(({ model, ...sums }) => ({ model: model === '' ? null : model, ...withCost(sums) })),
        outcomes: [...outcomes],
      };
    },
  );

  plane.get(
    '/operator/find',
    { schema: { querystring: findQuerySchema, response: { 200: foundSchema } } },
    async ({ query: { q } }) => {
      const found = await find(q);
      return {
        found: found.map(foundToWire),
        otherCells:
          operator.cell === undefined || found.length > 0
            ? undefined
            : (await operator.findElsewhere(q)).map(foundElsewhereToWire),
      };
    },
  );
}

function sumsToWire({ books, held }: Pick<CellAttention, 'books' | 'held'>) {
  return {
    books: {
      checkedAt: books.checkedAtMs === undefined ? null : isoOf(books.checkedAtMs),
      differences: books.differences,
    },
    held: { amountMicros: microsToWire(held.amount), calls: held.calls },
  };
}

function otherCellToWire({ cell, attention }: OtherCellAttention) {
  if (attention === undefined) return { cell, answers: false };
  return { cell, answers: true, findings: [...attention.findings], ...sumsToWire(attention) };
}

function foundToWire({ atMs, amount, name, state, related, ...entity }: FoundEntity) {
  return {
    ...entity,
    name: name ?? null,
    state: state ?? null,
    at: atMs === undefined ? null : isoOf(atMs),
    amountMicros: amount === undefined ? null : microsToWire(amount),
    related: related.map(({ kind, id, name: called }) => ({ kind, id, name: called ?? null })),
  };
}

function foundElsewhereToWire({ cell, has }: FoundElsewhere) {
  return has === undefined ? { cell, answers: false } : { cell, answers: true, has };
}

/** Sums with what providers charged: only operators see that. */
function withCost(figures: Figures) {
  return {
    ...figuresToWire(figures),
    costMicros: microsToWire(figures.cost),
    uncostedMicros: microsToWire(figures.uncosted),
  };
}
