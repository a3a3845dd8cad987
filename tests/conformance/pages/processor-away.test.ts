import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertPage } from '../../support/page.ts';
import { setStripeStage } from '../../support/stripe-stage.ts';
import { walletOwnersOf } from '../../support/people.ts';

const { service, app, stripe, newUser, checkouts } = await setStripeStage();
const newWalletOwner = walletOwnersOf(service);

test('ON-02 while the processor is away, the page keeps the amount', async () => {
  const { browser, connect } = await newWalletOwner();
  const path = `/wallet/${await connect(app, await newUser(0))}`;
  await browser.open(path);
  const reply = await browser.ask(`${path}/topup`, { form: browser.fieldsOf(`${path}/topup`) });
  const pay = `${reply.headers.get('location')}/pay`;
  await browser.open(pay);
  stripe.failing = 500;
  const page = await browser.submit(pay, { amount: '', other: '12.50' });
  assertPage(page, 500, 'Top up your wallet for Test app', { formTargets: checkouts.formTargets });
  assert.match(page.text, /role="alert">We cannot reach the payment processor right now\. You have not been charged\./);
  assert.doesNotMatch(page.text, /canary/);
  assert.equal(browser.fieldsOf(pay)['other'], '12.50');
  stripe.failing = undefined;
  const later = await browser.ask(pay, { form: { ...browser.fieldsOf(pay), amount: '' } });
  assert.equal(later.status, 303);
  assert.match(later.headers.get('location') ?? '', /^https:\/\/checkout\.stripe\.com\//);
});
