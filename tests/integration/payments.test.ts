import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CheckoutId, EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { Refusal } from '../../packages/service/src/kernel/faults/refusal.ts';
import { bringToBooks } from '../../packages/service/src/payments/booking/processor-webhooks.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { APP } from '../support/ledger-database.ts';
import { createPaymentsGround, type PaymentsGround } from '../support/payments.ts';
import { sql, sqlValue } from '../support/sql.ts';

let ground: PaymentsGround;

before(async () => {
  ground = await createPaymentsGround();
});

after(async () => {
  assert.deepEqual(await ground.check(), []);
  await ground.close();
});

async function stateOf(checkoutId: CheckoutId): Promise<string | undefined> {
  return (await ground.checkouts.find(checkoutId))?.state;
}

const book = (report: Parameters<typeof bringToBooks>[1]) =>
  bringToBooks({ pool: ground.ledger.live, processor: ground.processor, log: createLog('silent') }, report);

test('ON-02 WH-06 a payment is credited once money is there', async () => {
  const { ledger, processor, moved, tell, begin } = ground;
  await ledger.open('anna', 0);
  const checkoutId = await begin('anna', 5_000_000);
  assert.equal(await stateOf(checkoutId), 'open');
  const [order] = processor.orders.filter((one) => one.checkoutId === checkoutId);
  assert.equal(order?.returnUrl, `https://purser.test/checkout/${checkoutId}`);
  const payment = processor.pay(checkoutId);
  assert.equal(await stateOf(checkoutId), 'open');
  assert.deepEqual(await moved('anna'), []);
  for (let times = 0; times < 3; times += 1) await tell(payment);
  assert.equal(await stateOf(checkoutId), 'paid');
  assert.deepEqual(await moved('anna'), ['top_up 5000000']);
});

test('ON-02 a repeated webhook counts once', async () => {
  const { ledger, processor, moved, webhooks, begin } = ground;
  await ledger.open('bert', 0);
  const payment = processor.pay(await begin('bert', 5_000_000));
  const { body, headers } = processor.webhook(payment);
  const before = await ground.rows('processor_webhooks');
  await Promise.all(Array.from({ length: 8 }, () => webhooks.receive(body, headers)));
  assert.equal(await ground.rows('processor_webhooks'), before + 1);
  await Promise.all(Array.from({ length: 8 }, () => ground.tell(payment)));
  assert.deepEqual(await moved('bert'), ['top_up 5000000']);
});

test('ON-02 a forged or foreign webhook leaves no row', async () => {
  const { processor, webhooks, begin, ledger } = ground;
  await ledger.open('carl', 0);
  const payment = processor.pay(await begin('carl', 5_000_000));
  const count = async () => [await ground.rows('processor_webhooks'), await ground.rows('payments')];
  const before = await count();
  const forged = await webhooks.receive(processor.webhook(payment).body, { 'x-fake-signature': 'no' });
  assert.ok(forged instanceof Refusal);
  const foreign = processor.webhook('pi_of_somebody_else');
  assert.equal(await webhooks.receive(foreign.body, foreign.headers), 'accepted');
  assert.deepEqual(await count(), before);
});

test('ON-02 a checkout begun elsewhere leaves no row', async () => {
  const { processor, begin, ledger, moved, tell } = ground;
  await ledger.open('far', 0);
  const checkoutId = await begin('far', 5_000_000);
  const payment = processor.pay(checkoutId);
  await sql(ledger)`delete from payments.checkouts where checkout_id = ${checkoutId}`;
  const before = await ground.rows('processor_webhooks');
  await tell(payment);
  assert.equal(await ground.rows('processor_webhooks'), before);
  assert.deepEqual(await moved('far'), []);
});

test('ON-02 a webhook counts when resent after a processor outage', async () => {
  const { processor, webhooks, begin, ledger, moved } = ground;
  await ledger.open('dora', 0);
  const payment = processor.pay(await begin('dora', 5_000_000));
  const { body, headers } = processor.webhook(payment);
  processor.isAway = true;
  await assert.rejects(webhooks.receive(body, headers), /is away/);
  processor.isAway = false;
  assert.deepEqual(await moved('dora'), []);
  assert.equal(await webhooks.receive(body, headers), 'accepted');
  assert.deepEqual(await moved('dora'), ['top_up 5000000']);
});

test('ON-02 a payment whose webhook never comes is found', async () => {
  const { processor, begin, ledger, moved, sweep } = ground;
  await ledger.open('emil', 0);
  const checkoutId = await begin('emil', 5_000_000);
  await sweep();
  const payment = processor.pay(checkoutId);
  assert.deepEqual(await moved('emil'), []);
  await sweep();
  assert.equal(await stateOf(checkoutId), 'paid');
  await ground.tell(payment);
  await sweep();
  assert.deepEqual(await moved('emil'), ['top_up 5000000']);
});

test('WA-05 each refund at the processor is booked once', async () => {
  const { processor, tell, moved, paid } = ground;
  const { there } = await paid('hans', 5_000_000);
  for (const amount of [1_000_000, 500_000, 250_000]) processor.refundThere(there, amount);
  await tell(there);
  processor.refundThere(there, 10_000);
  await Promise.all([tell(there), tell(there), tell(there)]);
  assert.deepEqual(await moved('hans'), [
    'top_up 5000000',
    'refund 1000000',
    'refund 500000',
    'refund 250000',
    'refund 10000',
  ]);
});

test('WA-05 a returned refund stays in the wallet', async () => {
  const { processor, tell, moved, paid } = ground;
  const { there } = await paid('ilse', 5_000_000);
  const refund = processor.refundThere(there, 1_000_000);
  await tell(there);
  const older = processor.report(there);
  processor.setRefund(refund, 'declined');
  await tell(there);
  const expected = ['top_up 5000000', 'refund 1000000', 'funds_reinstated 1000000'];
  assert.deepEqual(await moved('ilse'), expected);
  assert.equal(await book(older), true);
  await tell(there);
  assert.deepEqual(await moved('ilse'), expected);
});

test('WA-05 a refund declined before its first report moves nothing', async () => {
  const { processor, tell, moved, paid } = ground;
  const { there } = await paid('jan', 5_000_000);
  const refund = processor.refundThere(there, 1_000_000, 'under_way');
  const older = processor.report(there);
  processor.setRefund(refund, 'declined');
  await tell(there);
  await book(older);
  assert.deepEqual(await moved('jan'), ['top_up 5000000']);
});

test('WA-05 WA-06 a claw-back beyond the balance suspends the wallet', async () => {
  const { ledger, processor, tell, moved, paid } = ground;
  const { there } = await paid('kurt', 5_000_000);
  await ledger.takeBack('kurt', 2_000_000, { kind: 'refund' });
  processor.dispute(there, 5_000_000);
  await tell(there);
  await tell(there);
  const wallet = await ledger.wallet('kurt');
  assert.deepEqual([wallet.balance, wallet.shortfall, wallet.isSuspended], [0, 2_000_000, true]);
  processor.dispute(there, 5_000_000, true);
  await tell(there);
  assert.equal((await ledger.wallet('kurt')).isSuspended, true);
  assert.deepEqual((await moved('kurt')).slice(2), [
    'claw_back 3000000',
    'claw_back_receivable 2000000',
    'funds_reinstated 5000000',
  ]);
  assert.equal(await ledger.reinstate('kurt'), 'reinstated');
  assert.equal((await ledger.wallet('kurt')).balance, 3_000_000);
});

test('ON-02 overlapping look-ups lead to the same books', async () => {
  const { processor, begin, ledger, moved } = ground;
  await ledger.open('race', 0);
  const payment = processor.pay(await begin('race', 5_000_000));
  const reports = [processor.report(payment)];
  const refund = processor.refundThere(payment, 1_000_000, 'under_way');
  reports.push(processor.report(payment));
  processor.dispute(payment, 4_000_000);
  reports.push(processor.report(payment));
  processor.setRefund(refund, 'paid');
  processor.dispute(payment, 4_000_000, true);
  reports.push(processor.report(payment));
  await Promise.all(Array.from({ length: 12 }, (_, index) => book(reports[(index * 7) % 4] as (typeof reports)[0])));
  assert.deepEqual((await moved('race')).toSorted(), [
    'claw_back 4000000',
    'funds_reinstated 4000000',
    'refund 1000000',
    'top_up 5000000',
  ]);
});

test('BI-04 the payment, not the checkout, spends a link', async () => {
  await ground.ledger.open('link', 0);
  const linkDigest = Buffer.alloc(32, 7);
  const { checkoutId } = await ground.checkouts.begin({
    appId: APP,
    userId: 'link' as EndUserId,
    identityId: undefined,
    amount: micros(5_000_000n),
    appName: 'App',
    email: undefined,
    linkDigest,
  });
  assert.equal(await ground.checkouts.isSpent(linkDigest), false);
  await ground.tell(ground.processor.pay(checkoutId));
  assert.equal(await ground.checkouts.isSpent(linkDigest), true);
});

test('ON-02 a payment without a webhook is found a day later', async () => {
  const { processor, begin, ledger, moved, sweep } = ground;
  await ledger.open('late', 0);
  processor.pay(await begin('late', 5_000_000));
  await sql(ledger)`update payments.checkouts set created_at = created_at - interval '25 hours' where user_id = 'late'`;
  await sweep();
  assert.deepEqual(await moved('late'), ['top_up 5000000']);
});

test('ON-02 a payment is found after a long outage', async () => {
  const { processor, begin, ledger, moved, sweep } = ground;
  await ledger.open('long', 0);
  processor.pay(await begin('long', 5_000_000));
  await sql(ledger)`update payments.checkouts set created_at = created_at - interval '5 days' where user_id = 'long'`;
  processor.isAway = true;
  await sweep();
  processor.isAway = false;
  assert.deepEqual(await moved('long'), []);
  await sweep();
  assert.deepEqual(await moved('long'), ['top_up 5000000']);
});

test('ON-02 look-ups of paid and unopened checkouts end', async () => {
  const { processor, begin, ledger, paid, sweep } = ground;
  const { owner } = ledger.database;
  const isLookedAt = async (user: string) => {
    const rows = await sql(owner)`select from payments.checkouts where user_id = ${user} and next_look_at is not null`;
    return rows.length > 0;
  };
  await paid('seen', 5_000_000);
  await ledger.open('shut', 0);
  processor.isAway = true;
  await assert.rejects(begin('shut', 5_000_000));
  processor.isAway = false;
  await sweep();
  assert.deepEqual([await isLookedAt('seen'), await isLookedAt('shut')], [false, true]);
  await sql(owner)`update payments.checkouts set created_at = created_at - interval '5 days' where user_id = 'shut'`;
  await sweep();
  assert.equal(await isLookedAt('shut'), false);
});

test('ON-02 look-ups without a webhook become rarer, then stop', async () => {
  const { begin, ledger, sweep } = ground;
  await ledger.open('rare', 0);
  const checkoutId = await begin('rare', 5_000_000);
  const next = async (age: string) => {
    await sql(ledger)`update payments.checkouts set created_at = clock_timestamp() - ${age}::interval
      where checkout_id = ${checkoutId}`;
    await sweep();
    return sqlValue<number | null>(ledger)`select round(extract(epoch
      from next_look_at - clock_timestamp()) / 60)::int as minutes
      from payments.checkouts where checkout_id = ${checkoutId}`;
  };
  assert.deepEqual([await next('1 minute'), await next('4 hours'), await next('4 days')], [1, 60, null]);
});

test('WA-05 a shortfall made good at once suspends nobody', async () => {
  const { ledger, processor, tell, moved, paid } = ground;
  const { there } = await paid('level', 5_000_000);
  await ledger.takeBack('level', 5_000_000, { kind: 'refund' });
  processor.dispute(there, 5_000_000);
  processor.dispute(there, 5_000_000, true);
  await tell(there);
  assert.equal((await ledger.wallet('level')).isSuspended, false);
  assert.deepEqual((await moved('level')).slice(2), ['funds_reinstated 5000000', 'claw_back 5000000']);
});
