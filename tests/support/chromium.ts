import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { findBrowser } from './chromium-files.ts';

/** A real browser, with nothing of one context known to another. */
export interface Chromium {
  readonly open: (options?: ContextOptions) => Promise<Tab>;
}

export interface ContextOptions {
  readonly width?: number;
  readonly colorScheme?: 'light' | 'dark';
  readonly locale?: string;
  readonly hasScripts?: boolean;
  readonly forcedColors?: 'active';
  readonly reducedMotion?: 'reduce';
}

/** One window, and what it was seen doing. */
export interface Tab {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Messages on the console and faults of scripts. */
  readonly complaints: readonly string[];
  readonly requests: readonly Requested[];
}

interface Requested {
  readonly url: string;
  readonly referer: string | undefined;
  /** Without its cookies: what came of it, headers and all, is asked of the page's answer. */
  readonly method: string;
}

/** Each works like `localhost` for a browser, which finds cookies, passkeys and other sites there as anywhere. */
const HOSTS_END = '.localhost';
const LAUNCH_MS_MAX = 60_000;
const ARGUMENTS = [
  '--no-sandbox', // A container lets nobody have one.
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-quic',
];
const SCREENSHOTS = path.resolve(import.meta.dirname, '../../.test-output/screenshots');

/**
 * A browser that finds `http://<name>.localhost` at the given address of this machine, and nothing else anywhere. Closed
 * when the test ends. Undefined, and the test is skipped, where there is no browser.
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
  const rules = Object.entries(hosts).map(([name, url]) => `MAP ${name}${HOSTS_END} ${new URL(url).host}`);
  const browser = await chromium.launch({
    executablePath: files.executable,
    env: { PATH: process.env['PATH'] ?? '', HOME: path.dirname(files.executable), ...files.environment },
    chromiumSandbox: false,
    timeout: LAUNCH_MS_MAX,
    args: [...ARGUMENTS, `--host-resolver-rules=${[...rules, 'MAP * ~NOTFOUND'].join(',')}`],
  });
  t.after(() => browser.close());
  return { open: (options) => openTab(browser, options) };
}

async function openTab(
  browser: Browser,
  { width = 1280, hasScripts = true, colorScheme = 'light', locale = 'en-GB', ...more }: ContextOptions = {},
): Promise<Tab> {
  const context = await browser.newContext({
    viewport: { width, height: width < 600 ? 844 : 900 },
    javaScriptEnabled: hasScripts,
    colorScheme,
    locale,
    ...more,
  });
  const complaints: string[] = [];
  const requests: Requested[] = [];
  context.on('request', (request) => {
    requests.push({ url: request.url(), method: request.method(), referer: request.headers()['referer'] });
  });
  context.on('console', (message) => complaints.push(message.text()));
  context.on('weberror', (error) => complaints.push(String(error.error())));
  return { page: await context.newPage(), context, complaints, requests };
}

/** Keeps what the page looks like, for people to judge: in `.test-output/screenshots`. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: path.join(SCREENSHOTS, `${name}.png`), fullPage: true });
}
