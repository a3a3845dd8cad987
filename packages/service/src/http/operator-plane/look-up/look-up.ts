import { LOOK_UP_ROUTES } from '@purser/contract/look-up.ts';
import { OVERVIEW_ROUTES } from '@purser/contract/operator-overview.ts';
import { shownKey } from '#http/operator-plane/people/apps.ts';
import type { OperatorRoutes } from '#http/planes/operator-routes.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted } from '#http/planes/planes.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import { findCalls } from '#http/planes/find-calls.ts';
import { operatorsTrace } from '#http/serializers/call-to-wire.ts';
import { parseCallId } from '#kernel/values/ids.ts';
import { sentMs } from '#http/requests/sent.ts';
import { statsTimeOf } from '#calls/stats/range.ts';

/** The routes by which operators read one key or event of any app, by its id. */
export function addLookUpRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  const { anyKey, anyEvent } = operator;
  const add = routes(LOOK_UP_ROUTES);

  add('GET /operator/keys/{keyId}', async ({ params: { keyId } }) => {
    const found = granted((await anyKey(keyId)) ?? refuse('NOT_FOUND', 'There is no such key.'));
    return { ...found, key: shownKey(found.key) };
  });

  add('GET /operator/events/{eventId}', async ({ params: { eventId } }) => {
    const gone = refuse('NOT_FOUND', 'There is no such event. Events are kept for 30 days.');
    return (await anyEvent(eventId)) ?? gone;
  });
}

/** The route by which operators find a call of any app (CC-19). */
export function addAnyCallRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  const { calls, callBooks } = operator;
  routes(LOOK_UP_ROUTES)('GET /operator/calls', async ({ query }) => {
    const { receipts, traces } = await findCalls(calls, query.appId, query);
    const callId = parseCallId(query.callId ?? '');
    const books = callId === undefined ? undefined : await callBooks(callId);
    const isOther = query.appId !== undefined && books?.hold?.app_id !== query.appId;
    return {
      hold: isOther ? undefined : books?.hold,
      entries: receipts.length === 0 ? [] : (books?.entries ?? []),
      calls: receipts,
      traces: traces.map(operatorsTrace),
    };
  });
}

/** Routes with which operators begin: what needs them, the figures of the service, and finding an entity (CP-10). */
export function addOverviewRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  const { cell, find, stats, clock } = operator;
  const add = routes(OVERVIEW_ROUTES);

  add('GET /operator/overview', async () => {
    const [own, others] = await Promise.all([operator.readAttention(), operator.readAttentionElsewhere()]);
    const otherCells = others.map((other) => ({
      cell: other.cell,
      answers: other.attention !== undefined,
      ...other.attention,
    }));
    return { cell, ...own, otherCells: cell === undefined ? undefined : otherCells };
  });

  add('GET /operator/stats', async ({ query: { mode, step, from, to, appId } }) => {
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
  });

  add('GET /operator/find', async ({ query: { q } }) => {
    const found = await find(q);
    if (cell === undefined || found.length > 0) return { found };
    const otherCells = await operator.findElsewhere(q);
    return { found, otherCells: otherCells.map((other) => ({ ...other, answers: other.has !== undefined })) };
  });
}
