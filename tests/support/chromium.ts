import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { type BrowserFiles, findBrowser } from './chromium-files.ts';
import { type ContextOptions, IS_FOR_PEOPLE, otherWidth } from './looks.ts';

/** A real browser whose contexts share nothing. */
export interface Chromium {
  readonly open: (options?: ContextOptions) => Promise<Tab>;
}

/** One window and a record of what it did. */
export interface Tab {
  readonly page: Page;
  readonly context: BrowserContext;
  /** The console messages and script errors. */
  readonly complaints: readonly string[];
  readonly requests: readonly Requested[];
  /** The hosts that it may contact. */
  readonly hosts: readonly string[];
}

interface Requested {
  readonly url: string;
  readonly referer: string | undefined;
  /** Whether the request loads a page and not a part of one. */
  readonly isPage: boolean;
}

const LAUNCH_MS_MAX = 60_000;
/** The limit for one step on a page. The tests have their own limits. */
const STEP_MS_MAX = 60_000;
const ARGUMENTS = [
  '--no-sandbox', // A container does not allow one.
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-dev-shm-usage', // A container may have little of it.
  '--disable-quic',
];
let isTold = false;
const SCREENSHOTS = path.resolve(import.meta.dirname, '../../.test-output/screenshots');

/**
 * A browser that resolves each of these hosts to an address of this machine, and no other name. Names that end in
 * `.localhost` have cookies and passkeys like public names, and each is a separate site. Its tabs are closed when the test
 * ends. If there is no browser, it is undefined and the test is skipped.
 */
export async function openChromium(
  t: TestContext,
  hosts: Readonly<Record<string, string>>,
): Promise<Chromium | undefined> {
  const files = await findBrowser();
  if (files === undefined) {
    t.skip('There is no browser on this platform: name one in PURSER_TEST_BROWSER.');
    return undefined;
  }
  const rules = Object.entries(hosts).map(([name, url]) => `MAP ${name} ${new URL(url).host}`);
  const browser = await browserFor(files, [...rules, 'MAP * ~NOTFOUND'].join(','));
  if (IS_FOR_PEOPLE && !isTold) t.diagnostic(`pictures of pages: ${path.relative(process.cwd(), SCREENSHOTS)}`);
  isTold = true;
  return {
    open: async (options) => {
      const tab = await openTab(browser, options);
      t.after(() => tab.context.close());
      return tab;
    },
  };
}

/**
 * The browsers are kept by the hosts that they know. A start takes a browser longer than many a test, and contexts
 * share nothing.
 */
const browsers = new Map<string, Promise<Browser>>();
after(async () => {
  for (const browser of browsers.values()) await (await browser).close();
});

function browserFor({ executable, environment }: BrowserFiles, rules: string): Promise<Browser> {
  const running = browsers.get(rules);
  if (running !== undefined) return running;
  const launched = chromium.launch({
    executablePath: executable,
    env: { PATH: process.env['PATH'] ?? '', HOME: path.dirname(executable), ...environment },
    chromiumSandbox: false,
    timeout: LAUNCH_MS_MAX,
    args: [...ARGUMENTS, `--host-resolver-rules=${rules}`],
  });
  browsers.set(rules, launched);
  return launched;
}

async function openTab(
  browser: Browser,
  {
    width = 1280,
    hasScripts = true,
    colorScheme = 'light',
    locale = 'en-GB',
    others = [],
    ...more
  }: ContextOptions = {},
): Promise<Tab> {
  const context = await browser.newContext({
    viewport: { width, height: width < 600 ? 844 : 900 },
    javaScriptEnabled: hasScripts,
    colorScheme,
    locale,
    ...more,
  });
  context.setDefaultTimeout(STEP_MS_MAX);
  const complaints: string[] = [];
  const requests: Requested[] = [];
  context.on('request', (request) => {
    requests.push({ url: request.url(), isPage: request.isNavigationRequest(), referer: request.headers()['referer'] });
  });
  context.on('console', (message) => complaints.push(message.text()));
  context.on('weberror', (error) => complaints.push(String(error.error())));
  return { page: await context.newPage(), context, complaints, requests, hosts: ['purser.localhost', ...others] };
}

const PICTURE_TRIES = 5;
const PICTURE_PAUSE_MS = 500;

/** Saves a picture of the page in `.test-output/screenshots`, for people to judge, if they asked for pictures. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  if (!IS_FOR_PEOPLE) return; // No test looks at a picture, and a whole page takes the browser longer than its tests.
  mkdirSync(SCREENSHOTS, { recursive: true });
  const file = { path: path.join(SCREENSHOTS, `${name}.png`), fullPage: true } as const;
  // A machine under load may fail to take a picture. No test depends on one.
  for (let left = PICTURE_TRIES; left > 1; left -= 1) {
    const isKept = await page.screenshot(file).then(
      () => true,
      () => false,
    );
    if (isKept) return;
    await page.waitForTimeout(PICTURE_PAUSE_MS);
  }
  await page.screenshot(file);
}

/** The page and everything that came with it. */
const BYTES_MAX = 50_000;
const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
/** The rules of axe whose result depends on the width or on colours. */
const OF_LOOKS = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable', 'target-size'];
const BAD = new Set(['serious', 'critical']);
/** What a browser reports about a page that is a refusal, which is no fault of the page. */
const REFUSED = /^Failed to load resource: the server responded with a status of 4\d\d /;

/** What of ours stands from right to left: its columns are mirrored, and the marks of code move. Names that others chose are in `bdi`. */
const MIRRORED = `[...document.querySelectorAll('body *')]
  .filter((one) => getComputedStyle(one).direction === 'rtl' && one.closest('bdi') === null)
  .filter((one) => [...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== ''))
  .map((one) => one.outerHTML.slice(0, 100))`;

interface Finding {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Asserts that the tab's page meets the rules for all pages, and saves a picture of it under this name. */
export async function assertSound(tab: Tab, name: string): Promise<void> {
  const { page } = tab;
  await keepPicture(page, name);
  assert.deepEqual(await findingsOf(page), [], `${name}: axe`);
  assert.deepEqual(await page.evaluate(MIRRORED), [], `${name}: from right to left`);
  await assertFits(page, name);
  await assertOtherLook(page, name);
  const weight = await page.evaluate<number>(
    `['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type)).reduce((sum, one) => sum + one.transferSize, 0)`,
  );
  assert.ok(weight > 0 && weight < BYTES_MAX, `${name}: ${weight} bytes`);
  assertQuiet(tab, name);
}

async function assertFits(page: Page, name: string): Promise<void> {
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, `${name}: too wide`);
}

/** The same page in the other width and colours, by the rules that depend on them, and then as it was. */
async function assertOtherLook(page: Page, name: string): Promise<void> {
  const before = page.viewportSize();
  const width = before === null ? undefined : otherWidth(before.width);
  if (before === null || width === undefined) return;
  const isDark = await page.evaluate<boolean>(`matchMedia('(prefers-color-scheme: dark)').matches`);
  await page.emulateMedia({ colorScheme: isDark ? 'light' : 'dark' });
  await page.setViewportSize({ ...before, width });
  assert.deepEqual(await findingsOf(page, OF_LOOKS), [], `${name}, turned to ${width}: axe`);
  await assertFits(page, `${name}, turned to ${width}`);
  await page.emulateMedia({ colorScheme: isDark ? 'dark' : 'light' });
  await page.setViewportSize(before);
}

/** Asserts that the tab contacted only the expected hosts, revealed its address only to us, and has no complaints. */
export function assertQuiet({ requests, complaints, hosts }: Tab, name: string): void {
  const complaint = complaints.filter((text) => !REFUSED.test(text));
  assert.deepEqual(complaint, [], `${name}: console`);
  const foreign = requests.filter(({ url }) => !hosts.includes(new URL(url).hostname));
  assert.deepEqual(foreign, [], `${name}: requests`);
  const told = requests.filter(
    ({ url, referer }) => referer !== undefined && new URL(url).origin !== new URL(referer).origin,
  );
  assert.deepEqual(told, [], `${name}: an address was revealed to another site`);
}

/**
 * Returns Axe's serious and critical findings, by these rules or by all. Axe runs through the debugger, which a page's
 * policy does not restrict.
 */
export async function findingsOf(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  const options = { resultTypes: ['violations'], ...(rules !== undefined && { runOnly: rules }) };
  const script = `${AXE}; axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`;
  const found = await page.evaluate<Finding[]>(script);
  return found
    .filter(({ impact }) => BAD.has(impact ?? ''))
    .map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`,
    );
}
