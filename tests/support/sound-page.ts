import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { keepPicture, type Tab } from './chromium.ts';
import { otherWidth } from './looks.ts';

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
