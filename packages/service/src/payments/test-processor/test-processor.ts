import { inSnapshot, inTransaction, type Pool, type Queryable } from '#db/pool/pool.ts';
import type { Clock } from '#kernel/time/clock.ts';
import type { ProofKeys } from '#kernel/crypto/keys.ts';
import { microsFromRow } from '#kernel/values/micros.ts';
import { payableIn } from '#payments/processor/amounts.ts';
import type { PaymentReport, Processor } from '#payments/processor/processor.ts';
import { TEST_CARDS } from '#payments/test-processor/cards.ts';
import { readSignedWebhook } from '#payments/test-processor/signed-webhooks.ts';
import {
  insertTestCheckout,
  insertTestEvent,
  insertTestRefund,
  selectPaidTestCheckout,
  selectTestCheckout,
  selectTestMovements,
  selectTestRefunds,
  type TestCheckoutRow,
} from '#payments/test-processor/queries.ts';
import { newTestCheckout, newTestRefund, refundEvent } from '#payments/test-processor/test-bank.ts';

interface TestProcessorOptions {
  readonly pool: Pool;
  /** The keys that sign webhooks. */
  readonly keys: ProofKeys;
  readonly publicUrl: string;
  readonly clock: Clock;
}

/** A processor that moves no real money, for development services only (ON-03). */
export function createTestProcessor({ pool, keys, publicUrl, clock }: TestProcessorOptions): Processor {
  return {
    name: 'test',
    formTargets: [], // Its pages belong to this service.
    amountsIn: payableIn,
    openCheckout: async (order) => {
      const processorCheckout = await insertTestCheckout(pool, newTestCheckout(), order);
      return { processorCheckout, url: `${publicUrl}/test-processor/${processorCheckout}` };
    },
    readWebhook: async (body, headers) => readSignedWebhook(keys, clock, body, headers),
    lookUp: (testPayment) =>
      inSnapshot(pool, async (tx) => reportOf(tx, await selectPaidTestCheckout(tx, testPayment))),
    lookUpCheckout: (testCheckout) =>
      inSnapshot(pool, async (tx) => reportOf(tx, await selectTestCheckout(tx, testCheckout))),
    refund: ({ processorPayment: testPayment, refundId, amount }) =>
      inTransaction(pool, async (tx) => {
        const paid = await selectPaidTestCheckout(tx, testPayment);
        if (paid?.card === null || paid === undefined || !TEST_CARDS[paid.card].takesRefunds) return 'declined';
        // Like a real processor, it answers a repeat as it answered the first request.
        const before = (await selectTestRefunds(tx, testPayment)).some((one) => one.refund_id === refundId);
        if (before) return 'asked';
        const isBegun = await insertTestRefund(tx, { testRefund: newTestRefund(), testPayment, refundId, amount });
        if (!isBegun) return 'declined';
        await insertTestEvent(tx, refundEvent(testPayment));
        return 'asked';
      }),
  };
}

/** The report of a checkout's payment; undefined until somebody has paid. */
async function reportOf(tx: Queryable, checkout: TestCheckoutRow | undefined): Promise<PaymentReport | undefined> {
  if (checkout?.test_payment === null || checkout === undefined) return undefined;
  const testPayment = checkout.test_payment;
  const refunds = await selectTestRefunds(tx, testPayment);
  const movements = await selectTestMovements(tx, testPayment);
  return {
    processorPayment: testPayment,
    checkoutId: checkout.checkout_id,
    received: { amount: microsFromRow(checkout.amount_micros), currency: checkout.currency },
    refunds: refunds.map((row) => ({
      processorRefund: row.test_refund,
      refundId: row.refund_id ?? undefined,
      amount: microsFromRow(row.amount_micros),
      state: row.state,
    })),
    disputeMovements: movements.map((row) => ({
      processorMovement: row.test_movement,
      amount: microsFromRow(row.amount_micros),
      isReinstated: row.is_reinstated,
    })),
  };
}
