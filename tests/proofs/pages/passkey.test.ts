import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openChromium } from '../../support/chromium.ts';
import { journeyOf, OWN, setJourney } from '../../support/journey.ts';
import { plugInAuthenticator } from './virtual-authenticator.ts';

const stage = await setJourney();
const { service, refusedCall } = stage;

test('ON-01 a passkey signs a user in until it is removed', async (t) => {
  const chromium = await openChromium(t, { 'purser.localhost': service.url });
  if (chromium === undefined) return;
  const tab = await chromium.open({ width: 390 });
  const { page } = tab;
  const authenticator = await plugInAuthenticator(tab);
  const journey = journeyOf(tab, stage, 'passkey');
  await page.goto(`${OWN}/wallet`);
  await journey.signIn('passkey@example.test');
  await page.getByRole('link', { name: 'Passkeys' }).click();
  await journey.at('How you sign in', 'passkeys-none');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('status').getByText('The passkey was added').waitFor();
  await journey.at('How you sign in', 'passkeys-one');
  assert.equal(await authenticator.credentials(), 1);
  await page.getByRole('button', { name: 'Sign out here' }).click();

  await page.goto((await refusedCall()).topupUrl);
  await journey.at('Sign in', 'sign-in');
  await authenticator.setUserVerified(false);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByText('No passkey was used').waitFor();
  await authenticator.setUserVerified(true);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await journey.at('Connect Test app', 'consent');
  await page.getByText('passkey@example.test').first().waitFor();

  await page.goto(`${OWN}/wallet/passkeys`);
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('status').getByText('The passkey was removed').waitFor();
  await page.getByRole('button', { name: 'Sign out here' }).click();
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByRole('alert').waitFor();
  await page.goto(`${OWN}/wallet`);
  await journey.at('Sign in', 'sign-in');
});

test('ON-01 without scripts a page offers only the code', async (t) => {
  const chromium = await openChromium(t, { 'purser.localhost': service.url });
  if (chromium === undefined) return;
  const tab = await chromium.open({ hasScripts: false });
  const { page } = tab;
  const journey = journeyOf(tab, stage);
  await page.goto(`${OWN}/wallet/passkeys`);
  await journey.at('Sign in', 'sign-in');
  assert.equal(await page.getByRole('button', { name: 'Sign in with a passkey' }).count(), 0);
  await journey.signIn('plain@example.test');
  await journey.at('How you sign in', 'passkeys');
  assert.equal(await page.getByRole('button', { name: 'Add a passkey' }).count(), 0);
  assert.equal(await page.locator('noscript p').isVisible(), true); // It says that passkeys need scripts.
});
