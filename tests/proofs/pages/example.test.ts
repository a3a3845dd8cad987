import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { ensureDemo } from '../../../packages/service/src/app/start/demo.ts';
import { assertSound, openChromium, type Tab } from '../../support/chromium.ts';
import { looks } from '../../support/looks.ts';
import { connectionsOf } from '../../support/connections.ts';
import { layOutExample, whenReady } from '../../support/example.ts';
import { userOf } from '../../support/example-visitors.ts';
import { journeyOf, OWN } from '../../support/journey.ts';
import { streamSteps, type UpstreamScript } from '../../support/scripted-upstream.ts';
import { setStage } from '../../support/stage.ts';

/** The example as a new developer runs it: the demo app of the service, with nothing set but addresses and paths. */

const stage = await setStage({
  model: { timeoutMs: 60_000 }, // An answer waits while the test inspects its page. The provider must not count as silent meanwhile.
  environment: { PURSER_PUBLIC_URL: OWN, PURSER_OPERATOR_NAME: 'Northwind Models' },
});
const { service, upstream } = stage;
const { dataDirectory } = service;
const demo = await ensureDemo(service.database.owner, { dataDirectory, currency: 'EUR', publicUrl: service.url });
service.keepSecret(demo.liveKey);
const connections = connectionsOf(service.database);
const startExample = await layOutExample();
const example = await whenReady(
  startExample({ PURSER_URL: service.url, PURSER_DATA_DIR: dataDirectory, CHAT_MODEL: 'large' }),
);
const HOSTS = { 'purser.localhost': service.url, localhost: example.address };

const PASSWORD = 'correct horse';
const MARKUP = '<img src=x onerror=alert(1)> & "quotes"';

/** An answer in two parts. The second one comes on request. */
function answerInTwo(): { readonly script: UpstreamScript; readonly goOn: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
  const facts = { model: 'm', pieces: ['Here is ', 'an answer with <b>markup</b>.'], usage, includeUsageChunk: true };
  const [head, first, ...rest] = streamSteps(facts);
  return {
    script: { body: [head, first, { waitFor: promise }, ...rest].filter((step) => step !== undefined) },
    goOn: resolve,
  };
}

/** Returns the amount that the page shows. */
async function balanceOn(page: Page): Promise<number> {
  return Number((await page.locator('#balance').textContent())?.replace(/[^\d.]/g, ''));
}

async function signIn({ page }: Tab, name: string): Promise<void> {
  await page.goto(`${example.url}/`);
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Chat' }).waitFor();
  await page.getByText('No wallet yet').waitFor();
}

for (const [look, options] of looks('phone-dark')) {
  test(`OP-18 a user gets to a paid answer: ${look}`, async (t) => {
    const chromium = await openChromium(t, HOSTS);
    if (chromium === undefined) return;
    const tab = await chromium.open({ ...options, others: ['localhost'] });
    const { page, context } = tab;
    await page.goto(`${example.url}/`);
    await assertSound(tab, `example-sign-in-${look}`);
    await signIn(tab, `Anna ${look}`);
    await assertSound(tab, `example-new-${look}`);
    const { script, goOn } = answerInTwo();
    upstream.script(script);
    const before = upstream.requests.length;

    await page.getByLabel('Your message').fill(MARKUP);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'This answer needs money in your wallet' }).waitFor();
    assert.equal(upstream.requests.length, before, 'no request reached the provider');
    await assertSound(tab, `example-top-up-${look}`);
    const opening = context.waitForEvent('page');
    await page.getByRole('link', { name: 'Open the page' }).click();
    const journey = journeyOf({ ...tab, page: await opening }, stage);
    await journey.signIn(`${look}@example.test`);
    await journey.consent('Demo app');
    await page.getByText('€0.00', { exact: true }).waitFor(); // The page got the event,
    await page.getByText(/The answer waits for you\.$/).waitFor(); // and still says what it is waiting for.
    await journey.choose();
    await journey.pay();
    await journey.at('The money has arrived', 'arrived');

    const answer = page.locator('#messages li.assistant p');
    await answer.filter({ hasText: /^Here is $/ }).waitFor();
    // From the webhook, while the answer is generated. It excludes the answer's hold if that was placed first.
    await page
      .locator('#balance')
      .filter({ hasText: /^€(?:10\.00|9\.9\d+)$/ })
      .waitFor();
    await assertSound(tab, `example-streaming-${look}`);
    goOn();
    await answer.filter({ hasText: 'Here is an answer with <b>markup</b>.' }).waitFor();
    await page.getByText('€9.999901', { exact: true }).waitFor(); // (10 + 4 x 20) x 1.1 micros are gone.
    await assertSound(tab, `example-answered-${look}`);
    assert.equal(upstream.requests.length, before + 1);
    assert.equal(await page.locator('#messages img, #messages p b').count(), 0);

    await page.reload();
    await page.getByText(MARKUP).waitFor();
    assert.equal(await page.locator('#messages img, #messages p b').count(), 0);
    assert.deepEqual(await service.check(), []);
  });
}

for (const [look, options] of looks('desk-light')) {
  test(`OP-18 the example tells a reached cap from a blocked wallet: ${look}`, async (t) => {
    const chromium = await openChromium(t, HOSTS);
    if (chromium === undefined) return;
    const tab = await chromium.open({ ...options, others: ['localhost'] });
    const { page, context } = tab;
    const [name, email] = [`Cora ${look}`, `cora-${look}@example.test`];
    await signIn(tab, name);
    const user = userOf(dataDirectory, name);
    await service.fund(demo, user, 5_000_000);
    const identity = await connections.newIdentity(email);
    await connections.connect({ identity, appId: demo.appId, user, cap: 1 });
    await page.reload();
    await page.getByText('€5.00', { exact: true }).waitFor();
    const { script, goOn } = answerInTwo();
    goOn();
    upstream.script(script);
    const before = upstream.requests.length;

    await page.getByLabel('Your message').fill('What may I spend?');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'You have reached your monthly cap' }).waitFor();
    await page.getByText('You set a monthly cap for this app').waitFor();
    await assertSound(tab, `example-cap-${look}`);
    const opening = context.waitForEvent('page');
    await page.getByRole('link', { name: 'Change the cap' }).click();
    const other = await opening;
    const journey = journeyOf({ ...tab, page: other }, stage);
    await journey.signIn(email);
    await journey.at('Your monthly cap for Demo app', 'cap');
    assert.equal(upstream.requests.length, before, 'no request reached the provider');
    await other.getByLabel(/^New monthly cap/).fill('4');
    await other.getByRole('button', { name: 'Set this cap' }).click();
    await page.getByText('Here is an answer').waitFor();
    await page.getByText('€4.999901', { exact: true }).waitFor(); // (10 + 4 x 20) x 1.1 micros are gone.

    await service.setWallet(demo, user, 'is_suspended = true');
    await page.getByLabel('Your message').fill('And now?');
    await page.keyboard.press('Enter');
    await page.getByText('Your wallet is blocked, and paying in does not change that.').waitFor();
    await page.getByRole('button', { name: 'Top up' }).waitFor({ state: 'hidden' });
    assert.equal(await page.getByRole('link').count(), 0, 'no link that does not help');
    await assertSound(tab, `example-blocked-${look}`);
    assert.equal(upstream.requests.length, before + 1);
    assert.deepEqual(await service.check(), []);
  });
}

test('OP-18 signing out in one tab signs out in all tabs', async (t) => {
  const chromium = await openChromium(t, HOSTS);
  if (chromium === undefined) return;
  const tab = await chromium.open({ others: ['localhost'] });
  await signIn(tab, 'Dora');
  const other = await tab.context.newPage();
  await other.goto(`${example.url}/`);
  await other.getByText('No wallet yet').waitFor();
  await tab.page.getByRole('button', { name: 'Sign out' }).click();
  for (const page of [tab.page, other]) await page.getByRole('heading', { name: 'Sign in to Chat' }).waitFor();
});

test('OP-18 the round trip through the connect page connects a wallet', async (t) => {
  const chromium = await openChromium(t, HOSTS);
  if (chromium === undefined) return;
  const tab = await chromium.open({ width: 390, others: ['localhost'] });
  const { page, context, requests } = tab;
  await signIn(tab, 'Berta');
  await page.getByRole('button', { name: 'Connect a wallet' }).click();
  const journey = journeyOf(tab, stage);
  await journey.signIn('berta@example.test');
  await page.getByText('Berta', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('You have not connected a wallet.').waitFor();

  await page.getByRole('button', { name: 'Connect a wallet' }).click();
  await journey.consent('Demo app');
  await page.getByRole('link', { name: 'Not now' }).click();
  await page.getByText('Your wallet is connected.').waitFor();
  await page.getByText('€0.00', { exact: true }).waitFor();
  // journey.test.ts checks at the server which referrers the browser sends, because Playwright only guesses them.
  await assertSound({ ...tab, requests: [] }, 'example-connected-phone-light');

  const pages = () => requests.filter(({ isPage, url }) => isPage && url.startsWith(example.url)).length;
  const loaded = pages();
  const other = await context.newPage();
  await other.goto(`${OWN}/wallet`);
  await other.getByRole('link', { name: 'Demo app' }).click();
  await other.getByRole('button', { name: 'Top up' }).click();
  const paying = journeyOf({ ...tab, page: other }, stage);
  await paying.choose();
  await paying.pay();
  await page.getByText('Your top-up has arrived.').waitFor();
  await page.getByText('€10.00', { exact: true }).waitFor();
  assert.equal(pages(), loaded, 'no page was loaded again');
  assert.equal(await balanceOn(page), 10);
});
