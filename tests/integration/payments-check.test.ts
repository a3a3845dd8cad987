import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { checkChanges } from '../../packages/service/src/ledger/check/check.ts';
import { APP } from '../support/ledger-database.ts';
import { createPaymentsGround, type PaymentsGround } from '../support/payments.ts';
import { sql } from '../support/sql.ts';

let ground: PaymentsGround;

before(async () => {
  ground = await createPaymentsGround();
});

after(() => ground.close());

/** Does everything that payments can do, once. */
async function everything(): Promise<void> {
  const { processor, paid, tell, refunds } = ground;
  const { there } = await paid('anna', 9_000_000);
  const ask = (key: string) =>
    refunds.refundUnused({ appId: APP, userId: 'anna' as EndUserId, amount: micros(1_000_000n), key });
  await ask('paid');
  processor.setRefund(processor.refundOrders.at(-1)?.refundId ?? '', 'paid');
  await ask('declined');
  processor.setRefund(processor.refundOrders.at(-1)?.refundId ?? '', 'declined');
  await ask('under way');
  processor.refundThere(there, 1_000_000);
  processor.dispute(there, 7_000_000);
  await tell(there);
  processor.dispute(there, 7_000_000, true);
  await tell(there);
}

function kind(name: string, change: string): string {
  return `update ledger.journal set ${change} where kind = '${name}'`;
}

test('WA-09 the check reports every possible payment error', async () => {
  const { owner } = ground.ledger.database;
  await everything();
  assert.deepEqual(await ground.check(), []);
  assert.equal((await checkChanges(ground.ledger.live)).found, 0n);
  for (const [rule, ...changes] of [
    ['a payment is credited once, as it came', `update payments.payments set amount_micros = amount_micros + 1`],
    ['a payment is credited once, as it came', `update payments.payments set state = 'kept', anomaly = 'amount'`],
    ['an entry of a payment has its payment', `update payments.payments set state = 'kept', anomaly = 'amount'`],
    ['a payment is credited once, as it came', kind('top_up', `cause = cause || 'x'`)],
    ['an entry of a payment has its payment', kind('top_up', `cause = cause || 'x'`)],
    ['a refund is set aside as it was asked for', kind('refund_set_aside', `cause = cause || 'x'`)],
    ['what is set aside ends when its refund does', `update payments.refunds set state = 'paid' where state = 'asked'`],
    ['what is set aside ends when its refund does', kind('refund_paid', `amount_micros = amount_micros - 1`)],
    [
      'a refund that was not set aside is taken',
      `update payments.refunds set booked_as = null where booked_as = 'taken'`,
    ],
    ['a refund that was not set aside is taken', kind('refund', `amount_micros = amount_micros - 1`)],
    ['a movement of a dispute is booked once', kind('claw_back', `amount_micros = amount_micros - 1`)],
    ['a movement of a dispute is booked once', kind('funds_reinstated', `cause = cause || 'x'`)],
    ['a movement of a dispute is booked once', `update payments.dispute_movements set is_booked = false`],
    ['what is set aside ends once, and whole', kind('refund_released', `amount_micros = amount_micros - 1`)],
    ['no more is paid out or released than was set aside', kind('refund_paid', `amount_micros = amount_micros * 9`)],
    [
      'what is set aside ends once, and whole',
      `insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
       select wallet_id, seq + 1000, 'refund_released', replace(cause, 'refund_paid', 'refund_released'), debit, 'wallet',
         amount_micros, balance_after_micros
       from ledger.journal where kind = 'refund_paid'`,
    ],
  ] as const) {
    const client = await owner.connect();
    try {
      await client.query('begin');
      await client.query('set local session_replication_role = replica'); // Without this, entries can only be appended.
      for (const change of changes) await client.query(change);
      const rows = await sql<{ rule: string }>(client)`select rule from ledger.differences() union select rule
        from payments.differences()`;
      assert.ok(rows.map((row) => row.rule).includes(rule), `${rule}: ${changes.join()}`);
    } finally {
      await client.query('rollback');
      client.release();
    }
  }
  assert.deepEqual(await ground.check(), []);
});
