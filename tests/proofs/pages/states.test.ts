import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Email } from '../../../packages/service/src/people/email.ts';
import { createPersonSessions } from '../../../packages/service/src/people/session.ts';
import { openChromium, type Tab } from '../../support/chromium.ts';
import { connectionsOf } from '../../support/connections.ts';
import { journeyOf, OWN, setJourney } from '../../support/journey.ts';
import { sql } from '../../support/sql.ts';

const stage = await setJourney();
const { service, app } = stage;
const { owner } = service.database;
const connections = connectionsOf(service.database);

const LONG_NAME = 'Donaudampfschifffahrtsgesellschaftskapitänspatentverlängerungs-Assistent'.padEnd(100, 'W');
const LONG_EMAIL = `${'a.very.long.name.'.repeat(3)}anna@${'subdomain.'.repeat(10)}example.test` as Email;
const LONG_USER = 'u'.repeat(256);

/** Signs the browser in without mail or pages. */
async function becomes({ context }: Tab, email: string) {
  const { token, identity } = await createPersonSessions(owner).open(email as Email);
  await context.addCookies([{ name: 'purser-person', value: token, domain: 'purser.localhost', path: '/' }]);
  return identity;
}

async function topupPath(user: string): Promise<string> {
  const refused = await stage.call(user);
  assert.equal(refused.status, 402, refused.text);
  return refused.headers.get('x-service-topup-url') ?? '';
}

test('PG-05 pages fit the longest content on narrow screens', async (t) => {
  const chromium = await openChromium(t, { 'purser.localhost': service.url });
  if (chromium === undefined) return;
  const tab = await chromium.open({ width: 360, colorScheme: 'dark' });
  const { page } = tab;
  const journey = journeyOf(tab, stage, 'longest');
  await sql(owner)`update accounts.apps set name = ${LONG_NAME} where app_id = ${app.appId}`;
  t.after(() => owner.query(`update accounts.apps set name = 'Test app' where app_id = $1`, [app.appId]));
  const link = await topupPath(LONG_USER);
  const identity = await becomes(tab, LONG_EMAIL);
  await page.goto(link);
  await journey.at(/^Connect/, 'consent');
  await service.fund(app, LONG_USER, 9_007_199_254_740_991 - 1);
  await connections.connect({ identity, appId: app.appId, user: LONG_USER, userLabel: 'L'.repeat(80), cap: 1 });
  await page.goto(`${OWN}/wallet`);
  await journey.at('Your wallet', 'wallet');
  await page.getByRole('link', { name: LONG_NAME }).first().click();
  await journey.at(/^Your wallet for/, 'connection');
  await page.goto(await topupPath(LONG_USER));
  await journey.at(/cap/, 'cap');
  await sql(owner)`insert into status.incidents (model, state, began_at, seen_at, ended_at)
    values ('', 'out', now(), now(), now())`;
  await page.goto(`${OWN}/status`);
  await journey.at('Everything works', 'status');
});

test('PG-05 the page of every wallet state is sound', async (t) => {
  const chromium = await openChromium(t, { 'purser.localhost': service.url });
  if (chromium === undefined) return;
  const tab = await chromium.open({ width: 390 });
  const { page } = tab;
  const journey = journeyOf(tab, stage, 'state');
  const identity = await becomes(tab, 'states@example.test');
  await page.goto(`${OWN}/wallet`);
  await journey.at('Your wallet', 'empty');
  await service.fund(app, 'a-rest', 4_321);
  await connections.connect({ identity, appId: app.appId, user: 'a-rest' });
  await page.getByRole('link', { name: 'Your data' }).click();
  await page.getByText('Delete my data', { exact: true }).click();
  await page.getByRole('button', { name: 'give up €0.004321' }).waitFor();
  await journey.at('Your data', 'data');

  await page.goto(await topupPath('stranger'));
  await page.getByRole('checkbox').check();
  await page.getByLabel('Monthly cap').selectOption('other');
  await page.getByLabel('Another amount, in EUR').fill('a lot');
  await page.getByRole('button', { name: 'Connect' }).click();
  await page.getByRole('alert').waitFor();
  await journey.at('Connect Test app', 'consent-wrong');

  const others = await connections.newIdentity();
  const link = await topupPath('of-another');
  await service.fund(app, 'of-another', 0);
  await connections.connect({ identity: others, appId: app.appId, user: 'of-another' });
  await page.goto(link);
  await journey.at(/^Pay into a wallet/, 'gift');

  await service.fund(app, 'capped', 5_000_000);
  const { connectionId } = await connections.connect({ identity, appId: app.appId, user: 'capped', cap: 1 });
  await page.goto(await topupPath('capped'));
  await journey.at(/cap/, 'cap');
  await page.getByLabel(/^New monthly cap/).fill('1e9');
  await page.getByRole('button', { name: 'Set this cap' }).click();
  await page.getByRole('alert').waitFor();
  await journey.at(/cap/, 'cap-wrong');
  await page.getByRole('link', { name: 'Top up without changing the cap' }).click();
  await journey.at(/^Top up/, 'amounts-capped');
  await page.goto(`${OWN}/wallet/data`);
  await journey.at('Your data', 'data-with-money');
  await page.goto(`${OWN}/wallet/${connectionId}`);
  await page.getByRole('button', { name: 'Pause spending' }).click();
  await journey.at(/Test app/, 'paused');
  await page.goto(await topupPath('capped'));
  await journey.at('You paused Test app', 'cap-paused');
  await page.getByRole('link', { name: 'Top up without resuming' }).click();
  await journey.at(/^Top up/, 'amounts-paused');
  await page.getByLabel('Stay paused').check();
  await page.getByRole('button', { name: 'Continue to payment' }).click();
  await journey.pay();
  await journey.at('The money has arrived', 'arrived-paused');
  await page.getByRole('button', { name: 'Resume spending' }).click();
  await page.getByText('The app can spend again.').waitFor();
  await page.getByText('E-mail me about the cap').click();
  await page.getByLabel('80 % of the cap is spent').check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('E-mail me about the cap (at 80 %)').click();
  await journey.at(/Test app/, 'alerts');
});

test('PG-05 the pages of refusals are sound', async (t) => {
  const chromium = await openChromium(t, { 'purser.localhost': service.url });
  if (chromium === undefined) return;
  const tab = await chromium.open({ width: 390 });
  const { page } = tab;
  const journey = journeyOf(tab, stage, 'state');
  const identity = await becomes(tab, 'blocked@example.test');
  await service.fund(app, 'blocked', 0);
  const blocked = await connections.connect({ identity, appId: app.appId, user: 'blocked' });
  const toBlocked = await topupPath('blocked');
  await service.setWallet(app, 'blocked', 'is_suspended = true');
  await page.goto(`${OWN}/wallet/${blocked.connectionId}`);
  await journey.at(/Test app/, 'blocked');
  await page.goto(toBlocked);
  await journey.at(/Test app/, 'blocked-topup');
  await page.getByLabel('Another amount', { exact: true }).check();
  await page.getByRole('button', { name: 'Continue to payment' }).click();
  await page.getByRole('alert').getByText('Choose an amount').waitFor();
  await journey.at(/Test app/, 'amounts-wrong');
  await page.goto(`${OWN}/wallet`);
  await journey.at('Your wallet', 'wallet');

  for (const path of [
    '/',
    '/dev/mailbox',
    '/wallet/con_x',
    '/nowhere',
    '/register',
    '/topup/sandbox',
    '/connect/sandbox',
    '/checkout/x',
    '/test-processor/x',
  ]) {
    await page.goto(OWN + path);
    await journey.at(/./, path === '/' ? 'home' : path.slice(1).replace('/', '-'));
  }
});

test('ON-04 a month of calls is sound', async (t) => {
  const chromium = await openChromium(t, { 'purser.localhost': service.url });
  if (chromium === undefined) return;
  const user = 'busy';
  await service.fund(app, user, 20_000_000);
  for (let count = 0; count < 12; count += 1) assert.equal((await stage.call(user)).status, 200);
  const wallet = `where wallet_id = (select wallet_id from ledger.wallets where user_id = '${user}')`;
  await owner.query(`begin; set local session_replication_role = replica;
    update usage.calls set settled_at = settled_at - (16 - seq - seq % 2) * interval '1 day' ${wallet};
    update ledger.journal set at = at - interval '20 days' ${wallet}; commit`);
  for (const [look, options] of [
    ['desk-dark', { width: 1280, colorScheme: 'dark' }],
    ['phone', { width: 360 }],
  ] as const) {
    const tab = await chromium.open(options);
    const identity = await becomes(tab, 'busy@example.test');
    const { connectionId } = await connections.connect({ identity, appId: app.appId, user, cap: 1_000 });
    await tab.page.goto(`${OWN}/wallet/${connectionId}`);
    const journey = journeyOf(tab, stage, look);
    await tab.page.getByText('The month as a table').click();
    await journey.at(/Test app/, 'month');
    await tab.page.goto(`${OWN}/dev/mailbox`);
    await journey.at('Mailbox', 'mailbox');
    await tab.page.goto(OWN);
    await journey.at(/^Welcome/, 'home');
  }
});
