import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndUserId, RefundId } from '../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { createRefunds } from '../../packages/service/src/payments/refunds/refunds.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { added, type Scrape, scrape } from '../support/metrics.ts';
import { sql } from '../support/sql.ts';
import { setStripeStage } from '../support/stripe-stage.ts';

const { service, app, stripe, processor, newUser, begin, tell, moved, sweep, checkouts } = await setStripeStage();
const lines: string[] = [];
const log = createLog('debug', { write: (line) => void lines.push(line) });
const refunds = createRefunds({ pool: service.database.owner, processor, log });

/** A wallet with a payment of 5 EUR in it. */
async function payer(): Promise<{ readonly user: string; readonly payment: string }> {
  const user = await newUser(0);
  const payment = stripe.pay((await begin(user, 5_000_000)).session);
  await tell('checkout.session.completed', payment);
  return { user, payment };
}

test('ON-02 a checkout session never names the end user', async () => {
  const user = await newUser(0);
  const { checkoutId, session } = await begin(user, 12_340_000, 'payer@example.test');
  const request = stripe.requests.at(-1);
  assert.match(session, /^cs_/);
  assert.equal(request?.path, '/v1/checkout/sessions');
  assert.equal(request.headers['idempotency-key'], checkoutId);
  const { expires_at: expiresAt, ...form } = request.form;
  const inSeconds = Number(expiresAt) - Date.now() / 1_000;
  assert.ok(inSeconds > 1_800 && inSeconds <= 3_601, String(inSeconds));
  assert.deepEqual(form, {
    mode: 'payment',
    submit_type: 'pay',
    'allowed_payment_method_types[0]': 'card',
    client_reference_id: checkoutId,
    'metadata[purser_checkout]': checkoutId,
    'payment_intent_data[metadata][purser_checkout]': checkoutId,
    'line_items[0][quantity]': '1',
    'line_items[0][price_data][currency]': 'eur',
    'line_items[0][price_data][unit_amount]': '1234',
    'line_items[0][price_data][product_data][name]': 'Top-up: Test app',
    'adaptive_pricing[enabled]': 'false',
    success_url: `https://purser.test/checkout/${checkoutId}`,
    cancel_url: `https://purser.test/checkout/${checkoutId}?paid=no`,
    customer_email: 'payer@example.test',
  });
  assert.ok(!JSON.stringify(request).includes(user));
  await begin(user, 5_000_000);
  assert.equal(stripe.requests.at(-1)?.form['customer_email'], undefined);
});

test('ON-02 the request contains nothing about this machine', async () => {
  await begin(await newUser(0), 5_000_000);
  const { headers } = stripe.requests.at(-1) ?? {};
  assert.equal(headers?.['x-stripe-client-telemetry'], undefined);
  assert.doesNotMatch(String(headers?.['x-stripe-client-user-agent']), /platform|telemetry/);
});

test('ON-02 forms that lead to a checkout end at Stripe', () => {
  assert.equal(checkouts.processor, 'stripe');
  assert.ok(checkouts.formTargets.includes('https://checkout.stripe.com'));
});

for (const [what, paid, credited] of [
  ['less', { amount: 499 }, ['top_up 4990000']],
  ['a cent more', { amount: 501 }, ['top_up 5010000']],
  ['one cent', { amount: 1 }, ['top_up 10000']],
  ['a hundred times as much', { amount: 50_000 }, ['top_up 500000000']],
  ['nothing', { amount: 0 }, []],
  ['another currency', { currency: 'usd' }, []],
  ['one without cents', { currency: 'jpy' }, []],
  ['one with a thousand cents', { currency: 'kwd' }, []],
  ['another amount of another currency', { amount: 1, currency: 'usd' }, []],
  ['the same, said in capitals', { currency: 'EUR' }, ['top_up 5000000']],
  ['the same', {}, ['top_up 5000000']],
  ['the most', { amount: 99_999_999 }, ['top_up 999999990000']],
] as const) {
  test(`ON-02 a payment counts as Stripe reports it: ${what}`, async () => {
    const user = await newUser(0);
    const { checkoutId, session } = await begin(user, 5_000_000);
    const payment = stripe.pay(session, paid);
    await tell('checkout.session.completed', payment);
    await tell('payment_intent.succeeded', payment);
    assert.deepEqual(await moved(user), credited);
    const state = (await checkouts.find(checkoutId))?.state;
    const isForeign = 'currency' in paid && paid.currency !== 'EUR';
    assert.equal(state, isForeign ? 'kept' : credited.length === 1 ? 'paid' : 'open');
  });
}

test('WA-05 each refund of a payment is booked once', async () => {
  const earlier = await scrape(service.url);
  const { user, payment } = await payer();
  const booked: string[] = [];
  for (const amounts of [[100], [50, 25, 10, 5], [20]]) {
    for (const amount of amounts) {
      stripe.refundThere(payment, amount);
      booked.push(`refund ${amount * 10_000}`);
    }
    await tell('charge.refunded', payment);
    await tell('refund.created', payment);
  }
  assert.deepEqual((await moved(user)).slice(1).toSorted(), booked.toSorted());
  assert.deepEqual(await countedSince(earlier), { credited: 5_000_000, refunded: 2_100_000 });
});

/** What payments have moved, by its kind, as the metrics count it. */
async function countedSince(earlier: Scrape): Promise<Readonly<Record<string, number>>> {
  const counted = Object.entries(added(earlier, await scrape(service.url)));
  return Object.fromEntries(
    counted.flatMap(([name, by]) => {
      const [, kind] = /^purser_payment_micros_total{kind="(\w+)"}$/.exec(name) ?? [];
      return kind === undefined ? [] : [[kind, by] as const];
    }),
  );
}

test('WA-05 a dispute moves the disputed amount without fees', async () => {
  const earlier = await scrape(service.url);
  const { user, payment } = await payer();
  const dispute = stripe.dispute(payment, 300, { amount: 326, currency: 'usd' });
  await tell('charge.dispute.funds_withdrawn', payment);
  stripe.reinstate(dispute);
  await tell('charge.dispute.funds_reinstated', payment);
  assert.deepEqual((await moved(user)).slice(1), ['claw_back 3000000', 'funds_reinstated 3000000']);
  const expected = { credited: 5_000_000, clawed_back: 3_000_000, reinstated: 3_000_000 };
  assert.deepEqual(await countedSince(earlier), expected);
});

test('ON-02 a payment without a webhook is found at Stripe', async () => {
  const user = await newUser(0);
  const { session } = await begin(user, 5_000_000);
  await sweep();
  stripe.pay(session);
  assert.deepEqual(await moved(user), []);
  await sweep();
  await sweep();
  assert.deepEqual(await moved(user), ['top_up 5000000']);
});

test('WA-05 a refund that fails at Stripe comes back', async () => {
  const { user, payment } = await payer();
  stripe.refundStatus = 'pending';
  const amount = micros(1_000_000n);
  assert.equal(await refunds.refundUnused({ appId: app.appId, userId: user as EndUserId, amount, key: 'k' }), 'asked');
  stripe.refundStatus = 'succeeded';
  await tell('refund.created', payment);
  const rows = await sql<{ processor_refund: string; refund_id: RefundId }>(service)`
    select processor_refund, refund_id from payments.refunds where user_id = ${user}`;
  stripe.setRefund(rows[0]?.processor_refund ?? '', 'failed');
  await tell('refund.failed', payment);
  assert.deepEqual((await moved(user)).slice(1), ['refund_set_aside 1000000', 'refund_released 1000000']);
});

test('WA-05 a refund that Stripe cannot take stays set aside', async () => {
  for (const status of [401, 403, 404, 409, 429, 500]) {
    const { user, payment } = await payer();
    stripe.failing = status;
    const asked = { appId: app.appId, userId: user as EndUserId, amount: micros(1_000_000n), key: 'k' };
    assert.equal(await refunds.refundUnused(asked), 'asked', String(status));
    stripe.failing = undefined;
    assert.deepEqual((await moved(user)).slice(1), ['refund_set_aside 1000000'], String(status));
    await sweep();
    await tell('refund.created', payment);
    assert.deepEqual((await moved(user)).slice(1), ['refund_set_aside 1000000', 'refund_paid 1000000'], String(status));
  }
});

test('ER-03 Stripe faults are reported by kind, without its text', async () => {
  const { user } = await payer();
  stripe.failing = 402;
  await assert.rejects(begin(user, 5_000_000, 'payer@example.test'), (fault: Error) => {
    assert.doesNotMatch(`${fault.message} ${String(fault.cause)}`, /canary|payer@/);
    assert.match(String(fault.cause), /The request to Stripe failed: \w+ 402/);
    return true;
  });
  stripe.failing = 500;
  await refunds.refundUnused({
    appId: app.appId,
    userId: user as EndUserId,
    amount: micros(1_000_000n),
    key: 'fault',
  });
  stripe.failing = undefined;
  assert.match(lines.join(), /could not be requested yet/);
  assert.doesNotMatch(lines.join(), /canary|payer@/);
});
