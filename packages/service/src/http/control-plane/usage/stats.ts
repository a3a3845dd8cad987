import { appParamsSchema } from '@purser/contract/control.ts';
import { statsQuerySchema, statsSchema } from '@purser/contract/stats.ts';
import { type ControlPlane, ownApp } from '#http/planes/control-plane.ts';
import { figuresToWire } from '#http/serializers/figures-to-wire.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { epochMsOf, isoOf } from '#kernel/time/clock.ts';
import { CONSOLE_KEY_ID } from '#kernel/values/ids.ts';
import { microsToWire } from '#kernel/values/micros.ts';
import { statsTimeOf } from '#calls/stats/range.ts';

/** The route for sums of an app's calls: what the charts of the console show. */
export function addStatsRoutes(plane: Plane, control: ControlPlane): void {
  const { stats, clock } = control;

  plane.get(
    '/apps/:appId/stats',
    { schema: { params: appParamsSchema, querystring: statsQuerySchema, response: { 200: statsSchema } } },
    async (request) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const { mode, step, from, to } = request.query;
      const asked = {
        mode,
        step,
        fromMs: from === undefined ? undefined : epochMsOf(from),
        toMs: to === undefined ? undefined : epochMsOf(to),
      };
      const time = granted(statsTimeOf(asked, clock.nowMs()));
      const range = { appId, ...time };
      const [totals, series, models, outcomes, keys] = await Promise.all([
        stats.totals(range),
        stats.series({ ...range, step }),
        stats.byModel(range),
        stats.byOutcome(range),
        stats.byKey(range),
      ]);
      return {
        mode,
        from: isoOf(time.fromMs),
        to: isoOf(time.toMs),
        totals: figuresToWire(totals),
        series: series.map(({ atMs, ...figures }) => ({ at: isoOf(atMs), ...figuresToWire(figures) })),
        models: models.map(({ model, ...figures }) => ({
          model: model === '' ? null : model,
          ...figuresToWire(figures),
        })),
        outcomes: [...outcomes],
        keys: keys.map(({ charged, ...key }) => ({
          ...key,
          ...(key.keyId === CONSOLE_KEY_ID && { name: 'Playground' as const }),
          chargedMicros: microsToWire(charged),
        })),
      };
    },
  );
}
