import { html, type Html } from '#kernel/text/html.ts';
import { micros } from '#kernel/values/micros.ts';
import { BUCKETS, latencyOf } from '#calls/stats/latency.ts';
import { STEP_MS } from '#calls/stats/range.ts';
import type { Figures } from '#calls/stats/stats.ts';
import { figures, moment, table } from '#web/figures/figures.ts';
import { successNotice } from '#web/components/notices.ts';
import { badge, definitionList, linkLine, section } from '#web/components/parts.ts';
import { type AppRequest, forApp, showAppPage } from '#web/console/frame/app-page.ts';
import { callsChart, type Period, periodOf, PERIODS, periodSwitch } from '#web/console/home/period.ts';
import { HOME_TEXTS as TEXTS, SET_UP_TEXTS, SETTINGS_TEXTS } from '#web/console/home/texts.ts';
import { appPath } from '#web/console/frame/mode.ts';

/** Shows at `/console/:part` what needs attention in the app, and what is left to set up. */
export const homePage = forApp({
  GET: async (asked) => {
    const { app, mode, request } = asked;
    const { stats, clock } = asked.services;
    const period = periodOf(request.query.get('period'));
    const { step, lengthMs } = PERIODS[period];
    const toMs = clock.nowMs();
    const range = { appId: app.appId, mode, fromMs: toMs - lengthMs, toMs };
    const webhook = await asked.services.deliveries.health(app.appId);
    const stepsMs = Math.floor(range.fromMs / STEP_MS[step]) * STEP_MS[step];
    const [both, outcomes, models, left] = await Promise.all([
      // One statement for this period and the one before.
      stats.series({ ...range, fromMs: stepsMs - lengthMs, step }),
      stats.byOutcome(range),
      stats.byModel(range),
      setUpList(asked, webhook),
    ]);
    const [points, before] = [both.slice(lengthMs / STEP_MS[step]), both.slice(0, lengthMs / STEP_MS[step])];
    const body = html`${successNotice(SETTINGS_TEXTS.done.get(request.query.get('done')))}
${left}
${periodSwitch(asked, period)}
<div id="figures" data-live>
${figuresOf(asked, { period, points, before })}
${section({ id: 'calls', heading: TEXTS.calls, body: [callsChart(points, step)] })}
</div>
<div class="columns">
${section({ id: 'trouble', heading: TEXTS.trouble, body: [troubleTable(asked, outcomes)] })}
${section({ id: 'models', heading: TEXTS.models, body: [modelTable(asked, models)] })}
${webhook.status === undefined ? undefined : section({ id: 'webhook', heading: TEXTS.webhook, body: [webhookFacts(asked, webhook)] })}
</div>`;
    return showAppPage(asked, { title: app.name, body, page: '' });
  },
});

function figuresOf(
  { services, request, mode }: AppRequest,
  {
    period,
    points,
    before,
  }: { readonly period: Period; readonly points: readonly Figures[]; readonly before: readonly Figures[] },
) {
  const { formats } = request;
  const spentIn = (some: readonly Figures[]) =>
    formats.coins(micros(some.reduce<bigint>((total, { charged }) => total + charged, 0n)), services.currency);
  const [first, total] = [mergedOf(points, 'firstByte'), mergedOf(points, 'total')];
  const calls = sumOf(points, (point) => point.calls);
  const refused = sumOf(points, (point) => point.refusals);
  const failed = sumOf(points, failuresOf);
  const earlier = (text: string) => TEXTS.before[period](text);
  const earlierCount = (of: (point: Figures) => number) => earlier(formats.count(sumOf(before, of)));
  return figures([
    {
      name: TEXTS.calls,
      value: formats.count(calls),
      note: TEXTS.chargedCalls(formats.count(sumOf(points, (point) => point.chargedCalls))),
      before: earlierCount((point) => point.calls),
    },
    {
      name: mode === 'live' ? TEXTS.spent : TEXTS.played,
      value: spentIn(points),
      before: earlier(spentIn(before)),
    },
    {
      name: TEXTS.refused,
      value: formats.count(refused),
      note: shareOf(refused, calls),
      before: earlierCount((point) => point.refusals),
    },
    {
      name: TEXTS.failed,
      value: formats.count(failed),
      note: shareOf(failed, calls),
      before: earlierCount(failuresOf),
    },
    {
      name: TEXTS.firstByte,
      value: first.p50Ms === undefined ? TEXTS.unknown : TEXTS.ms(first.p50Ms),
      note: first.p95Ms === undefined ? undefined : TEXTS.slowest(TEXTS.ms(first.p95Ms)),
    },
    {
      name: TEXTS.total,
      value: total.p50Ms === undefined ? TEXTS.unknown : TEXTS.ms(total.p50Ms),
      note: total.p95Ms === undefined ? undefined : TEXTS.slowest(TEXTS.ms(total.p95Ms)),
    },
  ]);
}

function sumOf(points: readonly Figures[], of: (point: Figures) => number): number {
  return points.reduce((total, point) => total + of(point), 0);
}

function failuresOf({ providerErrors, faults }: Figures): number {
  return providerErrors + faults;
}

function shareOf(count: number, calls: number): string {
  return TEXTS.share(calls === 0 ? 0 : (count / calls) * 100);
}

/** Events of the last 24 hours. They tell of live wallets, in either mode of the page. */
function webhookFacts({ to, request: { formats } }: AppRequest, webhook: WebhookHealth) {
  const { status, delivered, failing, dropped, lastFailure } = webhook;
  const facts = definitionList([
    [
      TEXTS.webhookState,
      badge(status === 'active' ? TEXTS.webhookActive : TEXTS.webhookDisabled, status === 'active' ? 'good' : 'warn'),
    ],
    [TEXTS.delivered, formats.count(delivered)],
    [TEXTS.failing, formats.count(failing)],
    [TEXTS.dropped, formats.count(dropped)],
    lastFailure === undefined ? undefined : [TEXTS.lastFailure, moment(lastFailure.atMs, formats)],
  ]);
  return html`${facts}\n${linkLine(to('webhooks'), TEXTS.toWebhooks)}`;
}

/** The latencies of all points together. */
function mergedOf(points: readonly Figures[], of: 'firstByte' | 'total') {
  // An hour without calls has no buckets.
  const buckets = Array.from({ length: BUCKETS }, (_, at) =>
    points.reduce((sum, point) => sum + (point[of].buckets[at] ?? 0), 0),
  );
  return latencyOf(buckets);
}

/** Everything that was neither charged nor meant to be free, the most frequent first, with a way to the calls. */
function troubleTable(
  { to, request }: AppRequest,
  outcomes: Awaited<ReturnType<AppRequest['services']['stats']['byOutcome']>>,
) {
  const trouble = outcomes.filter(({ kind }) => kind !== 'served');
  return table({
    caption: html`<span class="soft">${TEXTS.troubleWhat}</span>`,
    columns: [{ name: TEXTS.code }, { name: TEXTS.calls, isNumeric: true }],
    rows: trouble.map(({ outcome, calls, kind }) => [
      html`<a href="${to('calls', { outcome: kind === 'refused' ? 'refused' : 'failed' })}"><code>${outcome}</code></a><br><span class="soft">${TEXTS.kinds[kind]}</span>`,
      request.formats.count(calls),
    ]),
    empty: TEXTS.noTrouble,
  });
}

function modelTable(
  { services, request: { formats } }: AppRequest,
  models: Awaited<ReturnType<AppRequest['services']['stats']['byModel']>>,
) {
  return table({
    caption: html`<span class="soft">${TEXTS.modelsWhat}</span>`,
    columns: [{ name: TEXTS.model }, { name: TEXTS.calls, isNumeric: true }, { name: TEXTS.charged, isNumeric: true }],
    rows: models
      .filter(({ model }) => model !== '')
      .slice(0, 10)
      .map(({ model, calls, charged }) => [model, formats.count(calls), formats.coins(charged, services.currency)]),
    empty: TEXTS.noModels,
  });
}

type WebhookHealth = Awaited<ReturnType<AppRequest['services']['deliveries']['health']>>;

/** What a new app still needs, each with the way to the page that does it. Undefined once everything is there. */
async function setUpList(
  { services: { apps, stats, logos }, app }: AppRequest,
  webhook: WebhookHealth,
): Promise<Html | undefined> {
  const { appId } = app;
  const [keys, firsts, logo] = await Promise.all([
    apps.listKeys(appId),
    // A live key that was only refused has made no call that works.
    stats.firsts(appId),
    logos.digestOf(appId),
  ]);
  const inForce = keys.filter(({ revokedAtMs }) => revokedAtMs === undefined);
  const has = (mode: 'live' | 'sandbox') => inForce.some((key) => key.mode === mode);
  const steps = [
    { ...SET_UP_TEXTS.testKey, isDone: has('sandbox'), href: appPath(appId, 'keys', 'sandbox') },
    { ...SET_UP_TEXTS.call, isDone: firsts.played, href: appPath(appId, 'playground', 'sandbox') },
    {
      ...SET_UP_TEXTS.refusal,
      isDone: firsts.refused,
      href: appPath(appId, 'sandbox', 'sandbox'),
    },
    { ...SET_UP_TEXTS.redirect, isDone: app.redirectUris.length > 0, href: appPath(appId, 'settings', 'live') },
    { ...SET_UP_TEXTS.logo, isDone: logo !== undefined, href: appPath(appId, 'settings', 'live') },
    { ...SET_UP_TEXTS.webhook, isDone: webhook.status === 'active', href: appPath(appId, 'webhooks', 'live') },
    { ...SET_UP_TEXTS.liveKey, isDone: has('live'), href: appPath(appId, 'keys', 'live') },
    {
      ...SET_UP_TEXTS.liveCall,
      isDone: firsts.charged,
      href: appPath(appId, 'playground', 'live'),
    },
  ];
  const done = steps.filter(({ isDone }) => isDone).length;
  if (done === steps.length) return undefined;
  const items = steps.map(({ name, why, isDone, href }) =>
    isDone
      ? html`<li class="done">${name} <span class="soft">${SET_UP_TEXTS.done}</span></li>\n`
      : html`<li><a href="${href}">${name}</a><br><span class="soft">${why}</span></li>\n`,
  );
  return section({
    id: 'set-up',
    heading: SET_UP_TEXTS.heading(done, steps.length),
    body: [html`<ul class="todo">${items}</ul>`],
  });
}
