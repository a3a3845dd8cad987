import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../packages/service/src/kernel/time/clock.ts';
import { signWebhook } from '../../../packages/service/src/payments/test-processor/signed-webhooks.ts';
import { chat, send } from '../../support/client.ts';
import { setConnectStage } from '../../support/connect-stage.ts';
import { keysOf } from '../../support/keys.ts';
import { assertPage, type Browser, mainOf } from '../../support/page.ts';
import { browserOf, signedInPerson } from '../../support/people.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { completionBody } from '../../support/scripted-upstream.ts';
import { sql, sqlValue } from '../../support/sql.ts';
import { beginTopup, checkoutPath, hurry, payBy, refusedPath } from '../../support/topup.ts';

const { service, upstream, owner, newConnectApp } = await setConnectStage();
const app = await newConnectApp();
upstream.script({
  body: completionBody({ model: 'm', content: 'Hi', usage: { prompt_tokens: 1, completion_tokens: 1 } }),
});

const CONSENT = { cap: '20', 'other-cap': '', own: 'yes' };
let people = 0;

function newPerson(): { readonly email: string; readonly user: string } {
  people += 1;
  return { email: `paying-${people}@example.test`, user: `paying-${people}` };
}

function call(user: string) {
  return chat({ url: service.url, key: app.liveKey, user });
}

/** A new wallet, and the page on which its owner can pay, reached through the connect flow. */
async function connected(): Promise<{ readonly user: string; readonly browser: Browser; readonly path: string }> {
  const { email, user } = newPerson();
  const browser = await browserOf(service, email);
  const link = await app.linkFor(user, { state: 's' });
  await browser.open(link);
  assertPage(await browser.submit(`${link}/consent`, CONSENT), 200, 'Top up your wallet for Notes');
  const [, path = ''] = /action="(\/connect\/[\w-]+)\/topup"/.exec(browser.page().text) ?? [];
  return { user, browser, path };
}

test('ON-02 a stranger’s refused call succeeds after sign-in, consent and payment', async () => {
  const { email, user } = newPerson();
  const browser = await signedInPerson(service, email, await refusedPath(service, app, user));
  assertPage(browser.page(), 200, 'Connect Notes');
  // A new link: the mail may have taken longer than the first link lasts.
  const [, path = ''] = /action="(\/topup\/[\w-]+)\/consent"/.exec(browser.page().text) ?? [];
  assertPage(await browser.submit(`${path}/consent`, CONSENT), 200, 'Top up your wallet for Notes');
  const address = await beginTopup(browser, path, { amount: '5000000' });
  await payBy(browser, address, 'success');
  await hurry(service, address);
  assert.equal((await call(user)).status, 200);
});

test('ON-01 the connect flow offers a skippable payment on the way back', async () => {
  const { user, browser, path } = await connected();
  const shown = browser.page().text;
  assert.match(shown, /Notes is connected\. It can spend as soon as there is money in the wallet\./);
  assert.ok(shown.includes(`<a href="${path}/done">Not now</a>`), mainOf(browser.page()));
  assert.doesNotMatch(shown, /id="least"/);
  assertPage(await browser.submit(`${path}/topup`, { amount: '', other: '' }), 400, 'Top up your wallet for Notes');
  await browser.submit(`${path}/topup`, { amount: '', other: '2.50' });
  const [, address = ''] = /action="(\/test-processor\/[^"]+)"/.exec(browser.page().text) ?? [];
  const waiting = await payBy(browser, address, 'success');
  assertPage(waiting, 200, 'Your payment is on its way', { hasScript: true });
  await hurry(service, address);
  const arrived = await browser.open(await checkoutPath(service, user));
  assertPage(arrived, 200, 'The money has arrived');
  assert.ok(arrived.text.includes(`<a class="button" href="${path}/done">Continue to Notes</a>`), mainOf(arrived));
  const back = await browser.ask(`${path}/done`);
  assert.match(back.text, /https:\/\/app\.test\/back\?status=connected&#38;state=s/);
  assert.equal((await service.wallet(app, user)).balance, 2_500_000);
});

test('ON-02 a payer who returns without paying can try again', async () => {
  const { browser, path } = await connected();
  await browser.submit(`${path}/topup`, { amount: '5000000', other: '' });
  const [, back = ''] = /<a href="(\/checkout\/[^"]+)">Go back without paying/.exec(browser.page().text) ?? [];
  assertPage(await browser.open(back), 200, 'Not paid yet', { hasScript: true });
  assert.ok(
    browser.page().text.includes(`<a class="button" href="${path}/topup">Try again</a>`),
    mainOf(browser.page()),
  );
  browser.cookies.set('__Host-purser-next', `${back.slice('/checkout/'.length).split('?')[0]}:https://evil.test/done`);
  await browser.open(back);
  assert.doesNotMatch(browser.page().text, /evil/);
});

test('WH-06 a verified test payment is reported to the app once', async () => {
  const events = ['topup.completed'];
  await owner.get(201, 'PUT', `/apps/${app.appId}/webhook`, { endpointUrl: 'https://example.com/hook', events });
  const { browser, path, user } = await connected();
  await browser.submit(`${path}/topup`, { amount: '5000000', other: '' });
  const [, address = ''] = /action="(\/test-processor\/[^"]+)"/.exec(browser.page().text) ?? [];
  const told = async () => {
    const rows = await sql<{ data: unknown }>(service)`select convert_from(body, 'utf8')::jsonb -> 'data' as data
      from webhooks.events where app_id = ${app.appId}`;
    return rows.map(({ data }) => data);
  };
  assert.deepEqual(await told(), []);
  await payBy(browser, address, 'refund');
  await hurry(service, address);
  const data = { userId: user, balanceMicros: 5_000_000, availableMicros: 5_000_000, currency: 'EUR' };
  assert.deepEqual(await told(), [data]);
});

test('ON-02 only a signed test processor webhook counts, and once', async () => {
  const { user, browser, path } = await connected();
  await browser.submit(`${path}/topup`, { amount: '5000000', other: '' });
  const [, address = ''] = /action="(\/test-processor\/[^"]+)"/.exec(browser.page().text) ?? [];
  await payBy(browser, address, 'success');
  const testPayment = await sqlValue<string>(service)`with held as (update payments.test_events
    set due_at = 'infinity' returning test_payment)
    select p.test_payment from payments.test_payments p where p.test_checkout = ${address.replace('/test-processor/', '')}`;
  const event = { eventId: 'tev_http', type: 'payment.paid', processorPayment: testPayment ?? '' };
  const signed = signWebhook(keysOf(service.secret).proof('test-processor'), systemClock, event);
  const deliver = (headers: Readonly<Record<string, string>>) =>
    send('/webhooks/test', { url: service.url, body: signed.body, headers });
  const forged = signWebhook(keysOf(service.secret).proof('another'), systemClock, event);
  for (const headers of [{}, { 'purser-test-signature': 't=1,v1=00' }, forged.headers]) {
    assertRefusal(await deliver(headers), { code: 'BAD_REQUEST' });
  }
  const known = `select from payments.processor_webhooks where webhook_id = 'tev_http'`;
  assert.equal((await service.database.owner.query(known)).rowCount, 0);
  assert.equal((await service.wallet(app, user)).balance, 0);
  for (let times = 0; times < 3; times += 1) {
    const reply = await deliver(signed.headers);
    assert.deepEqual([reply.status, reply.body], [200, { received: true }]);
    assert.equal((await service.wallet(app, user)).balance, 5_000_000);
  }
  assert.equal((await service.database.owner.query(known)).rowCount, 1);
});
