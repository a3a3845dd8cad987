import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { after, type TestContext } from 'node:test';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { type BrowserFiles, findBrowser } from './chromium-files.ts';
import { type ContextOptions, IS_FOR_PEOPLE } from './looks.ts';

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
