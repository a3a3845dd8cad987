import { test } from 'node:test';
import type { Email } from '../../../packages/service/src/people/email.ts';
import { createPersonSessions } from '../../../packages/service/src/people/session.ts';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import { assertSound, openChromium, type Tab } from '../../support/chromium.ts';
import { connectionsOf } from '../../support/connections.ts';
import { journeyOf, OWN, setJourney } from '../../support/journey.ts';
import { looks } from '../../support/looks.ts';
import { addBoundKey } from '../../support/keys.ts';
import { newOwnApp, newOwner, PASSWORD } from '../../support/control.ts';

const stage = await setJourney();
const { service, app } = stage;
const connections = connectionsOf(service.database);

async function visitConsole(tab: Tab, look: string): Promise<void> {
  const { page } = tab;
  const owner = await newOwner(service);
  const { appId } = await newOwnApp(owner, 'Northwind Chat');
  await page.goto(`${OWN}/sign-in`);
  await page.getByLabel('E-mail').fill(owner.email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.goto(`${OWN}/console/${appId}/agents?mode=sandbox`);
  await assertSound(tab, `console-agents-none-${look}`);
  await page.getByLabel('User', { exact: true }).fill('anna');
  await page.getByLabel('Name', { exact: true }).fill('Laptop of Anna');
  await page.getByLabel(/^Monthly budget/).fill('20');
  await page.getByRole('button', { name: 'Create the key' }).click();
  await page.getByText('Copy the key now').waitFor();
  await assertSound(tab, `console-agents-made-${look}`);
  await page.getByText('Claude Code', { exact: true }).click();
  await assertSound(tab, `console-agents-claude-${look}`);
  await page.getByRole('link', { name: 'These lines for another model, without the key' }).click();
  await assertSound(tab, `console-agents-lines-${look}`);
  await page.goto(`${OWN}/console/${appId}/agents?mode=sandbox`);
  await assertSound(tab, `console-agents-${look}`);
}

for (const [look, options] of looks('desk-light')) {
  test(`PG-05 ON-06 the pages of coding agents are sound: ${look}`, async (t) => {
    const chromium = await openChromium(t, { 'purser.localhost': service.url });
    if (chromium === undefined) return;
    const tab = await chromium.open(options);
    await visitConsole(tab, look);
    const { page } = tab;
    const journey = journeyOf(tab, stage, look);
    const { token, identity } = await createPersonSessions(service.database.owner).open('anna@example.test' as Email);
    await tab.context.addCookies([{ name: 'purser-person', value: token, domain: 'purser.localhost', path: '/' }]);
    const user = `anna-${look}`;
    await service.fund(app, user, 12_340_000);
    const { connectionId } = await connections.connect({ identity, appId: app.appId, user, cap: 20_000_000 });
    const path = `${OWN}/wallet/${connectionId}`;
    await page.goto(`${path}/agents`);
    await journey.at('Coding agents for Test app', 'agents-none');
    const { database } = service;
    await addBoundKey(database, app, user);
    const expiresAtMs = Date.now() + 30 * 86_400_000;
    await addBoundKey(database, app, user, { name: 'Laptop', monthlyBudget: micros(5_000_000n), expiresAtMs });
    await page.goto(path);
    await page.getByRole('link', { name: 'Coding agents' }).click();
    await journey.at('Coding agents for Test app', 'agents');
    await page.getByText('Stop this key').first().click();
    await journey.at('Coding agents for Test app', 'agents-stopping');
    await page
      .getByRole('button', { name: /^Stop it for good/ })
      .first()
      .click();
    await page.getByText('The key was stopped.').waitFor();
    await journey.at('Coding agents for Test app', 'agents-stopped');
  });
}
