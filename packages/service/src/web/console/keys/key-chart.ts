import type { ApiKey } from '#developers/keys/api-key.ts';
import type { Html } from '#kernel/text/html.ts';
import type { KeyPoint } from '#calls/stats/stats.ts';
import { barChart } from '#web/figures/bar-chart.ts';
import { section } from '#web/components/parts.ts';
import type { AppRequest } from '#web/console/frame/app-page.ts';
import { KEY_TEXTS as TEXTS } from '#web/console/keys/texts.ts';

const DAY_MS = 86_400_000;
const DAYS = 29; // And today.
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** Calls with a key of this app by day. */
export async function keyChart(
  { services: { stats, clock }, app: { appId } }: AppRequest,
  { keyId, mode }: ApiKey,
): Promise<Html | undefined> {
  const toMs = clock.nowMs();
  return chartOfKey(await stats.keySeries({ appId, keyId, mode, fromMs: toMs - DAYS * DAY_MS, toMs }));
}

/** Returns undefined for a key without any calls, because there would be nothing to see. */
export function chartOfKey(points: readonly KeyPoint[]): Html | undefined {
  if (points.every(({ calls }) => calls === 0)) return undefined;
  const chart = barChart({
    id: 'key-chart',
    caption: TEXTS.chart,
    series: [
      { name: TEXTS.charged, kind: 'main' },
      { name: TEXTS.notCharged, kind: 'calm' },
    ],
    slots: points.map(({ atMs, calls, chargedCalls }) => ({
      label: DAY.format(atMs),
      parts: [chargedCalls, calls - chargedCalls].map((size) => ({ size, text: String(size) })),
    })),
    axis: String,
  });
  return section({ id: 'calls', heading: TEXTS.calls, body: [chart] });
}
