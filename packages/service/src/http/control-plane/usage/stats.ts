import { appParamsSchema } from '@purser/contract/control.ts';
import { statsQuerySchema, statsSchema } from '@purser/contract/stats.ts';
import type { ControlPlane } from '#http/planes/control-plane.ts';
import { ownerRoutes } from '#http/planes/owner-routes.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { sentMs } from '#http/requests/sent.ts';
import { CONSOLE_KEY_ID } from '#kernel/values/ids.ts';
import { statsTimeOf } from '#calls/stats/range.ts';

/** The route for sums of an app's calls: what the charts of the console show. */
export function addStatsRoutes(plane: Plane, control: ControlPlane): void {
  const { stats, clock } = control;

  ownerRoutes(plane, control).ofApp(
    'GET /apps/:appId/stats',
    { params: appParamsSchema, query: statsQuerySchema, answer: statsSchema },
    async ({ appId }, { query: { mode, step, from, to } }) => {
      const asked = { mode, step, fromMs: sentMs(from), toMs: sentMs(to) };
      const time = granted(statsTimeOf(asked, clock.nowMs()));
      const range = { appId, ...time };
      const [totals, series, models, outcomes, keys] = await Promise.all([
        stats.totals(range),
        stats.series({ ...range, step }),
        stats.byModel(range),
        stats.byOutcome(range),
        stats.byKey(range),
      ]);
      const named = models.map(({ model, ...figures }) => ({ model: model === '' ? null : model, ...figures }));
      const marked = keys.map((key) => ({
        ...key,
        name: key.keyId === CONSOLE_KEY_ID ? ('Playground' as const) : undefined,
      }));
      return { ...time, totals, series, models: named, outcomes, keys: marked };
    },
  );
}
