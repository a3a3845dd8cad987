import type { Html } from '#kernel/text/html.ts';
import type { Figures } from '#calls/stats/stats.ts';
import { barChart } from '#web/figures/bar-chart.ts';
import { HOME_TEXTS as TEXTS } from '#web/console/home/texts.ts';

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
