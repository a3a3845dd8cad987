import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CheckoutId, EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { APP } from '../support/ledger-database.ts';
import { startPaymentSweep } from '../../packages/service/src/payments/booking/sweep.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { createPaymentsGround, type PaymentsGround } from '../support/payments.ts';
import { sql } from '../support/sql.ts';

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

test('ON-02 an invalid amount or owner opens no checkout', async () => {
  await ground.ledger.open('fred', 0);
  const before = ground.processor.orders.length;
  for (const amount of [1, 499_999, 5_000_001, 1_000_000_000_000])
    await assert.rejects(ground.begin('fred', amount), RangeError);
  await assert.rejects(ground.begin('nobody', 5_000_000), /needs an existing wallet/);
  assert.equal(ground.processor.orders.length, before);
});

test('ON-02 a different amount is credited as paid', async () => {
  for (const [user, amount] of [
    ['less', 4_990_000],
    ['more', 5_010_000],
  ] as const) {
    await ground.ledger.open(user, 0);
    const checkoutId = await ground.begin(user, 5_000_000);
    const told = ground.told.length;
    await ground.tell(ground.processor.pay(checkoutId, { amount }));
    assert.equal(await stateOf(checkoutId), 'paid');
    assert.deepEqual(await ground.moved(user), [`top_up ${amount}`]);
    assert.match(ground.told.slice(told).join(), /payment.amount_differs/);
    const [payment] = await ground.refunds.payments(APP, user as EndUserId);
    assert.equal(payment?.anomaly, 'amount');
  }
});

test('ON-02 payments in another currency leave every wallet alone', async () => {
  const { ledger, processor, begin, tell, moved } = ground;
  await ledger.open('gina', 0);
  const checkoutId = await begin('gina', 5_000_000);
  const payment = processor.pay(checkoutId, { currency: 'USD' });
  await tell(payment);
  assert.equal(await stateOf(checkoutId), 'kept');
  const refund = processor.refundThere(payment, 5_000_000);
  processor.dispute(payment, 5_000_000);
  processor.dispute(payment, 5_000_000, true);
  await tell(payment);
  processor.setRefund(refund, 'declined');
  await tell(payment);
  assert.deepEqual(await moved('gina'), []);
  const rows = await sql<{ action: string; reason: string }>(ledger)`select action, reason from audit.entries
    where action = 'payment.kept'`;
  assert.equal(rows.length, 1);
});

test('ON-02 a payment that does not fit into the wallet is kept', async () => {
  const { ledger, processor, begin, tell, moved } = ground;
  await ledger.open('full', Number.MAX_SAFE_INTEGER);
  const checkoutId = await begin('full', 5_000_000);
  await tell(processor.pay(checkoutId));
  assert.equal(await stateOf(checkoutId), 'kept');
  assert.equal((await moved('full')).length, 1);
});

test('ON-02 a second payment of one checkout is kept', async () => {
  const { ledger, processor, begin, tell, moved } = ground;
  await ledger.open('twice', 0);
  const checkoutId = await begin('twice', 5_000_000);
  for (let times = 0; times < 2; times += 1) await tell(processor.pay(checkoutId));
  assert.equal(await stateOf(checkoutId), 'paid');
  assert.deepEqual(await moved('twice'), ['top_up 5000000']);
});

test('CP-05 operators’ idempotency keys never clash with the processor’s', async () => {
  const { ledger, processor, tell, moved, paid } = ground;
  const { there } = await paid('keys', 5_000_000);
  const refund = processor.refundThere(there, 1_000_000);
  processor.dispute(there, 2_000_000);
  const [movement] = processor.report(there).disputeMovements;
  await ledger.takeBack('keys', 10_000, { kind: 'refund', key: refund });
  await ledger.takeBack('keys', 10_000, { kind: 'claw_back', key: movement?.processorMovement ?? '' });
  await tell(there);
  assert.deepEqual((await moved('keys')).slice(3), ['refund 1000000', 'claw_back 2000000']);
});

test('ON-02 a silent processor does not delay a stop', async () => {
  const { ledger, begin, processor } = ground;
  await ledger.open('slow', 0);
  const checkoutId = await begin('slow', 5_000_000);
  await sql(ledger)`update payments.checkouts
    set next_look_at = case when checkout_id = ${checkoutId} then clock_timestamp() end`;
  const asked = Promise.withResolvers<void>();
  const silent = {
    ...processor,
    lookUpCheckout: () => {
      asked.resolve();
      return new Promise<undefined>(() => {});
    },
  };
  const sweep = startPaymentSweep({ pool: ledger.live, processor: silent, log: createLog('silent'), periodMs: 10 });
  await asked.promise;
  await sweep.stop(); // The look-up never ends.
});
