// `npm run try:outage [folder for pictures]`: causes what the alerts are about in a real service, waits until a real Prometheus fires
// them, takes the cause away where a play has a remedy, and waits for their end then. The runbook's table says what that proves. Only `for`, the time that an alert must be true, is shortened.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { findBrowser } from '../support/chromium-files.ts';
import { waitUntil } from '../support/wait-until.ts';
import { PHASES, type Play, SLOW_TO_END } from './plays.ts';
import { needPrometheus, type Prometheus, startPrometheus } from './prometheus.ts';
import { type Observed, startObserved } from './stage.ts';

const FOR_SECONDS = 1;
const FIRE_MS_MAX = 150_000;
const END_MS_MAX = 180_000;
const PICTURED = {
  'provider-outage': 'sum by (provider, outcome) (rate(purser_upstream_calls_total[10s]))',
  'provider-alert': 'ALERTS{alertname="PurserProviderDown"}',
  'provider-breaker': 'max by (provider, model) (purser_upstream_open)',
};

const pictures = process.argv[2];
needPrometheus();
const observed = await startObserved({ isCalm: true });
const prometheus = await startPrometheus(observed.directory, [observed.service.url], FOR_SECONDS);
const missed: string[] = [];
try {
  for (const phase of PHASES) await Promise.all(phase.map((one) => play(one, observed, prometheus)));
} finally {
  await prometheus.stop();
  await observed.close();
}
console.log(missed.length === 0 ? 'All of them fired.' : `MISSED: ${missed.join(', ')}`);
process.exitCode = missed.length === 0 ? 0 : 1;

async function play(
  { alerts, cause, remedy }: Play,
  stage: Observed,
  { alerts: read, url }: Prometheus,
): Promise<void> {
  const stateOf = async (name: string) =>
    (await read()).find(({ labels, state }) => labels.alertname === name && state === 'firing');
  const begun = Date.now();
  const since = (): string => `${Math.round((Date.now() - begun) / 1_000)} s`;
  await cause(stage);
  for (const name of alerts) {
    const fired = await waitUntil(name, () => stateOf(name), FIRE_MS_MAX).catch(() => undefined);
    if (fired === undefined) missed.push(name);
    console.log(
      `${name} ${fired === undefined ? 'did NOT fire' : 'fired'} after ${since()}: ${fired?.annotations.summary}`,
    );
  }
  if (remedy === undefined) return;
  await remedy(stage);
  for (const name of alerts.filter((one) => !SLOW_TO_END.includes(one))) {
    const ended = await waitUntil(name, async () => (await stateOf(name)) === undefined, END_MS_MAX).catch(() => false);
    if (!ended) missed.push(`the end of ${name}`);
    console.log(`${name} ${ended ? 'ended' : 'did NOT end'} after ${since()}`);
  }
  if (pictures !== undefined && alerts.includes('PurserProviderDown')) await takePictures(url, pictures);
}

/** The graph page of Prometheus, as a person sees it. */
async function takePictures(url: string, folder: string): Promise<void> {
  const files = await findBrowser();
  if (files === undefined) return console.log('No picture: there is no browser.');
  mkdirSync(folder, { recursive: true });
  const browser = await chromium.launch({
    executablePath: files.executable,
    env: { ...process.env, ...files.environment },
    args: ['--no-sandbox', '--disable-gpu', '--headless=shell'],
  });
  const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } });
  for (const [name, expression] of Object.entries(PICTURED)) {
    await page.goto(`${url}/graph?g0.expr=${encodeURIComponent(expression)}&g0.tab=0&g0.range_input=6m`);
    await page.waitForTimeout(3_000);
    await page.screenshot({ path: path.join(folder, `${name}.png`) });
  }
  await browser.close();
}
