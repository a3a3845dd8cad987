import { type Html, html } from '#kernel/text/html.ts';
import type { AppRequest } from '#web/console/frame/app-page.ts';
import { HOME_TEXTS as TEXTS } from '#web/console/home/texts.ts';
import type { Figures } from '#calls/stats/stats.ts';
import { barChart } from '#web/figures/bar-chart.ts';

const DAY_MS = 86_400_000;

/** How far back the home looks, and by which step. */
export const PERIODS = {
  day: { step: 'hour', lengthMs: DAY_MS },
  week: { step: 'day', lengthMs: 7 * DAY_MS },
  month: { step: 'day', lengthMs: 30 * DAY_MS },
} as const;

export type Period = keyof typeof PERIODS;

export function periodOf(text: string | null): Period {
  return text !== null && Object.hasOwn(PERIODS, text) ? (text as Period) : 'day';
}

/** Links to the same page over another period. */
export function periodSwitch({ to }: AppRequest, current: Period): Html {
  const links = (Object.keys(PERIODS) as Period[]).map((period) => {
    const isCurrent = period === current ? html` aria-current="true"` : undefined;
    return html`<a href="${to('', { period })}"${isCurrent}>${TEXTS.periods[period]}</a>`;
  });
  return html`<nav class="switch" aria-label="${TEXTS.period}">${links}</nav>`;
}

const LABELS = {
  hour: { hour: '2-digit', minute: '2-digit' },
  day: { day: 'numeric', month: 'short' },
} as const;

/** Calls over time by what became of them, in UTC. */
export function callsChart(points: readonly (Figures & { readonly atMs: number })[], step: 'hour' | 'day'): Html {
  const label = new Intl.DateTimeFormat('en-GB', { ...LABELS[step], timeZone: 'UTC' });
  return barChart({
    id: 'calls-chart',
    caption: TEXTS.chart,
    series: [
      { name: TEXTS.charged, kind: 'main' },
      { name: TEXTS.free, kind: 'calm' },
      { name: TEXTS.refused, kind: 'rare' },
      { name: TEXTS.failed, kind: 'bad' },
    ],
    slots: points.map(({ atMs, calls, chargedCalls, refusals, providerErrors, faults }) => {
      const failed = providerErrors + faults;
      const sizes = [chargedCalls, calls - chargedCalls - refusals - failed, refusals, failed];
      return { label: label.format(atMs), parts: sizes.map((size) => ({ size, text: String(size) })) };
    }),
    axis: (size) => String(size),
  });
}
