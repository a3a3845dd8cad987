import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { DEMO_OWNER_EMAIL } from '../../../packages/service/src/app/start/demo.ts';
import { openChromium } from '../../support/chromium.ts';
import { plugInAuthenticator } from '../pages/virtual-authenticator.ts';

/**
 * Opens a service of this machine by its address, as people type it, and adds a passkey to the demo's account. It then signs in with
 * the passkey alone. Browsers bind passkeys to names, so the pages must have moved to `localhost`.
 */
export async function usePasskeyAt(t: TestContext, port: number, demoFile: string): Promise<void> {
  const { ownerPassword } = JSON.parse(readFileSync(demoFile, 'utf8')) as { readonly ownerPassword: string };
  const at = `http://127.0.0.1:${port}`;
  const chromium = await openChromium(t, { localhost: at, '127.0.0.1': at });
  if (chromium === undefined) return;
  const tab = await chromium.open({ width: 390 });
  const { page } = tab;
  await plugInAuthenticator(tab);
  await page.goto(`${at}/sign-in?from=here`);
  assert.equal(page.url(), `http://localhost:${port}/sign-in?from=here`);
  await page.getByLabel('E-mail').fill(DEMO_OWNER_EMAIL);
  await page.getByLabel('Password').fill(ownerPassword);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Your apps' }).waitFor();
  await page.goto(`${at}/account`); // The other name again: the session is found all the same.
  await page.getByRole('link', { name: 'Add a second factor' }).click();
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('heading', { level: 1, name: 'Your recovery codes' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByRole('heading', { level: 1, name: 'Your apps' }).waitFor();
}
