import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertQuiet, findingsOf, keepPicture, openChromium } from '../../support/chromium.ts';
import type { ContextOptions } from '../../support/looks.ts';
import { setStage } from '../../support/stage.ts';

const OWN = 'http://purser.localhost';
const { service } = await setStage({ environment: { PURSER_PUBLIC_URL: OWN } });

const LOOKS: Readonly<Record<string, ContextOptions>> = {
  desk: { width: 1280 },
  phone: { width: 360, colorScheme: 'dark' },
};

for (const [look, options] of Object.entries(LOOKS)) {
  test(`PG-05 every component is sound in each state: ${look}`, async (t) => {
    const chromium = await openChromium(t, { 'purser.localhost': service.url });
    if (chromium === undefined) return;
    const tab = await chromium.open(options);
    const { page } = tab;
    await page.goto(`${OWN}/dev/components`);
    await page.getByRole('heading', { level: 1, name: 'Components' }).waitFor();
    await keepPicture(page, `components-${look}`);
    assert.deepEqual(await findingsOf(page), [], 'axe');
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, 'too wide');
    assertQuiet(tab, look);
    // The same background in both looks would mean that the page shows one palette twice and axe saw only one.
    const grounds = await page.evaluate<string[]>(
      `['.light', '.dark'].map((one) => getComputedStyle(document.querySelector(one)).backgroundColor)`,
    );
    assert.deepEqual(grounds, ['rgb(255, 255, 255)', 'rgb(24, 33, 29)']);
  });
}
