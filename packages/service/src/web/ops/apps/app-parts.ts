import type { ApiKey } from '#developers/keys/api-key.ts';
import type { Member } from '#developers/teams/team.ts';
import { type Html, html } from '#kernel/text/html.ts';
import type { AppId } from '#kernel/values/ids.ts';
import { micros } from '#kernel/values/micros.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import type { Figures } from '#calls/stats/stats.ts';
import { badge } from '#web/components/badge.ts';
import { figures } from '#web/figures/figures.ts';
import { callsChart } from '#web/console/home/calls-chart.ts';
import { PERIODS } from '#web/console/home/period.ts';
import { stateBadge } from '#web/console/webhooks/deliveries-list.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { code, listing, part } from '#web/ops/frame/details.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { APP_TEXTS as TEXTS } from '#web/ops/apps/texts.ts';

const MODELS_MAX = 10;
const EVENTS_MAX = 10;

/** What the calls of an app cost in 30 days. */
export async function usagePart({ stats, clock, currency, formats, amount }: OpsRequest, appId: AppId): Promise<Html> {
  const toMs = clock.nowMs();
  const range = { appId, mode: 'live', fromMs: toMs - PERIODS.month.lengthMs, toMs } as const;
  const [points, models] = await Promise.all([stats.series({ ...range, step: 'day' }), stats.byModel(range)]);
  const count = (of: (point: Figures) => number) => formats.count(points.reduce((sum, point) => sum + of(point), 0));
  const money = (of: (point: Figures) => bigint) => micros(points.reduce((sum, point) => sum + of(point), 0n));
  const [charged, cost] = [money((point) => point.charged), money((point) => point.cost)];
  const tiles = figures([
    { name: TEXTS.calls, value: count((point) => point.calls) },
    { name: TEXTS.charged, value: formats.coins(charged, currency), note: amount(charged) },
    { name: 'Provider cost', value: formats.coins(cost, currency), note: 'at the catalogue’s prices' },
    { name: 'Refused', value: count((point) => point.refusals) },
    { name: 'Failed', value: count((point) => point.providerErrors + point.faults) },
  ]);
  const byModel = listing({
    caption: 'Models',
    columns: ['Model', TEXTS.calls, TEXTS.charged],
    numbers: [1, 2],
    rows: models
      .filter(({ model }) => model !== '')
      .slice(0, MODELS_MAX)
      .map((one) => [one.model, formats.count(one.calls), formats.coins(one.charged, currency)]),
    empty: 'No calls in this period.',
  });
  return part('usage', 'Usage, 30 days, live', tiles, callsChart(points, 'day'), byModel);
}

/** An app's keys as its owners see them. */
export function keysPart({ link, moment, clock }: OpsRequest, keys: readonly ApiKey[]): Html {
  const shown = listing({
    note: 'Active keys, and the last hundred that have ended. Nobody can see the text of a key again.',
    columns: ['Name', 'Key', 'Mode', 'State', 'Last used'],
    rows: keys.map(({ hint, mode, settings, revokedAtMs, lastUsedAtMs, keyId }) => [
      html`${settings.name ?? 'no name'}<br>${link({ kind: 'key', id: keyId })}`,
      code(hint),
      mode,
      keyState({ revokedAtMs, settings }, clock.nowMs()),
      lastUsedAtMs === undefined ? TEXTS.never : moment(lastUsedAtMs),
    ]),
    empty: 'The app has no keys.',
  });
  return part('keys', 'API keys', shown);
}

export function keyState({ revokedAtMs, settings }: Pick<ApiKey, 'revokedAtMs' | 'settings'>, nowMs: number): Html {
  if (revokedAtMs !== undefined) return badge(TEXTS.keyStates.revoked, 'warn');
  const isExpired = (settings.expiresAtMs ?? Infinity) <= nowMs;
  return isExpired ? badge(TEXTS.keyStates.expired, 'warn') : badge(TEXTS.keyStates.active, 'good');
}

/** The latest webhook events of an app, for those who may open one. */
export async function eventsPart({ operator, mayOpen, moment }: OpsRequest, appId: AppId): Promise<Html | undefined> {
  if (!mayOpen('event')) return undefined;
  const page = await operator.deliveries.history(appId, { before: undefined, most: EVENTS_MAX });
  const events = page instanceof Refusal ? [] : page.events;
  const shown = listing({
    note: 'The latest ten',
    columns: ['When', 'Type', 'State', 'Attempts'],
    numbers: [3],
    rows: events.map(({ eventId, createdAtMs, type, state, attempts }) => [
      html`<a href="${opsPath('event', { id: eventId })}">${moment(createdAtMs)}</a>`,
      type,
      stateBadge(state),
      String(attempts.length),
    ]),
    empty: 'No events in the last 30 days.',
  });
  return part('events', 'Webhook events', shown);
}

export function membersPart({ link, moment }: OpsRequest, members: readonly Member[]): Html {
  const shown = listing({
    note: 'People who may use the app in the console',
    columns: ['E-mail', 'Role', 'Since'],
    rows: members.map(({ accountId, email, role, sinceMs }) => [
      link({ kind: 'account', id: accountId }, email),
      role,
      moment(sinceMs),
    ]),
    empty: 'The app has no members.',
  });
  return part('members', 'Members', shown);
}
