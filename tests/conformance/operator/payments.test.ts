import assert from 'node:assert/strict';
import { test } from 'node:test';
import { releaseWallet } from '../../../packages/service/src/connections/release.ts';
import type { EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { forgetPayer } from '../../../packages/service/src/payments/records/privacy-queries.ts';
import { checkBooks } from '../../../packages/service/src/operator/health/ledger-check.ts';
import { chat } from '../../support/client.ts';
import { connectionsOf } from '../../support/connections.ts';
import { newOperator } from '../../support/control.ts';
import { untilWaiting } from '../../support/lock-wait.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { completionBody } from '../../support/scripted-upstream.ts';
import { sql, sqlValue } from '../../support/sql.ts';
import { setStripeStage } from '../../support/stripe-stage.ts';
import { trailOf } from '../../support/trail.ts';

const { service, app, stripe, upstream, newUser, begin, tell, moved, sweep } = await setStripeStage();
stripe.balanceAt = Date.UTC(2026, 8, 10, 9) / 1_000; // Reports are compared only when their days are over.
const operator = await newOperator(service);
const connections = connectionsOf(service.database);
const WALLETS = `/operator/apps/${app.appId}/wallets`;
upstream.script({
  body: completionBody({ model: 'm', content: 'Hi', usage: { prompt_tokens: 1, completion_tokens: 1 } }),
});

let keys = 0;

/** A user whose wallet holds one payment of 5 EUR; the payment by its id there and here. */
async function payer(): Promise<{ readonly user: string; readonly there: string; readonly here: string }> {
  const user = await newUser(0);
  const there = stripe.pay((await begin(user, 5_000_000)).session);
  assert.equal((await tell('checkout.session.completed', there)).status, 200);
  const [payment] = await paymentsOf(user);
  return { user, there, here: String(payment?.['paymentId']) };
}

async function paymentsOf(user: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { payments } = await operator.get(200, 'GET', `${WALLETS}/${user}/payments`);
  return payments as Readonly<Record<string, unknown>>[];
}

function refund(user: string, paymentId: string, amountMicros: number, idempotencyKey = `key-${(keys += 1)}`) {
  const body = { amountMicros, paymentId, reason: 'as agreed', idempotencyKey };
  return operator.ask('POST', `${WALLETS}/${user}/refund`, body);
}

test('CP-05 an operator sees a wallet’s payments and their returns', async () => {
  const { user, there, here } = await payer();
  const [{ paidAt, ...payment } = {}] = await paymentsOf(user);
  assert.match(String(paidAt), /^\d{4}-\d\d-\d\dT/);
  const expected = {
    paymentId: here,
    amountMicros: 5_000_000,
    currency: 'EUR',
    state: 'credited',
    anomaly: null,
    refundedMicros: 0,
    disputedMicros: 0,
  };
  assert.deepEqual(payment, expected);
  stripe.refundThere(there, 100);
  stripe.dispute(there, 300);
  await tell('charge.refunded', there);
  const [{ paidAt: _, ...later } = {}] = await paymentsOf(user);
  assert.deepEqual(later, { ...expected, refundedMicros: 1_000_000, disputedMicros: 3_000_000 });
  assert.deepEqual(await paymentsOf('nobody'), []);
});

test('CP-05 WA-05 a refund is set aside, requested once and booked on webhook', async () => {
  const { user, there, here } = await payer();
  stripe.refundStatus = 'pending';
  const reply = await refund(user, here, 2_000_000, 'once');
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.body['balanceMicros'], 3_000_000);
  const repeated = await refund(user, here, 2_000_000, 'once');
  assert.deepEqual([repeated.status, repeated.body], [200, reply.body]);
  assertRefusal(await refund(user, here, 1_000_000, 'once'), { code: 'CONFLICT', param: 'idempotencyKey' });
  const asked = stripe.requests.filter(({ path, form }) => path === '/v1/refunds' && form['payment_intent'] === there);
  const [first] = asked.filter(({ method }) => method === 'POST');
  assert.equal(asked.filter(({ method }) => method === 'POST').length, 1);
  assert.equal(first?.form['amount'], '200');
  assert.match(String(first?.headers['idempotency-key']), /^ref_/);
  stripe.refundStatus = 'succeeded';
  await sweep();
  assert.deepEqual(await moved(user), ['top_up 5000000', 'refund_set_aside 2000000']);
  const processorRefund = await sqlValue<string>(service)`select processor_refund from payments.refunds
    where payment_id = ${here}`;
  stripe.setRefund(processorRefund ?? '', 'succeeded');
  for (let times = 0; times < 3; times += 1) await tell('refund.updated', there);
  assert.deepEqual((await moved(user)).slice(1), ['refund_set_aside 2000000', 'refund_paid 2000000']);
  const trail = await trailOf(operator, `${app.appId} ${user} ${here}`);
  assert.deepEqual(
    trail.map(({ action, reason }) => [action, reason]),
    [['wallet.refund', 'as agreed']],
  );
});

test('CP-05 CP-12 a refund waits for the deletion of its payer, and neither for the other', async () => {
  const { user, here } = await payer();
  const identity = await connections.newIdentity();
  await connections.connect({ identity, appId: app.appId, user });
  const { identityId } = identity;
  await sql(service)`update payments.checkouts set identity_id = ${identityId} where user_id = ${user}`;
  const client = await service.database.owner.connect();
  await client.query('begin');
  await forgetPayer(client, identityId); // A deletion, in its order: first the checkouts, then the wallets.
  const asked = refund(user, here, 1_000_000);
  await untilWaiting(service.database, 1);
  const released = await releaseWallet(client, { appId: app.appId, userId: user as EndUserId }).catch(String);
  await client.query('commit');
  client.release();
  assert.equal(released, identityId);
  assertRefusal(await asked, { code: 'CONFLICT', param: null });
  assert.deepEqual(await moved(user), ['top_up 5000000']);
});

test('CP-05 an impossible refund is refused, and nothing moves', async () => {
  const { user, here } = await payer();
  const other = await payer();
  const none = { code: 'NOT_FOUND', param: 'paymentId', hasLink: false } as const;
  assertRefusal(await refund(user, 'pay_none', 1_000_000), none);
  assertRefusal(await refund(user, other.here, 1_000_000), none);
  assertRefusal(await refund(user, here, 5_010_000), { code: 'CONFLICT', param: 'amountMicros' });
  assertRefusal(await refund(user, here, 1_000_001), { code: 'BAD_REQUEST', param: 'amountMicros' });
  stripe.refundStatus = 'refused';
  const declined = await refund(user, here, 1_000_000, 'no');
  assertRefusal(declined, { code: 'CONFLICT', param: null });
  assertRefusal(await refund(user, here, 1_000_000, 'no'), { code: 'CONFLICT', param: null });
  stripe.refundStatus = 'succeeded';
  assert.deepEqual(await moved(user), ['top_up 5000000', 'refund_set_aside 1000000', 'refund_released 1000000']);
  assert.equal((await trailOf(operator, `${app.appId} ${user} ${here}`)).length, 1);
});

test('CP-05 a refund that could not be requested is requested later', async () => {
  const { user, there, here } = await payer();
  stripe.failing = 503;
  const reply = await refund(user, here, 1_000_000);
  stripe.failing = undefined;
  assert.equal(reply.status, 200, reply.text);
  await sweep();
  await tell('refund.created', there);
  assert.deepEqual((await moved(user)).slice(1), ['refund_set_aside 1000000', 'refund_paid 1000000']);
});

test('WA-04 WA-05 WA-06 a refund above the balance suspends until an operator reinstates', async () => {
  const { user, there, here } = await payer();
  await operator.get(200, 'POST', `${WALLETS}/${user}/clawback`, {
    amountMicros: 4_000_000,
    reason: 'a bank took it',
    idempotencyKey: 'bank',
  });
  const call = () => chat({ url: service.url, key: app.liveKey, user });
  assert.equal((await call()).status, 200);
  const reply = await refund(user, here, 5_000_000);
  assert.equal(reply.status, 200, reply.text);
  await tell('charge.refunded', there);
  const suspended = await call();
  assertRefusal(suspended, { code: 'WALLET_SUSPENDED', param: null, hasLink: false });
  assert.doesNotMatch(suspended.text, /\d EUR|refund|dispute|claw|shortfall|https?:/i);

  const more = stripe.pay((await begin(user, 20_000_000)).session);
  await tell('checkout.session.completed', more);
  assert.equal((await service.wallet(app, user)).balance, 20_000_000);
  assertRefusal(await call(), { code: 'WALLET_SUSPENDED', param: null, hasLink: false });

  const wallet = await operator.get(200, 'POST', `${WALLETS}/${user}/reinstate`, { reason: 'recovered' });
  assert.deepEqual([wallet['status'], wallet['shortfallMicros']], ['active', 0]);
  assert.equal((await call()).status, 200);
  assert.deepEqual((await checkBooks(service.database.owner)).differences, []);
});

const SEPTEMBER = { from: '2026-09-01', to: '2026-10-01' };
const REPORT_HEAD =
  'balance_transaction_id,created_utc,currency,gross,fee,net,reporting_category,source_id,payment_intent_id,payment_metadata[purser_checkout]';

/** Moves what was booked so far to a moment in September, so that its days are over. */
async function bookInSeptember(): Promise<void> {
  const at = '2026-09-10 10:00:00+00';
  const { owner } = service.database;
  await sql(owner)`update payments.payments set paid_at = ${at}`;
  await owner.query('update payments.refunds set created_at = $1, ended_at = $1 where ended_at is not null', [at]);
  await sql(owner)`update payments.dispute_movements set at = ${at}`;
}

function csvOf(rows: readonly string[]): string {
  return `\uFEFF${[REPORT_HEAD, ...rows].join('\r\n')}\r\n`;
}

/** The lines that Stripe's report would have for its balance. */
function linesOf(): readonly string[] {
  return stripe.balance().map((row) => {
    const [gross, fee, net] = [row.amount, row.fee, row.amount - row.fee].map((minor) => (minor / 100).toFixed(2));
    const when = new Date(row.created * 1_000).toISOString().slice(0, 19).replace('T', ' ');
    return `${row.id},${when},${row.currency},${gross},${fee},${net},${row.reporting_category},${row.source.id},${row.source.payment_intent},chk`;
  });
}

test('CP-16 a Stripe report is compared by payment and filed when clean', async () => {
  const { there } = await payer();
  stripe.refundThere(there, 100);
  const dispute = stripe.dispute(there, 300);
  stripe.reinstate(dispute);
  await tell('charge.refunded', there);
  await bookInSeptember();
  const lines = linesOf();
  const send = (report: string | undefined, period = SEPTEMBER) =>
    operator.ask('POST', '/operator/reconciliations', { ...period, ...(report === undefined ? {} : { report }) });

  const short = await send(csvOf(lines.slice(1)));
  assert.equal(short.status, 200, short.text);
  assert.equal(short.body['clean'], false);
  assert.equal(short.body['filed'], null);
  const [missing] = short.body['differences'] as Record<string, unknown>[];
  assert.deepEqual([missing?.['kind'], missing?.['subject']], ['not_in_report', 'payment']);

  const [whole, again] = [await send(csvOf(lines)), await send(csvOf(lines))];
  assert.deepEqual(whole.body['differences'], []);
  assert.equal(whole.body['clean'], true);
  assert.equal(whole.body['matched'], lines.length);
  assert.deepEqual(again.body['filed'], whole.body['filed']);
  const { reports } = await operator.get(200, 'GET', '/operator/reconciliations');
  assert.deepEqual(reports, [whole.body['filed']]);
  const disputes = (whole.body['sums'] as Record<string, unknown>[]).find(({ category }) => category === 'dispute');
  assert.equal(disputes?.['feeMicros'], 15_000_000 * Number(disputes?.['count']));
  const { reportId } = whole.body['filed'] as { reportId: string };
  assert.equal((await trailOf(operator, reportId)).length, 1);

  const other = csvOf(lines.map((line) => line.replace(',chk', ',chk1')));
  const second = await send(other);
  assert.deepEqual(
    new Set((second.body['differences'] as Record<string, unknown>[]).map(({ kind }) => kind)),
    new Set(['filed_before']),
  );
  assertRefusal(await send(csvOf([lines[0]?.replace('.00', ',00') ?? ''])), { code: 'BAD_REQUEST', param: 'report' });
  assertRefusal(await send(csvOf(lines), { from: '2026-09-01', to: '2026-10-03' }), {
    code: 'BAD_REQUEST',
    param: 'to',
  });
  assertRefusal(await send(csvOf(lines), { from: '2026-09-01', to: '2999-01-01' }), {
    code: 'BAD_REQUEST',
    param: 'to',
  });
});

test('CP-16 without a file, Stripe’s own list is compared', async () => {
  const { there } = await payer();
  await tell('payment_intent.succeeded', there);
  const foreign = stripe.payElsewhere(700);
  await bookInSeptember();
  await sql(service)`truncate reconciliation.items, reconciliation.reports`;
  const { body } = await operator.ask('POST', '/operator/reconciliations', SEPTEMBER);
  assert.deepEqual(body['differences'], []);
  assert.equal(body['foreign'], 1, foreign);
  assert.equal((body['filed'] as Record<string, unknown>)['source'], 'processor');
});
