import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { ensureSignIn } from '../../../packages/service/src/developers/sign-in/ensure-account.ts';
import { assertSound, openChromium, type Tab } from '../../support/chromium.ts';
import { type ContextOptions, looks } from '../../support/looks.ts';
import { emailOf, newOperator, newOwner, PASSWORD } from '../../support/control.ts';
import { tabTo } from './keyboard.ts';
import { startMailServer } from '../../support/mail-server.ts';
import { ageProofs } from '../../support/second-factor.ts';
import { startSecondGateway } from '../../support/service.ts';
import { setStage } from '../../support/stage.ts';
import { plugInAuthenticator } from './virtual-authenticator.ts';
import { waitUntil } from '../../support/wait-until.ts';

const OWN = 'http://purser.localhost';
const ENROLMENT = /\b[0-9a-z]{5}-[0-9a-z]{5}\b/;
const { service } = await setStage({
  environment: {
    PURSER_PUBLIC_URL: OWN,
    PURSER_OPERATOR_NAME: 'Northwind Models',
    PURSER_SUPPORT_EMAIL: 'help@northwind.example',
  },
});

const FORCED_COLORS: ContextOptions = { width: 360, forcedColors: 'active', reducedMotion: 'reduce' };
const LOOKS = [...looks('phone-dark'), ['narrow-forced-colors', FORCED_COLORS] as const];

async function openTab(t: TestContext, options?: ContextOptions): Promise<Tab | undefined> {
  return (await openChromium(t, { 'purser.localhost': service.url }))?.open(options);
}

async function signIn({ page }: Tab, email: string): Promise<void> {
  await page.goto(`${OWN}/sign-in`);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Your apps' }).waitFor();
  await page.goto(`${OWN}/account`);
}

/** The pages from which a second factor is added. Two looks suffice: they are made of the same parts as the account. */
async function seeSecondFactor(tab: Tab, look: string): Promise<void> {
  const { page } = tab;
  await page.getByRole('link', { name: 'Add a second factor' }).click();
  await page.getByRole('heading', { level: 1, name: 'Second factor' }).waitFor();
  await assertSound(tab, `owner-second-factor-${look}`);
  await page.getByRole('link', { name: 'Add an authenticator app' }).click();
  await page.getByRole('heading', { level: 1, name: 'Add an authenticator app' }).waitFor();
  await assertSound(tab, `owner-authenticator-${look}`);
}

test('PG-05 the account pages are sound in every look', async (t) => {
  const chromium = await openChromium(t, { 'purser.localhost': service.url });
  if (chromium === undefined) return;
  const email = `${'long-name-'.repeat(6)}@${'sub.'.repeat(20)}example.test`;
  const name = 'W'.repeat(100);
  await ensureSignIn(service.database.owner, { email, password: PASSWORD, name, role: 'owner' });
  for (const [look, options] of LOOKS) {
    const tab = await chromium.open(options);
    const { page } = tab;
    await page.goto(`${OWN}/sign-in`);
    await assertSound(tab, `owner-sign-in-${look}`);
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await assertSound(tab, `owner-sign-in-wrong-${look}`);
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByRole('heading', { name: 'Reset your password' }).waitFor();
    await assertSound(tab, `owner-reset-${look}`);
    await signIn(tab, email);
    await assertSound(tab, `owner-account-${look}`);
    if (look === 'phone-dark' || look === 'desk-light') await seeSecondFactor(tab, look);
    await tab.context.close();
  }
});

test('CP-06 a passkey signs in as second factor and alone', async (t) => {
  const tab = await openTab(t, { width: 390 });
  if (tab === undefined) return;
  const { page } = tab;
  const { email } = await newOwner(service);
  await plugInAuthenticator(tab);
  await signIn(tab, email);
  await page.getByRole('link', { name: 'Add a second factor' }).click();
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('heading', { level: 1, name: 'Your recovery codes' }).waitFor();
  await assertSound(tab, 'owner-recovery-codes');
  await page.getByRole('link', { name: 'I have kept them' }).click();
  await page.getByText('10 are left.').waitFor();
  await assertSound(tab, 'owner-second-factor-on');

  await page.goto(`${OWN}/account`);
  await page.getByRole('button', { name: 'Sign out' }).first().click();
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Your second factor' }).waitFor();
  await assertSound(tab, 'owner-second-step');
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('heading', { level: 1, name: 'Your apps' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).first().click();
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByRole('heading', { level: 1, name: 'Your apps' }).waitFor();

  await ageProofs(service);
  await page.goto(`${OWN}/account/second-factor`);
  await page.getByRole('link', { name: 'Change your second factor' }).click();
  await page.getByRole('heading', { level: 1, name: 'Is it you?' }).waitFor();
  await assertSound(tab, 'owner-prove');
  await page.getByRole('button', { name: 'Use a passkey instead' }).click();
  await page.getByRole('button', { name: 'Remove the passkey' }).click();
  await page.getByRole('status').getByText('The passkey was removed').waitFor();
});

test('CP-06 an operator’s first second factor needs a mailed code', async (t) => {
  const server = await startMailServer();
  const gateway = await startSecondGateway(service, {
    PURSER_ENV: 'production',
    PURSER_CATALOGUE: 'catalogue.json',
    PURSER_SECRET: 'a secret of these tests alone, long enough',
    PURSER_PUBLIC_URL: 'http://localhost',
    PURSER_OPERATOR_NAME: 'Northwind Models',
    PURSER_MAIL_FROM: 'purser@example.test',
    SMTP_URL: server.url,
  });
  t.after(() => Promise.all([gateway.close(), server.close()]));
  const tab = await (await openChromium(t, { localhost: gateway.url }))?.open({ width: 390 });
  if (tab === undefined) return;
  const { page } = tab;
  const email = await emailOf(await newOperator(service));
  await plugInAuthenticator(tab);
  const typePassword = async () => {
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };
  await page.goto('http://localhost/sign-in');
  await typePassword();
  await page.getByRole('heading', { level: 1, name: 'Second factor' }).waitFor();
  await page.getByRole('button', { name: 'E-mail me a code' }).click();
  await page.getByText('We have e-mailed you a code').waitFor();
  const mail = await waitUntil('the mail came', () =>
    server.received.find(({ to, text }) => to.includes(email) && ENROLMENT.test(text)),
  );
  await page.getByLabel('Code from the e-mail').fill('aaaaa-aaaaa');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('this one is wrong').waitFor();
  await page.getByLabel('Code from the e-mail').fill(ENROLMENT.exec(mail.text)?.[0] ?? '');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('heading', { level: 1, name: 'Your recovery codes' }).waitFor();
  await page.goto('http://localhost/ops');
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).first().click();
  await typePassword();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
});

test('PG-05 the pages work with text twice the size', async (t) => {
  const tab = await openTab(t, { width: 360 });
  if (tab === undefined) return;
  const { email } = await newOwner(service);
  await signIn(tab, email);
  await tab.page.evaluate(`document.documentElement.style.setProperty('font-size', '200%')`);
  await assertSound(tab, 'owner-account-large-text');
});

test('PG-05 the account pages work without scripts', async (t) => {
  const tab = await openTab(t, { hasScripts: false });
  if (tab === undefined) return;
  const { email } = await newOwner(service);
  const { page } = tab;
  await page.goto(`${OWN}/sign-in`);
  await page.keyboard.press('Tab');
  await page.keyboard.type(email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Your apps' }).waitFor();
  await page.goto(`${OWN}/account`);
  await tabTo(page, page.getByRole('button', { name: 'Sign out' }).first());
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
});

/** Another site with a page. */
async function startOtherSite(t: TestContext, html: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8').end(html);
  });
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('PG-02 another site cannot frame a page', async (t) => {
  const evil = await startOtherSite(
    t,
    `<!doctype html><title>Evil</title><iframe name="victim" src="${OWN}/sign-in"></iframe>`,
  );
  const chromium = await openChromium(t, { 'purser.localhost': service.url, 'evil.localhost': evil });
  if (chromium === undefined) return;
  const { page, complaints } = await chromium.open();
  await page.goto('http://evil.localhost/');
  await page.waitForLoadState('load');
  assert.ok(
    complaints.some((text) => text.includes("frame-ancestors 'none'")),
    complaints.join('\n'),
  );
  const framed = page.frame('victim');
  assert.equal(await framed?.getByLabel('Password').count(), 0);
});

test('PG-02 a form on another site does nothing', async (t) => {
  const evil = await startOtherSite(
    t,
    `<!doctype html><title>Evil</title><form method="post" action="${OWN}/account/sessions">
<input name="session" value="others"><button>Free coffee</button></form>
<form method="post" action="${OWN}/sign-out"><button>Free tea</button></form>`,
  );
  const chromium = await openChromium(t, { 'purser.localhost': service.url, 'evil.localhost': evil });
  if (chromium === undefined) return;
  const tab = await chromium.open();
  const { page } = tab;
  const { email } = await newOwner(service);
  await signIn(tab, email);
  const count = async () => (await service.database.owner.query('select count(*)::int from accounts.sessions')).rows;
  const before = await count();
  for (const name of ['Free coffee', 'Free tea']) {
    await page.goto('http://evil.localhost/');
    await page.getByRole('button', { name }).click();
    await page.getByText('This form was not sent from a page of this service.').waitFor();
  }
  assert.deepEqual(await count(), before);
  await page.goto(`${OWN}/account`);
  await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor();
});
