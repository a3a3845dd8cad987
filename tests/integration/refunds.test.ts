import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { createRefunds } from '../../packages/service/src/payments/refunds/refunds.ts';
import { APP, holdOf } from '../support/ledger-database.ts';
import { createPaymentsGround } from '../support/payments.ts';
import { askersOf } from '../support/refunds.ts';

const ground = await createPaymentsGround();
const { ask, atOnce, refundable } = askersOf(ground);

after(async () => {
  assert.deepEqual(await ground.check(), []);
  await ground.close();
});

test('WA-05 a refund is set aside first and booked once', async () => {
  const { processor, paid, tell, moved, ledger } = ground;
  const { there } = await paid('anna', 5_000_000);
  assert.equal(await ask('anna', 2_000_000, 'one'), 'asked');
  assert.equal((await ledger.wallet('anna')).balance, 3_000_000);
  assert.equal(await refundable('anna'), 3_000_000);
  assert.deepEqual(
    (await ground.refunds.underWay(APP, 'anna' as EndUserId)).map(({ amount }) => amount),
    [2_000_000n],
  );
  await tell(there);
  assert.equal((await moved('anna')).length, 2, 'the refund is still running');
  processor.setRefund(processor.refundOrders.at(-1)?.refundId ?? '', 'paid');
  for (let times = 0; times < 3; times += 1) await tell(there);
  assert.deepEqual(await moved('anna'), ['top_up 5000000', 'refund_set_aside 2000000', 'refund_paid 2000000']);
  const [payment] = await ground.refunds.payments(APP, 'anna' as EndUserId);
  assert.equal(payment?.refunded, 2_000_000n);
  assert.deepEqual(await ground.refunds.underWay(APP, 'anna' as EndUserId), []);
});

test('WA-05 a declined refund goes back into the wallet', async () => {
  const { processor, paid, tell, moved } = ground;
  const { there } = await paid('bert', 5_000_000);
  processor.refunds = 'declined';
  assert.equal(await ask('bert', 2_000_000, 'one'), 'declined');
  assert.equal(await ask('bert', 2_000_000, 'one'), 'declined', 'a repeat gets the same answer');
  processor.refunds = 'under_way';
  assert.equal(await ask('bert', 1_000_000, 'two'), 'asked');
  processor.setRefund(processor.refundOrders.at(-1)?.refundId ?? '', 'declined');
  await tell(there);
  await tell(there);
  assert.deepEqual(await moved('bert'), [
    'top_up 5000000',
    'refund_set_aside 2000000',
    'refund_released 2000000',
    'refund_set_aside 1000000',
    'refund_released 1000000',
  ]);
  assert.equal(await refundable('bert'), 5_000_000);
});

test('WA-05 a refund paid and returned goes back once', async () => {
  const { processor, paid, tell, moved } = ground;
  processor.refunds = 'paid';
  const { there } = await paid('carl', 5_000_000);
  await ask('carl', 2_000_000, 'one');
  processor.refunds = 'under_way';
  await tell(there);
  const older = processor.report(there);
  processor.setRefund(processor.refundOrders.at(-1)?.refundId ?? '', 'declined');
  await tell(there);
  await tell(there);
  assert.equal(older.refunds[0]?.state, 'paid');
  assert.deepEqual((await moved('carl')).slice(2), ['refund_paid 2000000', 'funds_reinstated 2000000']);
});

test('WA-05 a reported refund exists even if its request failed', async () => {
  const { processor, paid, tell, moved, ledger } = ground;
  const { there } = await paid('knut', 5_000_000);
  const late: typeof processor = {
    ...processor,
    refund: async (order) => {
      await processor.refund(order);
      await tell(there);
      return 'declined';
    },
  };
  const refunds = createRefunds({ pool: ledger.live, processor: late, log: createLog('silent') });
  const asked = { appId: APP, userId: 'knut' as EndUserId, amount: micros(1_000_000n), key: 'late' };
  assert.equal(await refunds.refundUnused(asked), 'asked');
  assert.deepEqual((await moved('knut')).slice(1), ['refund_set_aside 1000000']);
});

test('WA-05 a refund declined and then paid is taken', async () => {
  const { processor, paid, tell, moved } = ground;
  const { there } = await paid('dirk', 5_000_000);
  processor.refunds = 'declined';
  await ask('dirk', 2_000_000, 'one');
  processor.refunds = 'paid';
  const order = processor.refundOrders.at(-1);
  assert.ok(order !== undefined);
  await processor.refund(order);
  processor.refunds = 'under_way';
  await tell(there);
  await tell(there);
  assert.deepEqual((await moved('dirk')).slice(2), ['refund_released 2000000', 'refund 2000000']);
});

test('WA-05 a key with another amount is a conflict', async () => {
  const { processor, paid, moved } = ground;
  await paid('emma', 5_000_000);
  const before = processor.refundOrders.length;
  const answers = await Promise.all(Array.from({ length: 6 }, () => ask('emma', 1_000_000, 'same')));
  assert.deepEqual(answers.toSorted(), ['asked', ...Array.from({ length: 5 }, () => 'repeated')]);
  assert.equal(await ask('emma', 1_010_000, 'same'), 'conflict');
  assert.equal(processor.refundOrders.length, before + 1);
  assert.equal((await moved('emma')).length, 2);
});

test('WA-05 simultaneous requests never refund a payment twice', async () => {
  const { processor, paid, ledger } = ground;
  const { there } = await paid('enno', 5_000_000);
  await ledger.credit('enno', 90_000_000, { kind: 'contract_credit' });
  const same = await atOnce(
    'enno',
    Array.from({ length: 4 }, () => () => ask('enno', 1_000_000, 'same')),
  );
  assert.deepEqual(same.toSorted(), ['asked', 'repeated', 'repeated', 'repeated']);
  const several = await atOnce(
    'enno',
    Array.from({ length: 4 }, (_, index) => () => ask('enno', 3_000_000, `key ${index}`)),
  );
  assert.deepEqual(several.toSorted(), ['asked', 'too_much', 'too_much', 'too_much']);
  const asked = processor.refundOrders.filter(({ processorPayment }) => processorPayment === there);
  assert.deepEqual(
    asked.map(({ amount }) => amount),
    [1_000_000n, 3_000_000n],
  );
});

test('WA-05 the newest payment is refunded first', async () => {
  const { processor, paid, ledger } = ground;
  const older = await paid('fred', 5_000_000);
  const newer = await paid('fred', 3_000_000);
  await ledger.credit('fred', 9_000_000, { kind: 'contract_credit' });
  assert.equal(await refundable('fred'), 8_000_000, 'money that was never paid cannot be refunded');
  assert.equal(await ask('fred', 8_010_000, 'too much'), 'too_much');
  const before = processor.refundOrders.length;
  assert.equal(await ask('fred', 4_000_000, 'one'), 'asked');
  assert.deepEqual(
    processor.refundOrders.slice(before).map(({ processorPayment, amount }) => [processorPayment, amount]),
    [
      [newer.there, 3_000_000n],
      [older.there, 1_000_000n],
    ],
  );
  assert.equal(await refundable('fred'), 4_000_000);
});

test('WA-05 held, fractional and disputed money cannot be refunded', async () => {
  const { paid, ledger, processor, tell } = ground;
  const { there } = await paid('gabi', 5_000_000);
  await ledger.reserve([holdOf('gabi', 1_000_001)]);
  assert.equal(await refundable('gabi'), 3_990_000);
  assert.equal(await ask('gabi', 4_000_000, 'held'), 'too_much');
  assert.equal(await ask('gabi', 1_000_001, 'odd'), 'not_whole');
  processor.dispute(there, 3_000_000);
  await tell(there);
  assert.equal(await refundable('gabi'), 990_000);
  await ledger.credit('gabi', 9_000_000, { kind: 'contract_credit' });
  assert.equal(await refundable('gabi'), 2_000_000, 'money that a bank took cannot be refunded again');
  assert.equal(await ask('gabi', 2_010_000, 'disputed'), 'too_much');
  processor.dispute(there, 3_000_000, true);
  await tell(there);
  assert.equal(await refundable('gabi'), 5_000_000);
  await ground.ledger.open('nothing', 5_000_000);
  assert.equal(await ask('nothing', 1_000_000, 'one'), 'no_payment');
  assert.equal(await refundable('nobody'), 0);
});

test('WA-05 calls and refunds never spend the same money', async () => {
  const { paid, ledger } = ground;
  await paid('hugo', 5_000_000);
  const asked = [0, 1, 2, 3].map((index) => ask('hugo', 2_000_000, `key ${index}`));
  const held = [0, 1, 2, 3].map(() => ledger.reserve([holdOf('hugo', 2_000_000)]));
  const answers = await Promise.all(asked);
  const holds = (await Promise.all(held)).flat();
  const granted = answers.filter((one) => one === 'asked').length + holds.filter((one) => one === 2_000_000).length;
  assert.equal(granted, 2, JSON.stringify([answers, holds]));
});

test('WA-04 a suspended wallet refunds nothing', async () => {
  const { paid, ledger, processor } = ground;
  await paid('iris', 5_000_000);
  await ledger.setWallet('iris', 'is_suspended = true');
  const before = processor.refundOrders.length;
  assert.equal(await ask('iris', 1_000_000, 'one'), 'suspended');
  assert.equal(await refundable('iris'), 0);
  assert.equal(processor.refundOrders.length, before);
});

test('WA-05 a refund that never arrived is requested again', async () => {
  const { processor, paid, tell, sweep, moved } = ground;
  const { there } = await paid('jana', 5_000_000);
  processor.isAway = true;
  assert.equal(await ask('jana', 2_000_000, 'one'), 'asked');
  processor.isAway = false;
  assert.equal(processor.report(there).refunds.length, 0);
  await sweep();
  await sweep();
  assert.equal(processor.report(there).refunds.length, 1);
  processor.setRefund(processor.refundOrders.at(-1)?.refundId ?? '', 'paid');
  await sweep(); // No webhook reports it.
  await tell(there);
  assert.deepEqual((await moved('jana')).slice(1), ['refund_set_aside 2000000', 'refund_paid 2000000']);
});

test('WA-05 money that does not fit stays set aside', async () => {
  const { processor, paid, tell, ledger, moved } = ground;
  const { there } = await paid('mia', 5_000_000);
  await ask('mia', 5_000_000, 'one');
  await ledger.credit('mia', Number.MAX_SAFE_INTEGER, { kind: 'contract_credit' });
  processor.setRefund(processor.refundOrders.at(-1)?.refundId ?? '', 'declined');
  await tell(there);
  assert.equal((await moved('mia')).at(-1), `contract_credit ${Number.MAX_SAFE_INTEGER}`);
  await ledger.takeBack('mia', 5_000_000, { kind: 'refund' });
  await ground.sweep();
  assert.equal((await moved('mia')).at(-1), 'refund_released 5000000');
});
