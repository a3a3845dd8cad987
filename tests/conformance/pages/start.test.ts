import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowser } from '../../support/browser.ts';
import { assertPage } from '../../support/page.ts';
import { setStage } from '../../support/stage.ts';

const { service } = await setStage();

test('ON-04 the root of the service leads to wallets, accounts and the reference', async () => {
  const browser = openBrowser(service.url);
  const page = await browser.open('/');
  assertPage(page, 200, 'Welcome to Purser');
  const links = [...page.text.matchAll(/ href="([^"]+)"/g)].map(([, path = '']) => path);
  assert.deepEqual(links, ['/wallet', '/account', '/docs']);
  for (const path of links) assert.ok([200, 303].includes((await browser.ask(path)).status), path);
});
