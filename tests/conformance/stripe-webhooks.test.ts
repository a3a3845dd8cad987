import assert from 'node:assert/strict';
import { createHmac, randomInt } from 'node:crypto';
import { test } from 'node:test';
import { checkBooks } from '../../packages/service/src/operator/health/ledger-check.ts';
import { send } from '../support/client.ts';
import { newOwnApp, newOwner } from '../support/control.ts';
import { assertRefusal } from '../support/refusal.ts';
import { ROUNDS } from '../support/rounds.ts';
import { sql } from '../support/sql.ts';
import { setStripeStage } from '../support/stripe-stage.ts';

const { service, app, stripe, newUser, begin, deliver, tell, moved, rows } = await setStripeStage();

/** The types are in the order in which they happen. */
const TYPES = [
  'checkout.session.completed',
  'payment_intent.succeeded',
  'charge.refunded',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
] as const;

const ORDERS = permutationsOf([0, 1, 2, 3, 4]);
/** One in five in a short run, others each time. All of them with `--rounds 9`. */
const STEP = Math.max(1, Math.round(9 / ROUNDS));
const FIRST = randomInt(STEP);
const AT_ONCE = 6;

function permutationsOf(items: readonly number[]): readonly (readonly number[])[] {
  if (items.length === 0) return [[]];
  return items.flatMap((item) => permutationsOf(items.filter((one) => one !== item)).map((rest) => [item, ...rest]));
}

/** Sends webhooks in this order. When one is sent, everything that it and the earlier ones report has happened at Stripe. */
async function sendInOrder(user: string, order: readonly number[], times: (place: number) => number): Promise<void> {
  const payment = stripe.pay((await begin(user, 5_000_000)).session);
  let dispute = '';
  const happen = [
    () => {},
    () => {},
    () => void stripe.refundThere(payment, 200),
    () => {
      dispute = stripe.dispute(payment, 300);
    },
    () => stripe.reinstate(dispute),
  ];
  let happened = 0;
  for (const [place, index] of order.entries()) {
    for (; happened <= index; happened += 1) happen[happened]?.();
    const event = stripe.event(TYPES[index] ?? '', payment);
    for (let time = 0; time < times(place); time += 1) {
      // The last one is another webhook about the same event.
      const reply = await (time === 2 ? tell(TYPES[index] ?? '', payment) : deliver(event));
      assert.deepEqual([reply.status, reply.body], [200, { received: true }], reply.text);
    }
  }
}

test('ON-02 WH-06 webhooks in any order book one credit and debit', async (t) => {
  assert.equal(ORDERS.length, 120);
  t.diagnostic(`every ${STEP}. order from ${FIRST} on`);
  const waiting = [...ORDERS.entries()].filter(([number]) => number % STEP === FIRST);
  async function worker(): Promise<void> {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [number, order] = next;
      const user = await newUser(0);
      await sendInOrder(user, order, (place) => 1 + ((number + place) % 3));
      assert.deepEqual(
        (await moved(user)).toSorted(),
        ['claw_back 3000000', 'funds_reinstated 3000000', 'refund 2000000', 'top_up 5000000'],
        `order ${order.join()}`,
      );
      assert.equal((await service.wallet(app, user)).balance, 3_000_000);
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  assert.deepEqual((await checkBooks(service.database.owner)).differences, []);
});

const NO_TEXT = Buffer.from([0x7b, 0xff, 0x7d]);

/**
 * Makes altered copies of a webhook that Stripe did send, each with a name, a body and a signature. Undefined as a
 * signature means no header.
 */
function forgeries(body: string): readonly (readonly [string, string | Buffer, string | undefined])[] {
  const now = Math.floor(Date.now() / 1_000);
  const good = stripe.sign(body);
  const v1 = good.split('v1=')[1] ?? '';
  const { webhookSecret } = stripe;
  const at = (seconds: number) => stripe.sign(body, { at: now + seconds });
  const bySecret = (secret: string) => stripe.sign(body, { secret });
  const otherHash = (hash: string) => createHmac(hash, webhookSecret).update(`${now}.${body}`).digest('hex');
  const flipped = (index: number) => `${v1.slice(0, index)}${v1[index] === '0' ? '1' : '0'}${v1.slice(index + 1)}`;
  const event = JSON.parse(body) as { readonly data: { readonly object: object } };
  const other = body.replace('evt_', 'evx_');
  return [
    ['no header', body, undefined],
    ['empty header', body, ''],
    ['not a header', body, 'nonsense'],
    ['no time', body, `v1=${v1}`],
    ['no signature', body, `t=${now}`],
    ['empty signature', body, `t=${now},v1=`],
    ['another scheme', body, `t=${now},v0=${v1}`],
    ['an unknown scheme', body, `t=${now},v2=${v1}`],
    ['time in words', body, good.replace(/t=\d+/, 't=now')],
    ['negative time', body, good.replace(/t=/, 't=-')],
    ['301 s old', body, at(-302)],
    ['an hour old', body, at(-3_600)],
    ['a year old', body, at(-31_536_000)],
    ['301 s ahead', body, at(305)],
    ['an hour ahead', body, at(3_600)],
    ['old, said to be new', body, at(-400).replace(/t=\d+/, `t=${now}`)],
    ['new, said to be a second older', body, good.replace(/t=\d+/, `t=${now - 1}`)],
    ['old, with a second time', body, `t=${now},${at(-400)}`],
    ['ahead, with a second time', body, `${at(400)},t=${now}`],
    ['another endpoint’s secret', body, bySecret('whsec_of_another_endpoint')],
    ['the secret without its prefix', body, bySecret(webhookSecret.slice(6))],
    ['an empty secret', body, bySecret('')],
    ['the API key as secret', body, bySecret(stripe.secretKey)],
    ['two wrong signatures', body, `t=${now},v1=${flipped(0)},v1=${flipped(63)}`],
    ['first digit', body, `t=${now},v1=${flipped(0)}`],
    ['last digit', body, `t=${now},v1=${flipped(63)}`],
    ['a digit short', body, `t=${now},v1=${v1.slice(0, -1)}`],
    ['a digit long', body, `t=${now},v1=${v1}0`],
    ['in capitals', body, `t=${now},v1=${v1.toUpperCase()}`],
    ['another hash', body, `t=${now},v1=${otherHash('sha512')}`],
    ['no secret, a hash', body, `t=${now},v1=${otherHash('sha1')}`],
    ['the body alone signed', body, `t=${now},v1=${createHmac('sha256', webhookSecret).update(body).digest('hex')}`],
    ['empty body', '', good],
    ['a byte more', `${body} `, good],
    ['a byte before', ` ${body}`, good],
    ['a byte less', body.slice(0, -1), good],
    ['written anew', JSON.stringify(event, null, 1), good],
    ['other order', JSON.stringify(Object.fromEntries(Object.entries(event).toReversed())), good],
    ['another webhook', other, good],
    ['signed as another', body, stripe.sign(other)],
    ['another payment', body.replace('pi_', 'pj_'), good],
    ['a mark of byte order before', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(body)]), good],
    ['invalid UTF-8, signed as the library reads it', NO_TEXT, stripe.sign(NO_TEXT.toString('utf8'))],
    ['invalid UTF-8', Buffer.concat([Buffer.from(body), Buffer.from([0xff])]), good],
  ];
}

test('WH-06 the app learns only of payments, each once', async () => {
  const owner = await newOwner(service);
  const other = await newOwnApp(owner);
  const endpoint = { endpointUrl: 'http://127.0.0.1:9/nobody', events: ['topup.completed'] };
  await owner.get(201, 'PUT', `/apps/${other.appId}/webhook`, endpoint);
  await service.fund(other, 'anna', 0);
  const payment = stripe.pay((await begin('anna', 5_000_000, undefined, other)).session);
  const told = async () => {
    const events = await sql<{ body: Buffer }>(service)`select body from webhooks.events where app_id = ${other.appId}`;
    return events.map(({ body }) => (JSON.parse(body.toString('utf8')) as { readonly data: unknown }).data);
  };
  assert.deepEqual(await told(), []);
  for (const type of TYPES.slice(0, 2)) for (let time = 0; time < 3; time += 1) await tell(type, payment);
  stripe.refundThere(payment, 100);
  await tell('charge.refunded', payment);
  const dispute = stripe.dispute(payment, 400);
  await tell('charge.dispute.funds_withdrawn', payment);
  stripe.reinstate(dispute);
  await tell('charge.dispute.funds_reinstated', payment);
  const expected = { userId: 'anna', balanceMicros: 5_000_000, availableMicros: 5_000_000, currency: 'EUR' };
  assert.deepEqual(await told(), [expected]);
});

test('ON-02 forged and altered webhooks leave no row', async () => {
  const user = await newUser(0);
  const payment = stripe.pay((await begin(user, 5_000_000)).session);
  const { body } = stripe.event('payment_intent.succeeded', payment);
  const all = forgeries(body);
  assert.ok(all.length >= 40);
  const tables = [
    'payments.processor_webhooks',
    'payments.payments',
    'ledger.entries',
    'webhooks.events',
    'audit.entries',
  ];
  const count = () => Promise.all(tables.map(rows));
  const before = await count();
  const asked = stripe.requests.length;
  for (const [name, forged, signature] of all) {
    const headers = signature === undefined ? {} : { 'stripe-signature': signature };
    const reply = await send('/webhooks/stripe', { url: service.url, body: forged, method: 'POST', headers });
    assertRefusal(reply, { code: 'BAD_REQUEST', param: 'stripe-signature', hasLink: false }, name);
  }
  assert.deepEqual(await count(), before);
  assert.equal(stripe.requests.length, asked, 'nothing is looked up because of them');
  assert.deepEqual(await moved(user), []);
  assert.equal((await deliver({ body, signature: stripe.sign(body) })).status, 200);
  assert.deepEqual(await moved(user), ['top_up 5000000']);
});

test('ON-02 clock skew and double signatures are tolerated', async () => {
  const now = Math.floor(Date.now() / 1_000);
  for (const [name, signature] of [
    ['old', (body: string) => stripe.sign(body, { at: now - 290 })],
    ['ahead', (body: string) => stripe.sign(body, { at: now + 290 })],
    ['two', (body: string) => `${stripe.sign(body)},v1=${'0'.repeat(64)}`],
  ] as const) {
    const user = await newUser(0);
    const payment = stripe.pay((await begin(user, 5_000_000)).session);
    const { body } = stripe.event('checkout.session.completed', payment);
    const reply = await deliver({ body, signature: signature(body) });
    assert.equal(reply.status, 200, name);
    assert.deepEqual(await moved(user), ['top_up 5000000']);
  }
});

test('ON-02 a webhook during a Stripe outage counts when resent', async () => {
  const user = await newUser(0);
  const payment = stripe.pay((await begin(user, 5_000_000)).session);
  const event = stripe.event('checkout.session.completed', payment);
  stripe.failing = 400;
  const failed = await deliver(event);
  stripe.failing = undefined;
  assertRefusal(failed, { code: 'INTERNAL_SERVER_ERROR', hasLink: false });
  assert.deepEqual(await moved(user), []);
  assert.equal((await deliver(event)).status, 200);
  assert.deepEqual(await moved(user), ['top_up 5000000']);
});

test('ON-02 a webhook that cannot be stored counts when resent', async () => {
  const user = await newUser(0);
  const payment = stripe.pay((await begin(user, 5_000_000)).session);
  const event = stripe.event('checkout.session.completed', payment);
  const { owner } = service.database;
  await sql(owner)`revoke insert on payments.processor_webhooks from purser_live`; // The very last step.
  const failed = await deliver(event);
  await sql(owner)`grant insert on payments.processor_webhooks to purser_live`;
  assertRefusal(failed, { code: 'INTERNAL_SERVER_ERROR', hasLink: false });
  assert.deepEqual(await moved(user), []);
  assert.equal((await deliver(event)).status, 200);
  assert.deepEqual(await moved(user), ['top_up 5000000']);
});

test('ON-02 webhooks about other things leave no row', async () => {
  const before = await Promise.all([rows('payments.processor_webhooks'), rows('payments.payments')]);
  const { payment, customer } = {
    payment: stripe.event('payment_intent.succeeded', 'pi_of_somebody_else'),
    customer: JSON.stringify({
      id: 'evt_c',
      object: 'event',
      type: 'customer.created',
      data: { object: { id: 'cus_1' } },
    }),
  };
  assert.equal((await deliver(payment)).status, 200);
  assert.equal((await deliver({ body: customer, signature: stripe.sign(customer) })).status, 200);
  assert.deepEqual(await Promise.all([rows('payments.processor_webhooks'), rows('payments.payments')]), before);
});

test('ON-02 the webhook address accepts only small, uncompressed POSTs', async () => {
  const { url } = service;
  assertRefusal(await send('/webhooks/stripe', { url }), { code: 'METHOD_NOT_ALLOWED', hasLink: false });
  const headers = { 'content-encoding': 'gzip' };
  const compressed = await send('/webhooks/stripe', { url, body: '{}', headers });
  assertRefusal(compressed, { code: 'BAD_REQUEST', param: 'content-encoding', hasLink: false });
  const large = await send('/webhooks/stripe', { url, body: 'x'.repeat(1_048_577) });
  assertRefusal(large, { code: 'PAYLOAD_TOO_LARGE', hasLink: false });
});
