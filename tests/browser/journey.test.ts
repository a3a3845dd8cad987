import assert from 'node:assert/strict';
import { test } from 'node:test';
import { send } from '../support/client.ts';
import { assertQuiet, keepPicture, openChromium, type Tab } from '../support/chromium.ts';
import { looks } from '../support/looks.ts';
import { BACK, journeyOf, OWN, setJourney, startOtherSite } from '../support/journey.ts';

const stage = await setJourney();
const { service, app, refusedCall } = stage;
const theApp = await startOtherSite('<h1>The app</h1>');
const HOSTS = { 'purser.localhost': service.url, localhost: theApp.url };

const LOOKS = looks('phone-dark', { 'phone-dark': { locale: 'de-DE' }, 'desk-dark': { reducedMotion: 'reduce' } });

async function assertServed(user: string): Promise<void> {
  const served = await stage.call(user);
  assert.equal(served.status, 200, served.text);
}

function pagesLoaded({ requests }: Tab): number {
  return requests.filter(({ isPage }) => isPage).length;
}

for (const [look, options] of LOOKS) {
  test(`PG-05 ON-01 ON-02 ON-03 ON-05 a user goes from refusal to success, then disconnects: ${look}`, async (t) => {
    const chromium = await openChromium(t, HOSTS);
    if (chromium === undefined) return;
    const tab = await chromium.open(options);
    const { page } = tab;
    const journey = journeyOf(tab, stage, look);
    const { user, topupUrl } = await refusedCall();
    await page.goto(topupUrl);
    await journey.signIn(`${look}@example.test`);
    await journey.consent();
    await journey.choose();
    await journey.pay();
    await journey.at('Your payment is on its way', 'waiting');
    const loaded = pagesLoaded(tab);
    await journey.at('The money has arrived', 'arrived');
    assert.equal(pagesLoaded(tab), loaded, 'the page updates without a reload');
    await assertServed(user);
    await page.goto(`${OWN}/wallet`);
    await journey.at('Your wallet', 'wallet');
    await page.getByRole('link', { name: 'Test app' }).click();
    await journey.at('Test app', 'connection');
    await page.getByRole('link', { name: '1 call' }).click();
    await journey.at(/2\d{3}/, 'day');
    await page.getByRole('link', { name: /^Call/ }).click();
    await journey.at('Receipt', 'receipt');
    await page.getByRole('link', { name: 'Back to the wallet' }).click();
    await page.getByRole('link', { name: 'Get a refund of unused money' }).click();
    await journey.at('Refund', 'refund');
    await page.getByRole('link', { name: 'Back to the wallet' }).click();
    await page.getByRole('link', { name: 'Disconnect the app' }).click();
    await journey.at('Disconnect Test app?', 'disconnect');
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await journey.at('Test app', 'disconnected');
    assert.equal((await stage.call(user)).status, 402);
    await page.goto(`${OWN}/topup/${'x'.repeat(40)}`);
    await journey.at('This link no longer works', 'void');
    assert.deepEqual(await service.check(), []);
  });
}

async function connectUrl(user: string): Promise<string> {
  const body = { redirectUri: BACK, state: 'a b&c=#ü', userLabel: 'anna <b>@example.com' };
  const reply = await send('/connect', { url: service.url, key: app.liveKey, user, body });
  assert.equal(reply.status, 200, reply.text);
  return String(reply.body['connectUrl']);
}

function backWith(status: string): string {
  return `/back?x=1&status=${status}&state=${encodeURIComponent('a b&c=#ü')}`;
}

test('ON-01 BI-02 a user goes from app to wallet and back, paid or not', async (t) => {
  const chromium = await openChromium(t, HOSTS);
  if (chromium === undefined) return;
  const tab = await chromium.open({ width: 390, others: ['localhost'] });
  const { page } = tab;
  const journey = journeyOf(tab, stage, 'connect');
  const atApp = page.getByRole('heading', { name: 'The app' });

  await page.goto(await connectUrl('connecting'));
  await journey.signIn('connecting@example.test');
  await page.getByText('anna <b>@example.com').waitFor();
  await page.setViewportSize({ width: 360, height: 740 });
  await keepPicture(page, 'consent-small-phone');
  const agree = await page.getByRole('button', { name: 'Connect' }).boundingBox();
  assert.ok(agree !== null && agree.y + agree.height <= 740, `the button is in sight: ${JSON.stringify(agree)}`);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await atApp.waitFor();
  assert.equal(theApp.asked.at(-1)?.path, backWith('cancelled'));

  await page.goto(await connectUrl('connecting'));
  await journey.consent();
  await journey.at(/^Top up/, 'amounts');
  await page.getByRole('link', { name: 'Not now' }).click();
  await atApp.waitFor();
  assert.equal(theApp.asked.at(-1)?.path, backWith('connected'));

  await page.goto(await connectUrl('paying'));
  await journey.consent();
  await journey.choose();
  await journey.pay();
  await journey.at('The money has arrived', 'arrived');
  await page.getByRole('link', { name: 'Continue to Test app' }).click();
  await atApp.waitFor();
  assert.equal(theApp.asked.at(-1)?.path, backWith('connected'));
  await assertServed('paying');

  assert.equal(theApp.asked.length, 3);
  assert.deepEqual([...new Set(theApp.asked.map(({ referer }) => referer))], [undefined]);
  assertQuiet(tab, 'connect');
});

test('ON-03 the pages handle declined, invalid and two-step cards', async (t) => {
  const chromium = await openChromium(t, HOSTS);
  if (chromium === undefined) return;
  const tab = await chromium.open({ width: 390 });
  const { page } = tab;
  const journey = journeyOf(tab, stage, 'cards');
  const { user, topupUrl } = await refusedCall();
  await page.goto(topupUrl);
  await journey.signIn('cards@example.test');
  await journey.consent();
  await journey.choose();
  await journey.pay('4000 0000 0000 0002');
  await page.getByRole('alert').getByText('declined').waitFor();
  await journey.pay('4111 1111 1111 1111');
  await page.getByRole('alert').getByText('not one of the test cards').waitFor();
  await journey.pay('4000 0000 0000 3220');
  await journey.at('Confirm the payment', 'confirm');
  await page.getByRole('button', { name: 'Refuse' }).click();
  await page.getByRole('alert').getByText('refused').waitFor();
  assert.equal((await service.wallet(app, user)).balance, 0);
  await journey.pay('4000 0000 0000 3220');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await journey.at('The money has arrived', 'arrived');
  assert.equal((await service.wallet(app, user)).balance, 10_000_000);
});

test('PG-05 ON-01 ON-02 a user reaches a served call without scripts', async (t) => {
  const chromium = await openChromium(t, HOSTS);
  if (chromium === undefined) return;
  const tab = await chromium.open({ hasScripts: false });
  const journey = journeyOf(tab, stage);
  const { user, topupUrl } = await refusedCall();
  await tab.page.goto(topupUrl);
  await journey.signIn('no-scripts@example.test');
  await journey.consent();
  await journey.choose();
  await journey.pay();
  await journey.at('The money has arrived', 'arrived');
  await assertServed(user);
  assertQuiet(tab, 'without scripts');
});

test('PG-01 a page loads nothing but the app’s logo', async (t) => {
  const chromium = await openChromium(t, HOSTS);
  if (chromium === undefined) return;
  const tab = await chromium.open();
  const { page, requests } = tab;
  await page.goto((await refusedCall()).topupUrl);
  await page.getByRole('img', { name: 'Logo of Test app' }).waitFor();
  const width =
    "(async (logo) => { await logo.decode(); return logo.naturalWidth; })(document.querySelector('.app img'))";
  assert.equal(await page.evaluate(width), 64);
  const loaded = requests.filter(({ isPage }) => !isPage).map(({ url }) => new URL(url).pathname);
  assert.equal(loaded.length, 1);
  assert.match(loaded[0] ?? '', /^\/logos\/[0-9a-f]{64}$/);
});
