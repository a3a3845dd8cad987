import type { ApiKey } from '#developers/keys/api-key.ts';
import type { Member } from '#developers/teams/team.ts';
import { type Html, html } from '#kernel/text/html.ts';
import type { AppId } from '#kernel/values/ids.ts';
import { micros } from '#kernel/values/micros.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import type { Figures } from '#calls/stats/stats.ts';
import { badge } from '#web/components/parts.ts';
import { figures } from '#web/figures/figures.ts';
import { callsChart, PERIODS } from '#web/console/home/period.ts';
import { stateBadge } from '#web/console/webhooks/deliveries-list.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { code, opsPath, part } from '#web/ops/frame/details.ts';
import { APP_TEXTS as TEXTS } from '#web/ops/apps/texts.ts';
import type { EntryFilter } from '#operator/look-up/audit-trail.ts';

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
  return part('usage', 'Usage, 30 days, live', tiles, callsChart(points, 'day'), {
    caption: 'Models',
    columns: ['Model', TEXTS.calls, TEXTS.charged],
    numbers: [1, 2],
    rows: models
      .filter(({ model }) => model !== '')
      .slice(0, MODELS_MAX)
      .map((one) => [one.model, formats.count(one.calls), formats.coins(one.charged, currency)]),
    empty: 'No calls in this period.',
  });
}

/** An app's keys as its owners see them. */
export function keysPart({ link, moment, clock }: OpsRequest, keys: readonly ApiKey[]): Html {
  return part('keys', 'API keys', {
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
  return part('events', 'Webhook events', {
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
}

export function membersPart({ link, moment }: OpsRequest, members: readonly Member[]): Html {
  return part('members', 'Members', {
    note: 'People who may use the app in the console',
    columns: ['E-mail', 'Role', 'Since'],
    rows: members.map(({ accountId, email, role, sinceMs }) => [
      link({ kind: 'account', id: accountId }, email),
      role,
      moment(sinceMs),
    ]),
    empty: 'The app has no members.',
  });
}

const SHOWN_MAX = 20;

/** The latest acts that fit: on an app or an account, or of an account. For those who may look things up. */
export async function trailPart({ operator, mayOpen, moment }: OpsRequest, kind: 'on' | 'by', filter: EntryFilter) {
  // The audit trail is for support and above, as the page that finds things is.
  if (!mayOpen('find')) return undefined;
  const { entries } = await operator.auditSearch.find(filter, { before: undefined, most: SHOWN_MAX });
  return part(`trail-${kind}`, kind === 'on' ? 'What was done to it' : 'What it did', {
    note: 'The latest 20 acts',
    columns: ['When', 'Who', 'What', 'On what', 'Why'],
    rows: entries.map(({ atMs, actor, actorName, action, subject, reason }) => [
      moment(atMs),
      actorName ?? actor,
      code(action),
      code(subject),
      reason ?? '',
    ]),
    empty: 'Nothing yet.',
  });
}
