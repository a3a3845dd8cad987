// `npm run proofs -- outage [--long] [--pictures <folder>]`: causes what the alerts are about in a real service, waits until a real Prometheus
// fires them, takes the cause away where a play has a remedy, and waits for their end then. The runbook's table says what that proves. Only
// `for`, the time that an alert must be true, is shortened. `--long` also plays those that take a quarter of an hour, and waits for late ends.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { findBrowser } from '../../support/chromium-files.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { ALONE, HELD_PLAYS, LONG_PLAYS } from './held-plays.ts';
import { PHASES, SLOW_TO_END } from './plays.ts';
import { needPrometheus, type Prometheus, startPrometheus } from './prometheus.ts';
import { type Observed, type Play, startObserved } from './stage.ts';
import { failedTrace } from './trace.ts';

const FOR_SECONDS = 1;
const FIRE_MS_MAX = 150_000;
const END_MS_MAX = 180_000;
/** The plays after it keep an alert up that looks at the last minutes. */
const LONG_END_MS_MAX = 1_800_000;
const PROVIDER_DOWN = 'PurserProviderDown';
const PICTURED = {
  'provider-outage': 'sum by (provider, outcome) (rate(purser_upstream_calls_total[10s]))',
  'provider-alert': `ALERTS{alertname="${PROVIDER_DOWN}"}`,
  'provider-breaker': 'max by (provider, model) (purser_upstream_open)',
};

const { values } = parseArgs({ options: { long: { type: 'boolean', default: false }, pictures: { type: 'string' } } });
const { long: isLong, pictures } = values;
needPrometheus();
const observed = await startObserved({ isCalm: true });
const prometheus = await startPrometheus(observed.directory, [observed.service.url], FOR_SECONDS);
const missed: string[] = [];
const slowEnds: Promise<void>[] = [];
try {
  const perform = (plays: readonly Play[]) => Promise.all(plays.map((one) => play(one, observed, prometheus)));
  const [first = [], ...others] = PHASES;
  const last = others.splice(-1); // It stops the service.
  await perform(first);
  await perform(HELD_PLAYS);
  const long = isLong ? perform(LONG_PLAYS) : undefined; // No check of the ledger runs meanwhile, and the first phase needs one.
  for (const phase of [...ALONE.map((one) => [one]), ...others]) await perform(phase);
  await Promise.all([long, ...slowEnds]);
  for (const phase of last) await perform(phase);
} finally {
  await prometheus.stop();
  await observed.close();
}
console.log(missed.length === 0 ? 'All of them fired.' : `MISSED: ${missed.join(', ')}`);
process.exitCode = missed.length === 0 ? 0 : 1;

async function play(
  { alerts, cause, remedy, fireMsMax = FIRE_MS_MAX }: Play,
  stage: Observed,
  { alerts: read, url }: Prometheus,
): Promise<void> {
  const stateOf = async (name: string) =>
    (await read()).find(({ labels, state }) => labels.alertname === name && state === 'firing');
  const begun = Date.now();
  const since = (): string => `${Math.round((Date.now() - begun) / 1_000)} s`;
  await cause(stage);
  for (const name of alerts) {
    const fired = await waitUntil(name, () => stateOf(name), fireMsMax).catch(() => undefined);
    if (fired === undefined) missed.push(name);
    console.log(
      `${name} ${fired === undefined ? 'did NOT fire' : 'fired'} after ${since()}: ${fired?.annotations.summary}`,
    );
  }
  if (alerts.includes(PROVIDER_DOWN)) {
    const trace = failedTrace(stage.collector.spans());
    if (trace === undefined) missed.push('a trace of a failed call');
    console.log(`A call meanwhile, as the collector got it:\n${trace ?? 'none'}`);
  }
  if (remedy === undefined) return;
  await remedy(stage);
  const end = async (name: string, endMsMax: number): Promise<void> => {
    const ended = await waitUntil(name, async () => (await stateOf(name)) === undefined, endMsMax).catch(() => false);
    if (!ended) missed.push(`the end of ${name}`);
    console.log(`${name} ${ended ? 'ended' : 'did NOT end'} after ${since()}`);
  };
  for (const name of alerts) {
    if (!SLOW_TO_END.includes(name)) await end(name, END_MS_MAX);
    else if (isLong) slowEnds.push(end(name, LONG_END_MS_MAX));
  }
  if (pictures !== undefined && alerts.includes(PROVIDER_DOWN)) await takePictures(url, pictures);
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
