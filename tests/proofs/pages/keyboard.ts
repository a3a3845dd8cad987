import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';

const TABS_MAX = 40;
const OUTLINE = `getComputedStyle(document.activeElement).outlineStyle !== 'none'
  || getComputedStyle(document.activeElement.closest('label') ?? document.activeElement).outlineStyle !== 'none'`;

/** Presses the tab key until the element has focus, at most once around the page. Each focused element must be visible. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  const wanted = await target.elementHandle();
  for (let times = 0; times < TABS_MAX; times += 1) {
    await page.keyboard.press('Tab');
    assert.equal(
      await page.evaluate(OUTLINE),
      true,
      `what has the focus is seen: ${String(await page.evaluate('document.activeElement.outerHTML'))}`,
    );
    const focused = await page.evaluateHandle('document.activeElement');
    if (await page.evaluate(([one, other]) => one === other, [wanted, focused])) return;
  }
  assert.fail(`the keyboard cannot reach this element: ${await wanted?.evaluate(String)}`);
}
