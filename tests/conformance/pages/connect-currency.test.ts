import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { consent } from '../../support/connect-stage.ts';
import { connectionsOf } from '../../support/connections.ts';
import { assertPage } from '../../support/page.ts';
import { browserOf } from '../../support/people.ts';
import { setStage } from '../../support/stage.ts';
import { refusedPath } from '../../support/topup.ts';

const { service, app } = await setStage({ environment: { PURSER_CURRENCY: 'JPY' } });

test('ON-01 offered caps match top-ups, even in a currency of tiny units', async () => {
  const browser = await browserOf(service, 'yen@example.test');
  const link = await refusedPath(service, app, 'anna');
  assertPage(await browser.open(link), 200, 'Connect Test app');
  const { text } = browser.page();
  const offered = [...text.matchAll(/<option value="(\d+)"( selected)?>/g)].map(([, cap, is]) => [cap, is]);
  assert.deepEqual(offered, [
    ['500', undefined],
    ['1000', undefined],
    ['2000', ' selected'],
    ['5000', undefined],
  ]);
  assert.match(text, /¥2,000</);
  const refused = await consent(browser, link, { cap: '20' });
  assertPage(refused, 400);
  assertPage(await consent(browser, link, { cap: '2000' }), 200);
  const made = await connectionsOf(service.database).find(app.appId, 'anna' as EndUserId);
  assert.equal(made?.cap, 2_000_000_000n);
});
