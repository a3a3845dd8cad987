import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openChromium } from '../../support/chromium.ts';
import { mailTo } from '../../support/control.ts';
import { journeyOf, setJourney } from '../../support/journey.ts';
import { tabTo } from './keyboard.ts';

const stage = await setJourney();
const { service, refusedCall } = stage;

test('ON-01 ON-02 a user pays after a refusal by keyboard only', async (t) => {
  const chromium = await openChromium(t, { 'purser.localhost': service.url });
  if (chromium === undefined) return;
  const tab = await chromium.open();
  const { page } = tab;
  const { keyboard } = page;
  const journey = journeyOf(tab, stage);
  const { user, topupUrl } = await refusedCall();
  await page.goto(topupUrl);

  await journey.at('Sign in', 'sign-in');
  await tabTo(page, page.getByLabel('E-mail'));
  await keyboard.type('keyboard@example.test');
  await keyboard.press('Enter');

  await journey.at('Enter the code', 'code');
  await tabTo(page, page.getByLabel('Code from the e-mail'));
  await keyboard.type((await mailTo(service, 'keyboard@example.test')).token);
  await keyboard.press('Enter');

  await journey.at('Connect Test app', 'consent');
  await tabTo(page, page.getByLabel('Monthly cap'));
  assert.equal(await page.getByLabel('Monthly cap').inputValue(), '20');
  await keyboard.press('ArrowDown');
  assert.equal(await page.getByLabel('Monthly cap').inputValue(), '50');
  await tabTo(page, page.getByRole('checkbox'));
  await keyboard.press('Space');
  await tabTo(page, page.getByRole('button', { name: 'Connect' }));
  await keyboard.press('Enter');

  await journey.at(/^Top up/, 'amounts');
  await tabTo(page, page.getByLabel(/^€10\.00$/)); // The preselected amount.
  await keyboard.press('ArrowLeft');
  assert.equal(await page.getByLabel(/^€5\.00$/).isChecked(), true);
  await tabTo(page, page.getByRole('button', { name: 'Continue to payment' }));
  await keyboard.press('Enter');

  await journey.at('Test payment', 'pay');
  await tabTo(page, page.getByRole('button', { name: /^Pay/ }));
  await keyboard.press('Enter');
  await journey.at('The money has arrived', 'arrived');
  assert.equal((await stage.call(user)).status, 200);

  await tabTo(page, page.getByRole('link', { name: 'Go to your wallet' }));
  await keyboard.press('Enter');
  await journey.at('Your wallet', 'wallet');
  await tabTo(page, page.getByRole('link', { name: 'Test app' }));
  await keyboard.press('Enter');
  await journey.at('Your wallet for Test app', 'connection');
  await tabTo(page, page.locator('summary', { hasText: 'Change the cap' }));
  await keyboard.press('Enter');
  await tabTo(page, page.getByLabel('New monthly cap in EUR'));
  await keyboard.press('Control+A');
  await keyboard.type('15');
  await keyboard.press('Enter');
  await page.getByText('The monthly cap was set.').waitFor();
  await tabTo(page, page.getByRole('link', { name: '1 call' }));
  await keyboard.press('Enter');
  await tabTo(page, page.getByRole('link', { name: /^Call/ }));
  await keyboard.press('Enter');
  await journey.at('Receipt', 'receipt');
});
