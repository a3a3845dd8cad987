import type { ApiKey } from '#developers/keys/api-key.ts';
import type { Member } from '#developers/teams/team.ts';
import { type Html, html } from '#kernel/text/html.ts';
import type { AppId } from '#kernel/values/ids.ts';
import { micros } from '#kernel/values/micros.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import type { Figures } from '#calls/stats/stats.ts';
import { badge } from '#web/components/badge.ts';
import { figures } from '#web/figures/figures.ts';
import { moment } from '#web/figures/moment.ts';
import { section } from '#web/components/section.ts';
import { table } from '#web/figures/table.ts';
import { callsChart } from '#web/console/home/calls-chart.ts';
import { PERIODS } from '#web/console/home/period.ts';
import { stateBadge } from '#web/console/webhooks/deliveries-list.ts';
import type { OpsRequest } from '#web/ops/frame/for-operator.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { mayOpen, thingLink } from '#web/ops/frame/links.ts';
import { APP_TEXTS as TEXTS } from '#web/ops/apps/texts.ts';

const MODELS_MAX = 10;
const EVENTS_MAX = 10;

/** What the calls of an app cost in 30 days. */
export async function usageSection(services: OpsServices, { request }: OpsRequest, appId: AppId): Promise<Html> {
  const { stats, clock, currency } = services;
  const { formats } = request;
  const toMs = clock.nowMs();
  const range = { appId, mode: 'live', fromMs: toMs - PERIODS.month.lengthMs, toMs } as const;
  const [points, models] = await Promise.all([stats.series({ ...range, step: 'day' }), stats.byModel(range)]);
  const count = (of: (point: Figures) => number) => formats.count(points.reduce((sum, point) => sum + of(point), 0));
  const money = (of: (point: Figures) => bigint) => micros(points.reduce((sum, point) => sum + of(point), 0n));
  const [charged, cost] = [money((point) => point.charged), money((point) => point.cost)];
  const tiles = figures([
    { name: TEXTS.calls, value: count((point) => point.calls) },
    { name: TEXTS.charged, value: formats.coins(charged, currency), note: formats.amount(charged, currency) },
    { name: TEXTS.cost, value: formats.coins(cost, currency), note: TEXTS.costNote },
    { name: TEXTS.refused, value: count((point) => point.refusals) },
    { name: TEXTS.failed, value: count((point) => point.providerErrors + point.faults) },
  ]);
  const byModel = table({
    caption: TEXTS.models,
    columns: [{ name: TEXTS.model }, ...[TEXTS.calls, TEXTS.charged].map((name) => ({ name, isNumeric: true }))],
    rows: models
      .filter(({ model }) => model !== '')
      .slice(0, MODELS_MAX)
      .map((one) => [one.model, formats.count(one.calls), formats.coins(one.charged, currency)]),
    empty: TEXTS.noCalls,
  });
  return section({ id: 'usage', heading: TEXTS.usage, body: [tiles, callsChart(points, 'day'), byModel] });
}

/** An app's keys as its owners see them. */
export function keysSection({ role, request: { formats } }: OpsRequest, keys: readonly ApiKey[], nowMs: number): Html {
  const shown = table({
    caption: html`<span class="soft">${TEXTS.keysWhat}</span>`,
    columns: TEXTS.keyColumns.map((name) => ({ name })),
    rows: keys.map(({ hint, mode, settings, revokedAtMs, lastUsedAtMs, keyId }) => [
      html`${settings.name ?? TEXTS.unnamed}<br>${thingLink(role, { kind: 'key', id: keyId })}`,
      html`<code>${hint}</code>`,
      mode,
      keyState({ revokedAtMs, settings }, nowMs),
      lastUsedAtMs === undefined ? TEXTS.never : moment(lastUsedAtMs, formats),
    ]),
    empty: TEXTS.noKeys,
  });
  return section({ id: 'keys', heading: TEXTS.keys, body: [shown] });
}

export function keyState({ revokedAtMs, settings }: Pick<ApiKey, 'revokedAtMs' | 'settings'>, nowMs: number): Html {
  if (revokedAtMs !== undefined) return badge(TEXTS.keyStates.revoked, 'warn');
  const isExpired = (settings.expiresAtMs ?? Infinity) <= nowMs;
  return isExpired ? badge(TEXTS.keyStates.expired, 'warn') : badge(TEXTS.keyStates.active, 'good');
}

/** The latest webhook events of an app, for those who may open one. */
export async function eventsSection(
  { operator }: OpsServices,
  { role, request: { formats } }: OpsRequest,
  appId: AppId,
): Promise<Html | undefined> {
  if (!mayOpen(role, 'event')) return undefined;
  const page = await operator.deliveries.history(appId, { before: undefined, most: EVENTS_MAX });
  const events = page instanceof Refusal ? [] : page.events;
  const shown = table({
    caption: html`<span class="soft">${TEXTS.eventsWhat}</span>`,
    columns: TEXTS.eventColumns.map((name, at) => ({ name, isNumeric: at === 3 })),
    rows: events.map(({ eventId, createdAtMs, type, state, attempts }) => [
      html`<a href="${opsPath('event', { id: eventId })}">${moment(createdAtMs, formats)}</a>`,
      type,
      stateBadge(state),
      String(attempts.length),
    ]),
    empty: TEXTS.noEvents,
  });
  return section({ id: 'events', heading: TEXTS.events, body: [shown] });
}

export function membersSection({ role, request: { formats } }: OpsRequest, members: readonly Member[]): Html {
  const shown = table({
    caption: html`<span class="soft">${TEXTS.membersWhat}</span>`,
    columns: TEXTS.memberColumns.map((name) => ({ name })),
    rows: members.map((member) => [
      thingLink(role, { kind: 'account', id: member.accountId }, member.email),
      member.role,
      moment(member.sinceMs, formats),
    ]),
    empty: TEXTS.noMembers,
  });
  return section({ id: 'members', heading: TEXTS.members, body: [shown] });
}
