import assert from 'node:assert/strict';
import type { Pool } from 'pg';
import type { CheckoutId, EndUserId, PaymentId } from '../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { checkBooks } from '../../packages/service/src/operator/health/ledger-check.ts';
import { type Checkouts, createCheckouts } from '../../packages/service/src/payments/checkouts.ts';
import {
  createProcessorWebhooks,
  type ProcessorWebhooks,
} from '../../packages/service/src/payments/booking/processor-webhooks.ts';
import { createRefunds, type Refunds } from '../../packages/service/src/payments/refunds/refunds.ts';
import { sweepPayments } from '../../packages/service/src/payments/booking/sweep.ts';
import { APP, createLedgerDatabase, type LedgerDatabase } from './ledger-database.ts';
import { createFakeProcessor, type FakeProcessor } from './processor.ts';
import { sql, sqlValue } from './sql.ts';

/** Payments on a separate ledger, with a processor in memory. */
export interface PaymentsGround {
  readonly ledger: LedgerDatabase;
  readonly processor: FakeProcessor;
  readonly checkouts: Checkouts;
  readonly webhooks: ProcessorWebhooks;
  readonly refunds: Refunds;
  /** A user's unpaid checkout of this many micros at the processor. */
  readonly begin: (user: string, amount: number) => Promise<CheckoutId>;
  /** A wallet with a payment that a webhook reported. Returns the payment's name at the processor and here. */
  readonly paid: (user: string, amount: number) => Promise<{ readonly there: string; readonly here: PaymentId }>;
  /** The processor sends a webhook about a payment. */
  readonly tell: (payment: string) => Promise<void>;
  /** Makes every look-up due and runs one pass. */
  readonly sweep: () => Promise<void>;
  readonly rows: (table: string) => Promise<number>;
  /** The movements of a wallet as `kind amount`, in order. */
  readonly moved: (user: string) => Promise<readonly string[]>;
  /** The findings of the check of all books. */
  readonly check: () => Promise<readonly string[]>;
  /** Lines that were logged for an operator. */
  readonly told: readonly string[];
  readonly close: () => Promise<void>;
}

export async function createPaymentsGround(): Promise<PaymentsGround> {
  return openPaymentsGround(await createLedgerDatabase(), createFakeProcessor());
}

/** The ledger is closed with it. */
export function openPaymentsGround(ledger: LedgerDatabase, processor: FakeProcessor): PaymentsGround {
  const { owner } = ledger.database;
  const told: string[] = [];
  const log = createLog('info', { write: (line) => void told.push(line) });
  const options = { pool: ledger.live, processor, log };
  const checkouts = createCheckouts({ ...options, publicUrl: 'https://purser.test' });
  const webhooks = createProcessorWebhooks(options);

  const begin: PaymentsGround['begin'] = async (user, amount) => {
    const { checkoutId } = await checkouts.begin({
      appId: APP,
      userId: user as EndUserId,
      identityId: undefined,
      amount: micros(BigInt(amount)),
      appName: 'App',
      email: undefined,
      linkDigest: undefined,
    });
    return checkoutId;
  };
  const tell: PaymentsGround['tell'] = async (payment) => {
    const { body, headers } = processor.webhook(payment);
    assert.equal(await webhooks.receive(body, headers), 'accepted');
  };
  return {
    ledger,
    processor,
    checkouts,
    webhooks,
    refunds: createRefunds(options),
    begin,
    tell,
    paid: async (user, amount) => {
      if ((await ledger.wallets.find(APP, user as EndUserId)) === undefined) await ledger.open(user, 0);
      const checkoutId = await begin(user, amount);
      const there = processor.pay(checkoutId);
      await tell(there);
      const paymentId = await sqlValue<PaymentId>(owner)`select payment_id from payments.payments
        where processor_payment = ${there}`;
      return { there, here: paymentId as PaymentId };
    },
    sweep: async () => {
      await sql(owner)`update payments.checkouts set next_look_at = clock_timestamp() where next_look_at is not null`;
      await sql(owner)`update payments.refunds set next_look_at = clock_timestamp()`;
      await sweepPayments(options);
    },
    rows: async (table) => {
      const { rows } = await owner.query<{ count: bigint }>(`select count(*) as count from payments.${table}`);
      return Number(rows[0]?.count);
    },
    moved: async (user) => {
      const rows = await sql<{ text: string }>(owner)`select e.kind || ' ' || e.amount_micros as text
        from ledger.entries e join ledger.wallets w using (wallet_id) where w.user_id = ${user} order by e.seq`;
      return rows.map(({ text }) => text);
    },
    check: async () => (await checkBooks(ledger.live)).differences.map(({ rule }) => rule),
    told,
    close: ledger.close,
  };
}

/** A payment of €5 of `anna` that is in no wallet, and its case. */
export async function seedKept(db: Pick<Pool, 'query'>, appId: string): Promise<void> {
  await sql(db)`insert into payments.checkouts (checkout_id, app_id, user_id, amount_micros, currency, processor)
    values ('chk_kept', ${appId}, 'anna', 7000000, 'EUR', 'test')`;
  await sql(db)`
    insert into payments.payments (payment_id, checkout_id, app_id, user_id, processor, processor_payment, amount_micros,
      currency, state, anomaly)
    values ('pay_kept0000000000000000000', 'chk_kept', ${appId}, 'anna', 'test', 'tp_kept', 5000000, 'EUR', 'kept', 'amount')`;
  await sql(db)`insert into payments.cases (case_id, payment_id, app_id, user_id, kind, subject)
    values ('cas_0000000000000000000000', 'pay_kept0000000000000000000', ${appId}, 'anna', 'kept', 'pay_kept0000000000000000000')`;
}

/** The same, and its disputes: one that is too old to be answered, one whose money came back, and one that is open. */
export async function seedDisputes(db: Pick<Pool, 'query'>, appId: string): Promise<void> {
  await seedKept(db, appId);
  await sql(db)`insert into payments.dispute_movements
      (processor, processor_movement, payment_id, amount_micros, is_reinstated, is_booked, at, movement_id)
    select 'test', id, 'pay_kept0000000000000000000', 1000000, id = 'back', true, now() - age::interval, 'dsp_' || id
    from (values ('old', '22 days'), ('won', '9 days'), ('back', '8 days'), ('open', '1 day')) v (id, age)`;
}
