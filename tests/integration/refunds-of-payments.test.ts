import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { EndUserId, PaymentId } from '../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { APP } from '../support/ledger-database.ts';
import { createPaymentsGround } from '../support/payments.ts';
import { askersOf } from '../support/refunds.ts';
import { sql } from '../support/sql.ts';

const ground = await createPaymentsGround();
const { ask, askOne, atOnce, refundable } = askersOf(ground);

after(async () => {
  assert.deepEqual(await ground.check(), []);
  await ground.close();
});

test('CP-05 WA-05 an operator’s refund is set aside or taken later', async () => {
  const { processor, paid, tell, moved, ledger } = ground;
  const { there, here } = await paid('karl', 5_000_000);
  assert.equal(await askOne('karl', 'pay_none' as PaymentId, 1_000_000, 'a'), 'no_payment');
  assert.equal(await askOne('karl', here, 5_010_000, 'b'), 'too_much');
  assert.equal(await askOne('karl', here, 1_000_001, 'c'), 'not_whole');
  await ledger.takeBack('karl', 4_000_000, { kind: 'claw_back' });
  processor.refunds = 'paid';
  assert.equal(await askOne('karl', here, 3_000_000, 'd'), 'asked');
  assert.equal(await askOne('karl', here, 3_000_000, 'd'), 'repeated');
  assert.equal(await askOne('karl', here, 2_000_000, 'd'), 'conflict');
  processor.refunds = 'under_way';
  await tell(there);
  await tell(there);
  assert.deepEqual((await moved('karl')).slice(2), ['refund 1000000', 'refund_receivable 2000000']);
  const wallet = await ledger.wallet('karl');
  assert.deepEqual([wallet.balance, wallet.shortfall, wallet.isSuspended], [0, 2_000_000, true]);
});

test('CP-05 an operator learns once that another amount was refunded', async () => {
  const { processor, paid, tell, told } = ground;
  const { there, here } = await paid('kaja', 5_000_000);
  assert.equal(await askOne('kaja', here, 3_000_000, 'other amount'), 'asked');
  const refundId = processor.refundOrders.at(-1)?.refundId ?? '';
  processor.setRefund(refundId, 'paid', micros(2_000_000n));
  const before = told.length;
  await tell(there);
  await tell(there);
  const lines = told.slice(before).filter((line) => line.includes('another amount') && line.includes(refundId));
  assert.equal(lines.length, 1);
});

test('CP-05 simultaneous operators never refund a payment twice', async () => {
  const { paid, ledger } = ground;
  const { here } = await paid('kent', 5_000_000);
  const other = await paid('kent', 5_000_000);
  await ledger.credit('kent', 90_000_000, { kind: 'contract_credit' });
  const several = await atOnce(
    'kent',
    Array.from({ length: 4 }, (_, index) => () => askOne('kent', here, 3_000_000, `key ${index}`)),
  );
  assert.deepEqual(several.toSorted(), ['asked', 'too_much', 'too_much', 'too_much']);
  const same = await atOnce(
    'kent',
    Array.from({ length: 4 }, () => () => askOne('kent', here, 1_000_000, 'same')),
  );
  assert.deepEqual(same.toSorted(), ['asked', 'repeated', 'repeated', 'repeated']);
  assert.equal(await askOne('kent', other.here, 1_000_000, 'same'), 'conflict');
});

test('CP-05 an operator can refund any earlier payment', async () => {
  const { paid, ledger } = ground;
  const { here } = await paid('kuno', 5_000_000);
  await sql(ledger)`
    insert into payments.payments (payment_id, checkout_id, app_id, user_id, processor, processor_payment, amount_micros,
      currency, state, anomaly)
    select payment_id || n, checkout_id, app_id, user_id, processor, processor_payment || n, amount_micros, currency, 'kept', 'second'
    from payments.payments cross join generate_series(1, 100) n where payment_id = ${here}`;
  assert.equal(await askOne('kuno', here, 1_000_000, 'old'), 'asked');
});

test('WA-05 an operator learns of a refund of an unknown payment', async () => {
  const { paid, ledger, processor, sweep } = ground;
  const { here } = await paid('kira', 5_000_000);
  processor.isAway = true;
  assert.equal(await ask('kira', 5_000_000, 'lost'), 'asked');
  processor.isAway = false;
  const setName = (name: string) =>
    ledger.database.owner.query('update payments.payments set processor_payment = $2 where payment_id = $1', [
      here,
      name,
    ]);
  const { rows } = await ledger.database.owner.query<{ name: string }>(
    'select processor_payment as name from payments.payments where payment_id = $1',
    [here],
  );
  await setName('pi_of_another_account');
  const before = ground.told.length;
  await sweep();
  await setName(rows[0]?.name ?? '');
  assert.match(ground.told.slice(before).join(), /the processor does not know the payment of a refund/);
});

test('CP-05 a payment in no wallet is refunded without one', async () => {
  const { processor, tell, moved, ledger, begin } = ground;
  await ledger.open('lena', 30_000_000);
  const there = processor.pay(await begin('lena', 5_000_000), { currency: 'USD' });
  await tell(there);
  const [payment] = await ground.refunds.payments(APP, 'lena' as EndUserId);
  assert.equal(payment?.state, 'kept');
  assert.equal(await refundable('lena'), 0);
  assert.equal(await ask('lena', 1_000_000, 'own'), 'no_payment');
  processor.refunds = 'paid';
  assert.equal(await askOne('lena', payment.paymentId, 5_000_000, 'back'), 'asked');
  processor.refunds = 'under_way';
  assert.deepEqual(
    [processor.refundOrders.at(-1)?.currency, processor.refundOrders.at(-1)?.amount],
    ['USD', 5_000_000n],
  );
  await tell(there);
  assert.equal((await moved('lena')).length, 1);
  const [refunded] = await ground.refunds.payments(APP, 'lena' as EndUserId);
  assert.equal(refunded?.refunded, 5_000_000n);
});
