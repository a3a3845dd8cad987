import { test } from 'node:test';
import { type ContextOptions, openChromium, type Tab } from '../support/chromium.ts';
import { newOwner, PASSWORD } from '../support/control.ts';
import { assertSound } from '../support/sound-page.ts';
import { setStage } from '../support/stage.ts';

const OWN = 'http://purser.localhost';
const { service } = await setStage({
  environment: { PURSER_PUBLIC_URL: OWN, PURSER_OPERATOR_NAME: 'Northwind Models' },
});

const LOOKS: Readonly<Record<string, ContextOptions>> = {
  'phone-light': { width: 390 },
  'desk-light': { width: 1280 },
  'desk-dark': { width: 1280, colorScheme: 'dark' },
};

async function signIn({ page }: Tab, email: string): Promise<void> {
  await page.goto(`${OWN}/sign-in`);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Sign out' }).first().waitFor();
}

test('the pages of the console are sound in every look', async (t) => {
  const chromium = await openChromium(t, { 'purser.localhost': service.url });
  if (chromium === undefined) return;
  const { email } = await newOwner(service);
  for (const [look, options] of Object.entries(LOOKS)) {
    const tab = await chromium.open(options);
    const { page } = tab;
    await signIn(tab, email);
    await page.goto(`${OWN}/console`);
    await assertSound(tab, `console-apps-${look}`);
    await page.getByLabel('Name').fill(`Reader ${look}`);
    await page.keyboard.press('Enter');
    await page.getByRole('status').waitFor();
    await assertSound(tab, `console-home-${look}`);
    await page.getByRole('link', { name: 'Sandbox', exact: true }).last().click();
    await page.getByLabel('User ID').fill('test-user');
    await page.getByRole('button', { name: 'throttled', exact: true }).click();
    await page.getByText('The next call of test-user plays throttled.').waitFor();
    await assertSound(tab, `console-sandbox-${look}`);
    await page.getByRole('link', { name: 'Playground' }).click();
    await page.getByRole('button', { name: 'Make the call' }).click();
    await page.getByText('The same as code').waitFor();
    await assertSound(tab, `console-playground-${look}`);
    await page.getByRole('link', { name: 'Calls' }).click();
    await page.getByLabel('Correlation id or call id').waitFor();
    await assertSound(tab, `console-calls-${look}`);
    await page.getByRole('link', { name: 'Models and prices' }).click();
    await page.getByRole('table').waitFor();
    await assertSound(tab, `console-models-${look}`);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByLabel('Redirect addresses').waitFor();
    await assertSound(tab, `console-settings-${look}`);
    await tab.page.goto(page.url().replace('mode=sandbox', ''));
    await assertSound(tab, `console-settings-live-${look}`);
  }
});
