import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chat, send } from '../support/client.ts';
import { type ContextOptions, openChromium, type Tab } from '../support/chromium.ts';
import { mailTo } from '../support/control.ts';
import { completionBody } from '../support/scripted-upstream.ts';
import { assertQuiet, assertSound } from '../support/sound-page.ts';
import { setStage } from '../support/stage.ts';

const OWN = 'http://purser.localhost';
const { service, app, upstream } = await setStage({
  environment: {
    PURSER_PUBLIC_URL: OWN,
    PURSER_OPERATOR_NAME: 'Northwind Models',
    PURSER_SUPPORT_EMAIL: 'help@northwind.example',
  },
});
const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
const LOOKS: Readonly<Record<string, ContextOptions>> = {
  'phone-light': { width: 390 },
  'phone-dark': { width: 390, colorScheme: 'dark', locale: 'de-DE' },
  'desk-light': { width: 1280 },
  'desk-dark': { width: 1280, colorScheme: 'dark', reducedMotion: 'reduce' },
};

/** How a journey goes on from page to page, and what is looked at on each. */
interface Steps {
  readonly at: (heading: string | RegExp, name: string) => Promise<void>;
}

let users = 0;

/** A user of the app whose call is refused: who it is, and where the refusal sends him. */
async function refusedCall(): Promise<{ readonly user: string; readonly topupUrl: string }> {
  const user = `user-${(users += 1)}`;
  const refused = await chat({ url: service.url, key: app.liveKey, user });
  assert.equal(refused.status, 402, refused.text);
  return { user, topupUrl: refused.headers.get('x-service-topup-url') ?? '' };
}

async function assertServed(user: string): Promise<void> {
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi.', usage }) });
  const served = await chat({ url: service.url, key: app.liveKey, user });
  assert.equal(served.status, 200, served.text);
}

async function signIn({ page }: Tab, { at }: Steps, email: string): Promise<void> {
  await at('Sign in', 'sign-in');
  await page.getByLabel('E-mail').fill(email);
  await page.getByRole('button', { name: 'Mail me a code' }).click();
  await at('Enter the code', 'code');
  await page.getByLabel('Code from the mail').fill((await mailTo(service, email)).token);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

async function consent({ page }: Tab, { at }: Steps): Promise<void> {
  await at('Connect Test app', 'consent');
  await page.getByLabel(/^No cap/).check();
  await page.getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Connect' }).click();
}

async function pay({ page }: Tab, { at }: Steps): Promise<void> {
  await at(/^Top up your wallet/, 'amounts');
  await page.getByLabel(/^(€10\.00|10,00.€)$/).check();
  await page.getByRole('button', { name: 'Continue to payment' }).click();
  await at('Test payment', 'pay');
  await page.getByRole('button', { name: /^Pay / }).click();
}

/** Each page is waited for by its heading, and must be sound. */
function soundSteps(tab: Tab, look: string): Steps {
  return {
    at: async (name, picture) => {
      await tab.page.getByRole('heading', { level: 1, name }).waitFor();
      await assertSound(tab, `${picture}-${look}`);
    },
  };
}

function quickSteps(tab: Tab): Steps {
  return { at: (name) => tab.page.getByRole('heading', { level: 1, name }).waitFor() };
}

test('ON-01 ON-02 ON-03 ON-05 from a refused call to a served one, and to the end of it, in every look', async (t) => {
  const chromium = await openChromium(t, { 'purser.localhost': service.url });
  if (chromium === undefined) return;
  for (const [look, options] of Object.entries(LOOKS)) {
    const tab = await chromium.open(options);
    const { page } = tab;
    const steps = soundSteps(tab, look);
    const { user, topupUrl } = await refusedCall();
    await page.goto(topupUrl);
    await signIn(tab, steps, `${look}@example.test`);
    await consent(tab, steps);
    await pay(tab, steps);
    await steps.at('Your payment is on its way', 'waiting');
    const loads = tab.requests.filter(({ isPage }) => isPage).length;
    await steps.at('The money has arrived', 'arrived');
    assert.equal(tab.requests.filter(({ isPage }) => isPage).length, loads, 'without loading the page anew');
    await assertServed(user);
    await page.goto(`${OWN}/wallet`);
    await steps.at('Your wallet', 'wallet');
    await page.getByRole('link', { name: 'Test app' }).click();
    await steps.at('Test app', 'connection');
    await page.getByRole('link', { name: /^Call/ }).first().click();
    await steps.at('Receipt', 'receipt');
    await page.goBack();
    await page.getByRole('link', { name: 'Refund what is unused' }).click();
    await steps.at(/efund/, 'refund');
    await page.goBack();
    await page.getByRole('link', { name: 'Disconnect the app' }).click();
    await steps.at('Disconnect Test app?', 'disconnect');
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await steps.at('Test app', 'disconnected');
    assert.equal((await chat({ url: service.url, key: app.liveKey, user })).status, 402);
    await page.goto(`${OWN}/topup/${'x'.repeat(40)}`);
    await steps.at('This link does not work any more', 'void');
    await tab.context.close();
  }
  assert.deepEqual(await service.check(), []);
});
