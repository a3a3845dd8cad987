import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAuthenticator } from '../../support/authenticator.ts';
import { send } from '../../support/client.ts';
import { assertPage, type Browser, mainOf, openBrowser } from '../../support/page.ts';
import { addPasskey } from '../../support/passkeys.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { startSecondGateway } from '../../support/service.ts';
import { sql } from '../../support/sql.ts';
import { beginTopup, checkoutPath, hurry, payBy, refusedPath, setTopupStage } from '../../support/topup.ts';

const { service, app, personWith, linkFor, balanceOf, callAs } = await setTopupStage();

/** Pays five units, and runs everything that follows from the card. */
async function payFive(browser: Browser, user: string, card: Parameters<typeof payBy>[2]): Promise<string> {
  const address = await beginTopup(browser, linkFor(user), { amount: '5000000' });
  await payBy(browser, address, card);
  return address;
}

test('ON-02 a refused call succeeds after its wallet is funded', async () => {
  const { user, browser } = await personWith();
  const path = await refusedPath(service, app, user);
  assertPage(await browser.open(path), 200, 'Top up your wallet for Test app');
  const address = await beginTopup(browser, path, { amount: '10000000' });
  assert.match(mainOf(browser.page()), /€10\.00/);
  const waiting = await payBy(browser, address, 'success');
  assertPage(waiting, 200, 'Your payment is on its way', { hasScript: true });
  await hurry(service, address);
  assert.equal(await balanceOf(user), 10_000_000);
  assert.equal((await callAs(user)).status, 200);
});

test('ON-02 BI-02 after a top-up a button leads to the app’s address', async () => {
  const { owner } = service.database;
  const { user, browser } = await personWith();
  const link = linkFor(user);
  await browser.open(link);
  assert.match(browser.page().text, /<a href="https:\/\/app\.test\/back">Back to Test app<\/a>/);
  const address = await beginTopup(browser, link, { amount: '5000000' });
  await payBy(browser, address, 'success');
  await hurry(service, address);
  const path = await checkoutPath(service, user);
  const wayTo = async (query = '') =>
    /class="button" href="([^"]*)">Continue to/.exec((await browser.open(path + query)).text)?.[1];
  assert.equal(await wayTo('?returnUri=https://evil.test/&next=https://evil.test/'), 'https://app.test/back');
  const allowed = ['https://app.test/back', 'https://app.test/chat?a=1&b=2'];
  await sql(owner)`update accounts.apps set redirect_uris = ${allowed}, return_uri = ${allowed[1]}
    where app_id = ${app.appId}`;
  assert.equal(await wayTo(), 'https://app.test/chat?a=1&#38;b=2');
  await sql(owner)`update accounts.apps set redirect_uris = '{}', return_uri = null where app_id = ${app.appId}`;
  assert.equal(await wayTo(), undefined);
  assert.match(browser.page().text, /You can go back to Test app now\./);
  await sql(owner)`update accounts.apps set redirect_uris = ${allowed.slice(0, 1)} where app_id = ${app.appId}`;
});

test('BI-04 the smallest offered amount just lets the call through', async () => {
  const one = await personWith();
  const path = await refusedPath(service, app, one.user);
  await one.browser.open(path);
  const [, least = ''] =
    /<input id="least" type="radio" name="amount" value="(\d+)"( checked)?>/.exec(one.browser.page().text) ?? [];
  assert.ok(Number(least) > 1_000_000 && Number(least) % 10_000 === 0, least);
  const address = await beginTopup(one.browser, path, { amount: least });
  await payBy(one.browser, address, 'success');
  await hurry(service, address);
  assert.equal(await balanceOf(one.user), Number(least));
  assert.equal((await callAs(one.user)).status, 200);

  const other = await personWith();
  const cent = await beginTopup(other.browser, await refusedPath(service, app, other.user), {
    other: ((Number(least) - 10_000) / 1_000_000).toFixed(2),
  });
  await payBy(other.browser, cent, 'success');
  await hurry(service, cent);
  assert.equal(await balanceOf(other.user), Number(least) - 10_000);
  assert.equal((await callAs(other.user)).status, 402);
});

test('ON-02 the spendable amount respects the cap and a block', async () => {
  const { user, browser } = await personWith(2_000_000, { cap: 3_000_000 });
  const shows = (amount: string) =>
    assert.ok(browser.page().text.includes(`<dt>You can spend now</dt><dd>${amount}</dd>`), mainOf(browser.page()));
  await browser.open(linkFor(user));
  shows('€2.00');
  await payFive(browser, user, 'success').then((address) => hurry(service, address));
  const path = await checkoutPath(service, user);
  await browser.open(path);
  shows('€3.00');
  await browser.open(linkFor(user));
  shows('€3.00');
  await service.setWallet(app, user, 'is_suspended = true');
  await browser.open(path);
  shows('€0.00');
});

test('ON-01 a payer without a passkey is offered one once', async () => {
  const OFFER = /<a href="\/wallet\/passkeys">Add a passkey<\/a>/;
  const { user, browser } = await personWith();
  const address = await payFive(browser, user, 'success');
  const path = await checkoutPath(service, user);
  assert.doesNotMatch((await browser.open(path)).text, OFFER); // Not before the money has arrived.
  await hurry(service, address);
  assert.match((await browser.open(path)).text, OFFER);
  for (const other of [openBrowser(service.url), (await personWith()).browser]) {
    assertPage(await other.open(path), 200, 'The money has arrived');
    assert.doesNotMatch(other.page().text, OFFER);
  }
  await addPasskey(browser, createAuthenticator());
  assert.doesNotMatch((await browser.open(path)).text, OFFER);
});

test('ON-02 returning from the processor credits nothing', async () => {
  const { user, browser } = await personWith();
  await beginTopup(browser, linkFor(user), { amount: '5000000' });
  const path = await checkoutPath(service, user);
  for (const query of ['', '?paid=yes', '?state=paid&amount=5000000', '?session_id=cs_1', '?payment=tpa_1']) {
    assertPage(await browser.open(path + query), 200, 'Your payment is on its way', { hasScript: true });
  }
  assertPage(await browser.open(`${path}?paid=no`), 200, 'Not paid yet', { hasScript: true });
  const [, again = ''] = /href="(\/topup\/[^"]+)">Try again/.exec(browser.page().text) ?? [];
  assertPage(await browser.open(again), 200, 'Top up your wallet for Test app');
  assert.equal(await balanceOf(user), 0);
});

test('ON-02 the checkout page shows arriving money only to the owner', async () => {
  const { user, browser } = await personWith(1_000_000);
  const address = await beginTopup(browser, linkFor(user), { other: '7,50' });
  const waiting = await payBy(browser, address, 'success');
  const path = await checkoutPath(service, user);
  assert.match(waiting.text, /<section id="arrival" aria-live="polite">/);
  assert.match(waiting.text, /<noscript><meta http-equiv="refresh" content="3">/);
  await hurry(service, address);
  assertPage(await browser.open(path), 200, 'The money has arrived');
  assert.match(browser.page().text, /€7\.50 went into the wallet[^]*€8\.50/);
  const strangers = [openBrowser(service.url), (await personWith()).browser];
  for (const stranger of strangers) {
    assertPage(await stranger.open(path), 200, 'The money has arrived');
    assert.doesNotMatch(stranger.page().text, /8\.50|href="\/wallet"|\/topup\//);
  }
  for (const none of ['/checkout/chk_none', '/checkout/%00']) {
    assertPage(await browser.open(none), 404, 'There is nothing here');
  }
});

test('ON-02 a payment under review looks neither lost nor credited', async () => {
  const { user, browser } = await personWith();
  await hurry(service, await payFive(browser, user, 'success'));
  await sql(service)`update payments.payments set state = 'kept', anomaly = 'currency' where user_id = ${user}`;
  assertPage(await browser.open(await checkoutPath(service, user)), 200, 'We have your payment');
  assert.match(browser.page().text, /Nothing is lost: Purser will look into it\./);
  assert.doesNotMatch(browser.page().text, /went into the wallet/);
});

test('BI-04 two paid checkouts by one link are two payments', async () => {
  const { user, browser } = await personWith();
  const path = linkFor(user);
  const first = await beginTopup(browser, path, { amount: '5000000' });
  const second = await beginTopup(browser, path, { amount: '10000000' });
  assert.notEqual(first, second);
  for (const address of [first, second]) {
    await browser.open(address);
    await payBy(browser, address, 'success');
    await hurry(service, address);
  }
  assert.equal(await balanceOf(user), 15_000_000);
  assertPage(await browser.open(path), 404, 'This link no longer works');
});

test('ON-03 each test card does what the pages say', async () => {
  const declined = await personWith();
  const address = await beginTopup(declined.browser, linkFor(declined.user), { amount: '5000000' });
  assertPage(await payBy(declined.browser, address, 'decline'), 402, 'Test payment');
  assert.match(declined.browser.page().text, /The card was declined\. Nothing was paid\./);
  await payBy(declined.browser, address, 'success');
  await declined.browser.open(address);
  assertPage(declined.browser.page(), 200, 'Paid');
  await hurry(service, address);
  assert.equal(await balanceOf(declined.user), 5_000_000);

  const stepped = await personWith();
  const second = await beginTopup(stepped.browser, linkFor(stepped.user), { amount: '5000000' });
  assertPage(await payBy(stepped.browser, second, 'confirm'), 200, 'Confirm the payment');
  assertPage(await stepped.browser.submit(second, { step: 'refuse' }), 402, 'Test payment');
  assert.equal(await balanceOf(stepped.user), 0);
  await payBy(stepped.browser, second, 'confirm');
  const paid = await stepped.browser.submit(second, { step: 'confirm' });
  assertPage(paid, 200, 'Your payment is on its way', { hasScript: true });
  await hurry(service, second);
  assert.equal(await balanceOf(stepped.user), 5_000_000);

  const won = await personWith();
  await hurry(service, await payFive(won.browser, won.user, 'chargeback_won'));
  assert.equal(await balanceOf(won.user), 5_000_000);
});

test('WA-05 a refund or chargeback of spent money suspends the wallet', async () => {
  for (const card of ['refund', 'chargeback'] as const) {
    const kept = await personWith();
    await hurry(service, await payFive(kept.browser, kept.user, card));
    assert.equal(await balanceOf(kept.user), 0);
    assert.equal((await callAs(kept.user)).error['code'], 'PAYMENT_REQUIRED');

    const spent = await personWith();
    const address = await payFive(spent.browser, spent.user, card);
    await hurry(service, address, 'payment.paid');
    assert.equal((await callAs(spent.user)).status, 200);
    await hurry(service, address);
    assert.equal(await balanceOf(spent.user), 0);
    const refused = await callAs(spent.user);
    assert.deepEqual([refused.error['code'], refused.body['topupUrl']], ['WALLET_SUSPENDED', undefined]);

    await spent.browser.open(linkFor(spent.user));
    assert.match(spent.browser.page().text, /This wallet is blocked.*Please contact Purser/);
    assert.doesNotMatch(spent.browser.page().text, /You can spend now/);
    await hurry(service, await payFive(spent.browser, spent.user, 'success')); // WA-04: paid, and still blocked.
    assert.equal((await callAs(spent.user)).error['code'], 'WALLET_SUSPENDED');
  }
});

test('ON-03 a number that is no test card is refused unstored', async () => {
  const { user, browser } = await personWith();
  const address = await beginTopup(browser, linkFor(user), { amount: '5000000' });
  const real = [
    '5555 5555 5555 4444',
    '4111111111111111',
    '4242424242424241',
    '42424242424242420',
    '',
    ' ',
    'x'.repeat(99),
  ];
  for (const number of real) {
    assertPage(await browser.submit(address, { number }), 402, 'Test payment');
    if (number.trim() !== '') assert.ok(!browser.page().text.includes(number), number);
    assert.match(browser.page().text, /This is not one of the test cards/);
  }
  assert.equal(await balanceOf(user), 0);
  assertPage(await browser.open('/test-processor/tch_none'), 404, 'Nothing to pay here');
});

test('ON-03 every page says that no real money moves', async () => {
  const { user, browser } = await personWith();
  const path = linkFor(user);
  const shown = [(await browser.open(path)).text, (await browser.open(linkFor(user, undefined, 'cap'))).text];
  const address = await beginTopup(browser, path, { amount: '5000000' });
  shown.push(browser.page().text, (await payBy(browser, address, 'success')).text, (await browser.open(address)).text);
  shown.push((await browser.open('/topup/x')).text, (await browser.open('/topup/sandbox')).text);
  for (const text of shown) assert.match(text, /<p class="test-money">Test processor: no real money moves<\/p>/);
});

test('ON-03 production has no test processor, and its pages say so', async () => {
  const { user, browser } = await personWith();
  const address = await beginTopup(browser, linkFor(user), { amount: '5000000' });
  const production = { PURSER_ENV: 'production', PURSER_CATALOGUE: 'catalogue.json', PURSER_SECRET: service.secret };
  await assert.rejects(startSecondGateway(service, { ...production, PURSER_PAYMENTS: 'test' }), /PURSER_PAYMENTS/);
  const gateway = await startSecondGateway(service, production);
  try {
    const { url } = gateway;
    for (const [path, body] of [
      [address, undefined],
      [address, '{}'],
      ['/webhooks/test', '{}'],
    ] as const) {
      assertRefusal(await send(path, { url, ...(body === undefined ? {} : { body }) }), { code: 'NOT_FOUND' });
    }
    const there = openBrowser(url);
    for (const [name, value] of browser.cookies) there.cookies.set(name, value);
    assertPage(await there.open(linkFor(user)), 200, 'Top up your wallet for Test app');
    assert.match(there.page().text, /Payments are not set up here\. Please contact Purser\./);
    assert.doesNotMatch(there.page().text, /no real money|Continue to payment/);
    assertPage(await there.open(await checkoutPath(service, user)), 404, 'There is nothing here');
  } finally {
    await gateway.close();
  }
});
