import { appId as appIdOf } from '@purser/contract/identifiers.ts';
import type { OtherCellAttention } from '#http/cells/operators/attention.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { type Micros, micros, microsSumFromRow } from '#kernel/values/micros.ts';
import type { Attention, Finding } from '#operator/health/attention.ts';
import { BUCKETS, latencyOf } from '#calls/stats/latency.ts';
import { STEP_MS } from '#calls/stats/range.ts';
import type { Figures, Stats } from '#calls/stats/stats.ts';
import { figures } from '#web/figures/figures.ts';
import { badge, linkLine, list } from '#web/components/parts.ts';
import { callsChart, type Period, periodOf, PERIODS } from '#web/console/home/period.ts';
import type { OpsPage, OpsRequest } from '#web/ops/frame/asked.ts';
import { type AppNames, code, listing, opsPath, part, soft } from '#web/ops/frame/details.ts';
import { OVERVIEW_TEXTS as TEXTS } from '#web/ops/home/texts.ts';

const ROWS_MAX = 10;
/** At most this many events are counted, see `Attention`. */
const COUNTED_MAX = 1_000;

/** The page `/ops`, which shows what needs a person first, then how the service does. */
export const overviewPage: OpsPage = {
  GET: async (asked) => {
    const { operator, frame } = asked;
    const period = periodOf(asked.query.get('period'));
    const summing = readSums(asked, period);
    summing.catch(() => {}); // Its fault is shown unless the cell that is away is named anyway.
    const [attention, others] = await Promise.all([operator.readAttention(), operator.readAttentionElsewhere()]);
    const isOneAway = others.some((other) => other.attention === undefined);
    const sums = isOneAway ? undefined : await summing;
    const disabled = attention.findings.find(({ kind }) => kind === 'webhooks-disabled')?.of ?? [];
    const shown = (sums?.apps ?? []).slice(0, ROWS_MAX).map(({ appId }) => appId);
    const names = await operator.apps.names([...shown, ...disabled.map((id) => appIdOf.parse(id))]);
    const needs = part(
      'needs',
      'Needs attention',
      findingsOf(asked, attention, names),
      booksOf(asked, attention),
      operator.cell === undefined ? undefined : cellsOf(operator.cell, others),
      // The page on which everybody else sees how the service is.
      (frame.statusPage ?? 'off') === 'off' ? undefined : linkLine('/status', 'The public status page'),
    );
    const body = html`<div id="attention" data-live>
${needs}
</div>
${sums === undefined ? html`<p>${TEXTS.noSums}</p>` : sumsOf(asked, sums, { period, names, attention, others })}`;
    return asked.show({ title: 'Overview', body, page: '' });
  },
};

/** The calls of a period and of the one before, in all cells. */
async function readSums({ stats, clock }: OpsRequest, period: Period) {
  const { step, lengthMs } = PERIODS[period];
  const toMs = clock.nowMs();
  const range = { of: 'every app', mode: 'live', fromMs: toMs - lengthMs, toMs } as const;
  const fromMs = Math.floor(range.fromMs / STEP_MS[step]) * STEP_MS[step] - lengthMs;
  // One statement for this period and the one before.
  const [both, groups] = await Promise.all([stats.series({ ...range, fromMs, step }), stats.groups(range)]);
  const steps = lengthMs / STEP_MS[step];
  return { points: both.slice(steps), before: both.slice(0, steps), ...groups };
}

type Sums = Awaited<ReturnType<typeof readSums>>;

interface Beside {
  readonly period: Period;
  readonly names: AppNames;
  readonly attention: Attention;
  readonly others: readonly OtherCellAttention[];
}

function sumsOf(asked: OpsRequest, sums: Sums, { period, names, attention, others }: Beside): Html {
  const apps = sums.apps.map((app) => ({
    ...app,
    name: asked.link({ kind: 'app', id: app.appId }, names.get(app.appId)),
  }));
  const models = sums.models.filter(({ model }) => model !== '').map((one) => ({ ...one, name: one.model }));
  return html`${periodSwitch(period)}
<div id="figures" data-live>
${figuresOf(asked, sums, attention, heldIn([attention, ...others.flatMap((other) => other.attention ?? [])]))}
${part('calls', 'Calls', callsChart(sums.points, PERIODS[period].step))}
</div>
<div class="columns">
${part('trouble', 'Refusals and failures', troubleTable(asked, sums.outcomes))}
${part('apps', 'Apps', groupTable(asked, 'Those whose users paid the most', 'App', apps))}
${part('models', 'Models', groupTable(asked, 'Those for which users paid the most', 'Model', models))}
</div>`;
}

/** The money that calls hold in all cells. */
function heldIn(all: readonly Pick<Attention, 'held'>[]): Attention['held'] {
  const amount = all.reduce((total, { held }) => total + held.amount, 0n);
  return { amount: microsSumFromRow(amount), calls: all.reduce((total, { held }) => total + held.calls, 0) };
}

/** What the other cells need, in a line each. */
function cellsOf(own: string, others: readonly OtherCellAttention[]): Html {
  const lines = others.map(({ cell, attention }) => {
    if (attention === undefined) return html`<div>${TEXTS.cell(cell)} ${badge('It is not responding.', 'warn')}</div>`;
    // Names follow the colon here only: they are looked up in that cell.
    const needs = attention.findings.map(({ kind, count }) => TEXTS.findings[kind](count).replace(/:$/, '.'));
    const state = needs.length === 0 ? badge(TEXTS.nothing, 'good') : needs.join(' ');
    return html`<div>${TEXTS.cell(cell)} ${state}</div>`;
  });
  return html`<p class="soft">${TEXTS.ownCell(own)}</p>${list(lines)}`;
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

function findingsOf(asked: OpsRequest, { findings }: Attention, apps: AppNames): Html {
  if (findings.length === 0) return html`<p>${badge(TEXTS.nothing, 'good')}</p>`;
  const items = findings.map(({ kind, count, of, names: called }) => {
    const [page, query] = PAGE_OF[kind] ?? [];
    const text = TEXTS.findings[kind](count);
    const look =
      page !== undefined && asked.mayOpen(page)
        ? html` <a href="${opsPath(page, query)}" aria-label="${TEXTS.look}: ${text}">${TEXTS.look}</a>`
        : undefined;
    const names = of.map(
      (id, at) => html`${at === 0 ? ' ' : ', '}${nameOf(asked, kind, id, called[at] ?? apps.get(id))}`,
    );
    return html`<div>${text}${names}${look}</div>`;
  });
  return list(items);
}

function nameOf({ link }: OpsRequest, kind: Finding['kind'], id: string, name: string | undefined): Html {
  if (kind === 'webhooks-disabled') return link({ kind: 'app', id }, name);
  return kind === 'operators-without-second-factor' ? link({ kind: 'account', id }, name) : code(id);
}

function booksOf({ clock }: OpsRequest, { books: { checkedAtMs, differences } }: Attention): Html {
  if (checkedAtMs === undefined) return html`<p class="soft">${TEXTS.booksUnknown}</p>`;
  const ageMs = clock.nowMs() - checkedAtMs;
  return html`<p class="soft">${differences === 0 ? TEXTS.booksRight(ageMs) : TEXTS.booksWrong(differences, ageMs)}</p>`;
}

function periodSwitch(current: Period): Html {
  const links = (Object.keys(PERIODS) as Period[]).map((period) => {
    const isCurrent = period === current ? html` aria-current="true"` : undefined;
    return html`<a href="${opsPath('', { period })}"${isCurrent}>${TEXTS.periods[period]}</a>`;
  });
  return html`<nav class="switch" aria-label="Period">${links}</nav>`;
}

function figuresOf(
  { currency, formats, ...asked }: OpsRequest,
  { points, before }: Sums,
  { deliveries: { delivered, dropped, waiting } }: Attention,
  held: Attention['held'],
): Html {
  const sum = (of: (point: Figures) => number, all = points) => all.reduce((total, point) => total + of(point), 0);
  const money = (of: (point: Figures) => bigint, all = points) =>
    micros(all.reduce<bigint>((total, point) => total + of(point), 0n));
  const [charged, uncosted] = [money((point) => point.charged), money((point) => point.uncosted)];
  const cost = money((point) => point.cost);
  const costed = charged - uncosted;
  const exact = (amount: bigint) => withSign(amount, asked.amount);
  const coins = (amount: bigint) => withSign(amount, (size) => formats.coins(size, currency));
  const calls = sum((point) => point.calls);
  const [refused, failed] = [sum((point) => point.refusals), sum((point) => point.providerErrors + point.faults)];
  const count = (some: number) => (some === COUNTED_MAX ? `${formats.count(some)} or more` : formats.count(some));
  const callsBefore = TEXTS.before(formats.count(sum((point) => point.calls, before)));
  const chargedBefore = TEXTS.before(coins(money((point) => point.charged, before)));
  const unknown = uncosted > 0n ? `unknown for ${exact(uncosted)} of the charges` : undefined;
  const margin = costed - cost;
  const share = TEXTS.share(costed === 0n ? 0 : Number((margin * 1_000n) / costed) / 10);
  return figures([
    tile(
      TEXTS.calls,
      formats.count(calls),
      `${formats.count(sum((point) => point.chargedCalls))} charged`,
      callsBefore,
    ),
    tile('Charged to users', coins(charged), exact(charged), chargedBefore),
    tile('Provider cost', coins(cost), `${exact(cost)}, at the catalogue’s prices`, unknown),
    tile(TEXTS.margin, coins(margin), exact(margin), share),
    tile('On hold now', coins(held.amount), exact(held.amount), TEXTS.heldBy(held.calls)),
    tile('Refused', formats.count(refused), shareOf(refused, calls)),
    tile('Failed', formats.count(failed), shareOf(failed, calls)),
    latencyTile('Time to first byte', points, 'firstByte'),
    latencyTile('Total time', points, 'total'),
    tile('Events delivered, 24 hours', count(delivered), `${count(dropped)} dropped, ${count(waiting)} waiting`),
  ]);
}

function tile(name: string, value: string, note: string, before?: string) {
  return before === undefined ? { name, value, note } : { name, value, note, before };
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
    value: p50Ms === undefined ? '–' : TEXTS.ms(p50Ms),
    note: p95Ms === undefined ? undefined : `95 % within ${TEXTS.ms(p95Ms)}`,
  };
}

function troubleTable({ formats }: OpsRequest, outcomes: Awaited<ReturnType<Stats['byOutcome']>>): Html {
  return listing({
    note: 'By code, most frequent first',
    columns: ['Code', TEXTS.calls],
    numbers: [1],
    rows: outcomes
      .filter(({ kind }) => kind !== 'served')
      .map(({ outcome, calls, kind }) => [html`${code(outcome)}<br>${soft(TEXTS.kinds[kind])}`, formats.count(calls)]),
    empty: 'Nothing was refused and nothing failed.',
  });
}

type Group = Figures & { readonly name: Html | string };

function groupTable({ currency, formats }: OpsRequest, note: string, name: string, rows: readonly Group[]): Html {
  const written = (amount: bigint) => withSign(amount, (size) => formats.coins(size, currency));
  return listing({
    note,
    columns: [name, 'Charged', TEXTS.margin],
    numbers: [1, 2],
    rows: rows
      .slice(0, ROWS_MAX)
      .map((row) => [row.name, written(row.charged), written(row.charged - row.uncosted - row.cost)]),
    empty: 'No calls in this period.',
  });
}
