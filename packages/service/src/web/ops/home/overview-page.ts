import { appId as appIdOf } from '@purser/contract/identifiers.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { type Micros, micros } from '#kernel/values/micros.ts';
import type { Attention, Finding } from '#operator/health/attention.ts';
import { BUCKETS, latencyOf } from '#calls/stats/latency.ts';
import { STEP_MS } from '#calls/stats/range.ts';
import type { Figures, Stats } from '#calls/stats/stats.ts';
import { badge } from '#web/components/badge.ts';
import { figures } from '#web/figures/figures.ts';
import { list } from '#web/components/list.ts';
import { linkLine } from '#web/components/navigation.ts';
import { section } from '#web/components/section.ts';
import { table } from '#web/figures/table.ts';
import { callsChart } from '#web/console/home/calls-chart.ts';
import { type Period, PERIODS, periodOf } from '#web/console/home/period.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { forOperator } from '#web/ops/frame/for-operator.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { showOpsPage } from '#web/ops/frame/old-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import type { OpsServices } from '#web/ops/frame/asked.ts';
import { mayOpen, entityLink } from '#web/ops/frame/links.ts';
import { cellsPart, withHeld } from '#web/ops/home/cells-part.ts';
import { OVERVIEW_TEXTS as TEXTS } from '#web/ops/home/texts.ts';

const ROWS_MAX = 10;
/** At most this many events are counted, see `Attention`. */
const COUNTED_MAX = 1_000;

/** Makes the page `/ops`, which shows what needs a person first, then how the service does. */
export function overviewPage(services: OpsServices): PageMethods {
  return forOperator(services, {
    GET: async (asked) => {
      const { clock, operator } = services;
      const period = periodOf(asked.request.query.get('period'));
      const nowMs = clock.nowMs();
      const summing = readSums(services, period, nowMs);
      summing.catch(() => {}); // Its fault is shown unless the cell that is away is named anyway.
      const [attention, others] = await Promise.all([operator.readAttention(), operator.readAttentionElsewhere()]);
      const isOneAway = others.some((other) => other.attention === undefined);
      const sums = isOneAway ? undefined : await summing;
      const disabled = attention.findings.find(({ kind }) => kind === 'webhooks-disabled')?.of ?? [];
      const shown = (sums?.apps ?? []).slice(0, ROWS_MAX).map(({ appId }) => appId);
      const names = await operator.apps.names([...shown, ...disabled.map((id) => appIdOf.parse(id))]);
      const body = html`<div id="attention" data-live>
${section({ id: 'needs', heading: TEXTS.attention, body: [findingsOf(asked, attention, names), booksOf(attention, nowMs), cellsPart(operator.cell, others), statusLink(services)] })}
</div>
${sums === undefined ? html`<p>${TEXTS.noSums}</p>` : sumsOf(services, asked, { ...sums, period, attention: withHeld(attention, others), names })}`;
      return showOpsPage(services, asked, { title: TEXTS.title, body, page: '' });
    },
  });
}

/** The calls of a period and of the one before, in all cells. */
async function readSums({ stats }: OpsServices, period: Period, toMs: number) {
  const { step, lengthMs } = PERIODS[period];
  const range = { of: 'every app', mode: 'live', fromMs: toMs - lengthMs, toMs } as const;
  const fromMs = Math.floor(range.fromMs / STEP_MS[step]) * STEP_MS[step] - lengthMs;
  // One statement for this period and the one before.
  const [both, groups] = await Promise.all([stats.series({ ...range, fromMs, step }), stats.groups(range)]);
  const steps = lengthMs / STEP_MS[step];
  return { points: both.slice(steps), before: both.slice(0, steps), ...groups };
}

type Sums = Awaited<ReturnType<typeof readSums>>;

interface SumsShown extends Sums {
  readonly period: Period;
  readonly attention: Attention;
  readonly names: ReadonlyMap<string, string>;
}

function sumsOf(services: OpsServices, asked: OpsRequest, { period, names, ...sums }: SumsShown): Html {
  return html`${periodSwitch(period)}
<div id="figures" data-live>
${figuresOf(services, asked, sums)}
${section({ id: 'calls', heading: TEXTS.chart, body: [callsChart(sums.points, PERIODS[period].step)] })}
</div>
<div class="columns">
${section({ id: 'trouble', heading: TEXTS.trouble, body: [troubleTable(asked, sums.outcomes)] })}
${section({ id: 'apps', heading: TEXTS.apps, body: [appTable(services, asked, sums.apps, names)] })}
${section({ id: 'models', heading: TEXTS.models, body: [modelTable(services, asked, sums.models)] })}
</div>`;
}

/** The page on which everybody else sees how the service is. */
function statusLink({ frame: { statusPage = 'off' } }: OpsServices): Html | undefined {
  return statusPage === 'off' ? undefined : linkLine('/status', TEXTS.status);
}

/** Where a person looks at findings of a kind. */
const PAGE_OF: Readonly<Record<Finding['kind'], readonly [page: string, query: Record<string, string>] | undefined>> = {
  'ledger-wrong': ['health', {}],
  'ledger-check-old': ['health', {}],
  'payments-kept': ['payments', { waits: 'true' }],
  'disputes-open': ['payments', { kind: 'dispute', state: 'taken' }],
  'refunds-late': ['payments', { kind: 'refund', state: 'asked' }],
  'acts-waiting': ['pending', {}],
  'money-held-long': ['wallets', { minHeld: '0.000001' }],
  'upstream-open': ['catalogue', {}],
  'wallets-suspended': ['wallets', { status: 'suspended' }],
  'webhooks-late': ['health', {}],
  // These name apps and accounts, which have pages of their own.
  'webhooks-disabled': undefined,
  'operators-without-second-factor': undefined,
};

function findingsOf({ role }: OpsRequest, { findings }: Attention, apps: ReadonlyMap<string, string>): Html {
  if (findings.length === 0) return html`<p>${badge(TEXTS.nothing, 'good')}</p>`;
  const items = findings.map(({ kind, count, of, names: called }) => {
    const [page, query] = PAGE_OF[kind] ?? [];
    const link =
      page !== undefined && mayOpen(role, page)
        ? html` <a href="${opsPath(page, query)}" aria-label="${TEXTS.look}: ${TEXTS.findings[kind](count)}">${TEXTS.look}</a>`
        : undefined;
    const names = of.map(
      (id, at) => html`${at === 0 ? ' ' : ', '}${nameOf(role, kind, id, called[at] ?? apps.get(id))}`,
    );
    return html`<div>${TEXTS.findings[kind](count)}${names}${link}</div>`;
  });
  return list(items);
}

function nameOf(role: OpsRequest['role'], kind: Finding['kind'], id: string, name: string | undefined): Html {
  if (kind === 'webhooks-disabled') return entityLink(role, { kind: 'app', id }, name);
  if (kind === 'operators-without-second-factor') return entityLink(role, { kind: 'account', id }, name);
  return html`<code>${id}</code>`;
}

function booksOf({ books: { checkedAtMs, differences } }: Attention, nowMs: number): Html {
  if (checkedAtMs === undefined) return html`<p class="soft">${TEXTS.booksUnknown}</p>`;
  const ageMs = nowMs - checkedAtMs;
  return html`<p class="soft">${differences === 0 ? TEXTS.booksRight(ageMs) : TEXTS.booksWrong(differences, ageMs)}</p>`;
}

function periodSwitch(current: Period): Html {
  const links = (Object.keys(PERIODS) as Period[]).map((period) => {
    const isCurrent = period === current ? html` aria-current="true"` : undefined;
    return html`<a href="${opsPath('', { period })}"${isCurrent}>${TEXTS.periods[period]}</a>`;
  });
  return html`<nav class="switch" aria-label="${TEXTS.period}">${links}</nav>`;
}

interface Shown {
  readonly points: readonly Figures[];
  readonly before: readonly Figures[];
  readonly attention: Attention;
}

function figuresOf({ currency }: OpsServices, { request: { formats } }: OpsRequest, shown: Shown): Html {
  const { points, before, attention } = shown;
  const sum = (of: (point: Figures) => number) => points.reduce((total, point) => total + of(point), 0);
  const charged = moneyOf(points, (point) => point.charged);
  const uncosted = moneyOf(points, (point) => point.uncosted);
  const cost = moneyOf(points, (point) => point.cost);
  const costed = charged - uncosted;
  const exact = (amount: bigint) => withSign(amount, (size) => formats.amount(size, currency));
  const calls = sum((point) => point.calls);
  const [refused, failed] = [sum((point) => point.refusals), sum((point) => point.providerErrors + point.faults)];
  const earlierCalls = formats.count(before.reduce((total, point) => total + point.calls, 0));
  const earlier = formats.coins(
    moneyOf(before, (point) => point.charged),
    currency,
  );
  const { delivered, dropped, waiting } = attention.deliveries;
  const count = (some: number) =>
    some === COUNTED_MAX ? TEXTS.deliveriesMost(formats.count(some)) : formats.count(some);
  return figures([
    {
      name: TEXTS.calls,
      value: formats.count(calls),
      note: TEXTS.chargedCalls(formats.count(sum((point) => point.chargedCalls))),
      before: TEXTS.before(earlierCalls),
    },
    {
      name: TEXTS.revenue,
      value: formats.coins(charged, currency),
      note: exact(charged),
      before: TEXTS.before(earlier),
    },
    {
      name: TEXTS.cost,
      value: formats.coins(cost, currency),
      note: TEXTS.costNote(exact(cost)),
      ...(uncosted > 0n ? { before: TEXTS.uncosted(exact(uncosted)) } : {}),
    },
    {
      name: TEXTS.margin,
      value: withSign(costed - cost, (size) => formats.coins(size, currency)),
      note: exact(costed - cost),
      before: TEXTS.share(costed === 0n ? 0 : Number(((costed - cost) * 1_000n) / costed) / 10),
    },
    {
      name: TEXTS.held,
      value: formats.coins(attention.held.amount, currency),
      note: exact(attention.held.amount),
      before: TEXTS.heldBy(attention.held.calls),
    },
    { name: TEXTS.refused, value: formats.count(refused), note: shareOf(refused, calls) },
    { name: TEXTS.failed, value: formats.count(failed), note: shareOf(failed, calls) },
    latencyTile(TEXTS.firstByte, points, 'firstByte'),
    latencyTile(TEXTS.total, points, 'total'),
    { name: TEXTS.deliveries, value: count(delivered), note: TEXTS.deliveriesNote(count(dropped), count(waiting)) },
  ]);
}

function moneyOf(points: readonly Figures[], of: (point: Figures) => bigint): Micros {
  return micros(points.reduce<bigint>((total, point) => total + of(point), 0n));
}

/** A margin is below zero if calls were charged less than they cost. */
function withSign(amount: bigint, write: (size: Micros) => string): string {
  return amount < 0n ? `−${write(micros(-amount))}` : write(micros(amount));
}

function shareOf(count: number, calls: number): string {
  return TEXTS.shareOfCalls(calls === 0 ? 0 : (count / calls) * 100);
}

function latencyTile(name: string, points: readonly Figures[], of: 'firstByte' | 'total') {
  // An hour without calls has no buckets.
  const buckets = Array.from({ length: BUCKETS }, (_, at) =>
    points.reduce((sum, point) => sum + (point[of].buckets[at] ?? 0), 0),
  );
  const { p50Ms, p95Ms } = latencyOf(buckets);
  return {
    name,
    value: p50Ms === undefined ? TEXTS.unknown : TEXTS.ms(p50Ms),
    note: p95Ms === undefined ? undefined : TEXTS.slowest(TEXTS.ms(p95Ms)),
  };
}

function troubleTable({ request }: OpsRequest, outcomes: Awaited<ReturnType<Stats['byOutcome']>>): Html {
  return table({
    caption: html`<span class="soft">${TEXTS.troubleWhat}</span>`,
    columns: [{ name: TEXTS.code }, { name: TEXTS.calls, isNumeric: true }],
    rows: outcomes
      .filter(({ kind }) => kind !== 'served')
      .map(({ outcome, calls, kind }) => [
        html`<code>${outcome}</code><br><span class="soft">${TEXTS.kinds[kind]}</span>`,
        request.formats.count(calls),
      ]),
    empty: TEXTS.noTrouble,
  });
}

type Group = Figures & { readonly name: Html | string };

function groupTable(
  { currency }: OpsServices,
  { request: { formats } }: OpsRequest,
  { what, name, rows }: { readonly what: string; readonly name: string; readonly rows: readonly Group[] },
): Html {
  const written = (amount: bigint) => withSign(amount, (size) => formats.coins(size, currency));
  return table({
    caption: html`<span class="soft">${what}</span>`,
    columns: [{ name }, ...[TEXTS.charged, TEXTS.margin].map((text) => ({ name: text, isNumeric: true }))],
    rows: rows.slice(0, ROWS_MAX).map((row) => {
      const margin = row.charged - row.uncosted - row.cost;
      return [row.name, written(row.charged), written(margin)];
    }),
    empty: TEXTS.noCalls,
  });
}

function appTable(
  services: OpsServices,
  asked: OpsRequest,
  apps: Awaited<ReturnType<Stats['byApp']>>,
  names: ReadonlyMap<string, string>,
): Html {
  const rows = apps.map((app) => ({
    ...app,
    name: entityLink(asked.role, { kind: 'app', id: app.appId }, names.get(app.appId)),
  }));
  return groupTable(services, asked, { what: TEXTS.appsWhat, name: TEXTS.app, rows });
}

function modelTable(services: OpsServices, asked: OpsRequest, models: Awaited<ReturnType<Stats['byModel']>>): Html {
  const rows = models.filter(({ model }) => model !== '').map((one) => ({ ...one, name: one.model }));
  return groupTable(services, asked, { what: TEXTS.modelsWhat, name: TEXTS.model, rows });
}
