import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPool, type Pool } from '../../packages/service/src/db/pool/pool.ts';
import { sha256 } from '../../packages/service/src/kernel/crypto/crypto.ts';
import { type CheckoutId, newCheckoutId, newRefundId } from '../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { Refusal } from '../../packages/service/src/kernel/faults/refusal.ts';
import type { ProcessorEvent, Processor } from '../../packages/service/src/payments/processor/processor.ts';
import { TEST_CARDS, type TestCardName } from '../../packages/service/src/payments/test-processor/cards.ts';
import { signWebhook } from '../../packages/service/src/payments/test-processor/signed-webhooks.ts';
import { claimTestEvents } from '../../packages/service/src/payments/test-processor/queries.ts';
import { createTestBank, type TestBank } from '../../packages/service/src/payments/test-processor/test-bank.ts';
import { startTestWebhooks } from '../../packages/service/src/payments/test-processor/test-webhooks.ts';
import { createTestProcessor } from '../../packages/service/src/payments/test-processor/test-processor.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { sql } from '../support/sql.ts';
import { waitUntil } from '../support/wait-until.ts';

const KEYS = [sha256('a key of this test')] as const;
const AMOUNT = 10_000_000n;
const log = createLog('silent');

let nowMs = 1_800_000_000_000;
const clock = { nowMs: () => nowMs };

let database: TestDatabase;
let live: Pool;
let bank: TestBank;
let processor: Processor;
let webhooks: { readonly stop: () => Promise<void> };
let isAway = false;
/** What was delivered, as the processor's own reader read it. */
const received: ProcessorEvent[] = [];

before(async () => {
  database = await createTestDatabase();
  live = createPool({ url: database.url, role: 'live', connectionsMax: 4, log });
  bank = createTestBank(live);
  processor = createTestProcessor({ pool: live, keys: KEYS, publicUrl: 'https://purser.test', clock });
  webhooks = startTestWebhooks({
    pool: live,
    keys: KEYS,
    clock,
    log,
    webhooks: {
      receive: async (body, headers) => {
        if (isAway) throw new Error('away');
        const event = await processor.readWebhook(body, headers);
        if (event instanceof Refusal) return event;
        if (event !== undefined) received.push(event);
        return 'accepted';
      },
    },
  });
});

after(async () => {
  await webhooks.stop();
  await live.end();
  await database.close();
});

function open(checkoutId: CheckoutId) {
  return processor.openCheckout({
    checkoutId,
    amount: micros(AMOUNT),
    currency: 'EUR',
    appName: 'App',
    returnUrl: 'https://purser.test/checkout/x',
    cancelUrl: 'https://purser.test/checkout/x?paid=no',
    email: undefined,
  });
}

async function newCheckout(): Promise<string> {
  return (await open(newCheckoutId())).processorCheckout;
}

async function paymentOf(testCheckout: string): Promise<string> {
  const rows = await sql<{ test_payment: string }>(database)`select test_payment from payments.test_payments
    where test_checkout = ${testCheckout}`;
  assert.equal(rows.length, 1);
  return rows[0]?.test_payment ?? '';
}

/** Makes a payment's scheduled events happen now and waits until all of them were delivered. */
async function happen(testPayment: string): Promise<void> {
  const { owner } = database;
  await sql(owner)`update payments.test_events set due_at = clock_timestamp() where test_payment = ${testPayment}`;
  await waitUntil('every webhook was accepted', async () => {
    const { rowCount } = await owner.query('select from payments.test_events where test_payment = $1', [testPayment]);
    return rowCount === 0;
  });
}

async function paidBy(card: TestCardName): Promise<string> {
  const testCheckout = await newCheckout();
  assert.equal(await bank.pay(testCheckout, card), 'paid');
  return paymentOf(testCheckout);
}

function typesOf(testPayment: string): readonly string[] {
  return received.filter(({ processorPayment }) => processorPayment === testPayment).map(({ type }) => type);
}

test('ON-03 a successful payment is reported once', async () => {
  const testPayment = await paidBy('success');
  await happen(testPayment);
  assert.deepEqual(typesOf(testPayment), ['payment.paid']);
  const report = await processor.lookUp(testPayment);
  assert.deepEqual(report?.received, { amount: AMOUNT, currency: 'EUR' });
  assert.deepEqual([report?.refunds, report?.disputeMovements], [[], []]);
  assert.equal(await processor.lookUp('tpa_none'), undefined);
});

test('ON-03 a checkout requested twice is created once', async () => {
  const checkoutId = newCheckoutId();
  const opened = await open(checkoutId);
  assert.deepEqual(await open(checkoutId), opened);
  assert.equal(opened.url, `https://purser.test/test-processor/${opened.processorCheckout}`);
  assert.equal(await processor.lookUpCheckout(opened.processorCheckout), undefined);
  await bank.pay(opened.processorCheckout, 'success');
  const report = await processor.lookUpCheckout(opened.processorCheckout);
  assert.deepEqual([report?.checkoutId, report?.received?.amount], [checkoutId, AMOUNT]);
  assert.equal(report?.processorPayment, await paymentOf(opened.processorCheckout));
  assert.equal(await processor.lookUpCheckout('tch_none'), undefined);
});

test('ON-03 a declined card pays nothing', async () => {
  const testCheckout = await newCheckout();
  assert.equal(await bank.pay(testCheckout, 'decline'), 'declined');
  assert.equal((await bank.find(testCheckout))?.state, 'open');
  await Promise.all(Array.from({ length: 8 }, () => bank.pay(testCheckout, 'success')));
  assert.equal((await bank.find(testCheckout))?.state, 'paid');
  const testPayment = await paymentOf(testCheckout); // It exists.
  await happen(testPayment);
  assert.deepEqual(typesOf(testPayment), ['payment.paid']);
});

test('ON-03 a two-step card pays once confirmed', async () => {
  const testCheckout = await newCheckout();
  assert.equal(await bank.confirm(testCheckout, true), 'nothing');
  assert.equal(await bank.pay(testCheckout, 'confirm'), 'confirm');
  assert.equal((await bank.find(testCheckout))?.state, 'confirming');
  assert.equal(await bank.confirm(testCheckout, false), 'declined');
  assert.equal((await bank.find(testCheckout))?.state, 'open');
  assert.equal(await bank.confirm(testCheckout, true), 'nothing');
  await bank.pay(testCheckout, 'confirm');
  assert.equal(await bank.confirm(testCheckout, true), 'paid');
  assert.equal((await bank.find(testCheckout))?.state, 'paid');
});

test('ON-03 cards with later events play them in order', async () => {
  const refunded = await paidBy('refund');
  await happen(refunded);
  assert.deepEqual(typesOf(refunded), ['payment.paid', 'refund.made']);
  const [refund, ...others] = (await processor.lookUp(refunded))?.refunds ?? [];
  assert.deepEqual([refund?.amount, refund?.state, refund?.refundId, others], [AMOUNT, 'paid', undefined, []]);

  const won = await paidBy('chargeback_won');
  await happen(won);
  assert.deepEqual(typesOf(won), ['payment.paid', 'chargeback.made', 'chargeback.won']);
  const movements = (await processor.lookUp(won))?.disputeMovements ?? [];
  assert.deepEqual(
    movements.map(({ amount }) => amount),
    [AMOUNT, AMOUNT],
  );
  assert.equal(movements.filter(({ isReinstated }) => isReinstated).length, 1);

  const lost = await paidBy('chargeback');
  await happen(lost);
  assert.equal((await processor.lookUp(lost))?.disputeMovements.length, 1);
});

test('ON-03 a payment’s later event waits for the earlier', async () => {
  const testPayment = await paidBy('chargeback_won');
  const { owner } = database;
  const due = `case when type = 'payment.paid' then timestamptz 'infinity' else clock_timestamp() end`;
  await owner.query(`update payments.test_events set due_at = ${due} where test_payment = $1`, [testPayment]);
  const claimed = await claimTestEvents(live, 100, 1_000);
  assert.deepEqual(
    claimed.filter((event) => event.test_payment === testPayment),
    [],
  );
  const rows = await sql(owner)`select attempts from payments.test_events where test_payment = ${testPayment}`;
  assert.deepEqual(rows, [{ attempts: 0 }, { attempts: 0 }, { attempts: 0 }]);
});

test('ON-03 a refund requested twice is made once', async () => {
  const testPayment = await paidBy('success');
  const order = { refundId: newRefundId(), processorPayment: testPayment, amount: micros(6_000_000n), currency: 'EUR' };
  assert.equal(await processor.refund(order), 'asked');
  assert.equal(await processor.refund(order), 'asked');
  const [underWay, ...others] = (await processor.lookUp(testPayment))?.refunds ?? [];
  assert.deepEqual([underWay?.refundId, underWay?.state, others], [order.refundId, 'under_way', []]);
  assert.equal(await processor.refund({ ...order, refundId: newRefundId() }), 'declined');
  await happen(testPayment);
  assert.deepEqual(
    (await processor.lookUp(testPayment))?.refunds.map(({ state }) => state),
    ['paid'],
  );
  const stubborn = await paidBy('no_refunds');
  assert.equal(await processor.refund({ ...order, refundId: newRefundId(), processorPayment: stubborn }), 'declined');
});

test('ON-02 a webhook that was not accepted is sent again unchanged', async () => {
  isAway = true;
  const testPayment = await paidBy('success');
  const { owner } = database;
  await sql(owner)`update payments.test_events set due_at = clock_timestamp() where test_payment = ${testPayment}`;
  await waitUntil('the webhook was tried', async () => {
    const { rowCount } = await owner.query(
      'select from payments.test_events where test_payment = $1 and attempts > 0',
      [testPayment],
    );
    return rowCount === 1;
  });
  isAway = false;
  await happen(testPayment);
  assert.deepEqual(typesOf(testPayment), ['payment.paid']);
});

test('ON-02 a webhook needs a fresh signature of its body', async () => {
  const signed = signWebhook(KEYS, clock, { eventId: 'tev_1', type: 'payment.paid', processorPayment: 'tpa_1' });
  const header = 'purser-test-signature';
  const signature = signed.headers[header] ?? '';
  const read = (body: Buffer, value: string | undefined) =>
    processor.readWebhook(body, value === undefined ? {} : { [header]: value });
  const right = await read(signed.body, signature);
  assert.deepEqual(right, { eventId: 'tev_1', type: 'payment.paid', processorPayment: 'tpa_1' });
  const foreign = signWebhook([sha256('another key')], clock, right);
  const wrong: readonly (readonly [Buffer, string | undefined])[] = [
    [signed.body, undefined],
    [signed.body, ''],
    [signed.body, signature.replace('v1', 'v0')],
    [signed.body, signature.replace(/.$/, (last) => (last === '0' ? '1' : '0'))],
    [signed.body, signature.replace(/t=(\d+)/, (_all, t: string) => `t=${Number(t) + 1}`)],
    [signed.body, foreign.headers[header]],
    [Buffer.concat([signed.body, Buffer.from(' ')]), signature],
    [Buffer.alloc(0), signature],
  ];
  for (const [body, value] of wrong) assert.ok((await read(body, value)) instanceof Refusal, String(value));
  const sentMs = nowMs;
  for (const [laterMs, isTaken] of [
    [300_000, true],
    [301_000, false],
    [-300_000, true],
    [-301_000, false],
  ] as const) {
    nowMs = sentMs + laterMs;
    assert.equal((await read(signed.body, signature)) instanceof Refusal, !isTaken, String(laterMs));
  }
  nowMs = sentMs;
});

test('ON-03 every test card has its own valid number', () => {
  const numbers = Object.values(TEST_CARDS).map(({ number }) => number);
  assert.equal(new Set(numbers).size, numbers.length);
  for (const number of numbers) {
    const digits = Array.from(number, Number).map((digit, index) => digit * (index % 2 === 0 ? 2 : 1));
    assert.equal(digits.reduce((sum, digit) => sum + (digit > 9 ? digit - 9 : digit), 0) % 10, 0, number);
  }
});
