import type { ApiKey } from '#accounts/own-key.ts';
import type { Html } from '#kernel/html.ts';
import { barChart } from '#web/components/bar-chart.ts';
import { section } from '#web/components/section.ts';
import type { AppRequest } from '#web/console/app-page.ts';
import type { ConsoleKeysServices } from '#web/console-keys/console-keys-services.ts';
import { KEY_TEXTS as TEXTS } from '#web/console-keys/texts.ts';

const DAY_MS = 86_400_000;
const DAYS = 29; // And today.
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** Calls with a key by day. Undefined for a key without any: there would be nothing to see. */
export async function keyChart(
  { stats, clock }: ConsoleKeysServices,
  { app: { appId } }: AppRequest,
  { keyId, mode }: ApiKey,
): Promise<Html | undefined> {
  const toMs = clock.nowMs();
  const points = await stats.keySeries({ appId, keyId, mode, fromMs: toMs - DAYS * DAY_MS, toMs });
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
