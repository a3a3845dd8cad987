import type { Pool } from '#db/pool/pool.ts';
import type { CheckoutId } from '#kernel/values/ids.ts';
import type { Log } from '#kernel/log.ts';
import { openCase } from '#payments/cases/queries.ts';
import type { TellOfPayment } from '#payments/booking/news.ts';
import { type AskedRefund, selectAskedRefunds } from '#payments/refunds/queries.ts';
import type { Processor } from '#payments/processor/processor.ts';
import { bringToBooks } from '#payments/booking/processor-webhooks.ts';
import { selectCheckout, selectPaymentsOfCheckout, selectRefundsOfPayment } from '#payments/records/queries.ts';
import { createAsker } from '#payments/refunds/asker.ts';

interface LookOptions {
  readonly pool: Pool;
  readonly processor: Processor;
  readonly log: Log;
  readonly tellOfPayment?: TellOfPayment;
}

/** Looks a refund up that nobody has confirmed, and asks for it again if the processor does not have it. */
export function createRefundLook(options: LookOptions): (refund: AskedRefund) => Promise<void> {
  const { pool, processor, log } = options;
  const { askOne } = createAsker(options);
  return async (refund) => {
    const report = await processor.lookUp(refund.processor_payment);
    if (report === undefined) {
      // The service may use another account of the processor by now. The money stays set aside until an operator decides.
      await openCase(pool, { kind: 'refund_unknown', payment: refund, subject: refund.refund_id });
      return log.error({ refundId: refund.refund_id }, 'the processor does not know the payment of a refund');
    }
    // Never asked again without this look-up: processors forget idempotency keys, so a blind repeat could pay twice.
    const isKnown = report.refunds.some(
      (one) => one.refundId === refund.refund_id || one.processorRefund === refund.processor_refund,
    );
    if (isKnown) await bringToBooks(options, report);
    else await askOne(refund);
  };
}

/**
 * With `unknown`, the processor in use has no such payment or checkout. With `unpaid`, it knows the checkout, and
 * nobody has paid.
 */
export type Looked = 'looked' | 'unknown' | 'unpaid';

/**
 * Reads everything about a checkout at the processor again and brings the books into line, as a webhook would. Refunds that the
 * processor does not have are asked for again. Throws if the processor cannot be reached.
 */
export function createLookAgain(options: LookOptions): (checkoutId: CheckoutId) => Promise<Looked> {
  const { pool, processor } = options;
  const lookAtRefund = createRefundLook(options);
  return async (checkoutId) => {
    const checkout = await selectCheckout(pool, checkoutId);
    if (checkout === undefined) return 'unknown';
    const payments = await selectPaymentsOfCheckout(pool, checkoutId);
    if (payments.length === 0) {
      if (checkout.processor_checkout === null) return 'unpaid';
      const report = await processor.lookUpCheckout(checkout.processor_checkout);
      if (report?.received === undefined) return 'unpaid';
      return (await bringToBooks(options, report)) ? 'looked' : 'unknown';
    }
    let looked: Looked = 'looked';
    for (const payment of payments) {
      const report = await processor.lookUp(payment.processor_payment);
      if (report === undefined || !(await bringToBooks(options, report))) looked = 'unknown';
      const refunds = await selectRefundsOfPayment(pool, payment.payment_id);
      const asked = refunds.filter(({ state }) => state === 'asked').map(({ refund_id: refundId }) => refundId);
      for (const refund of await selectAskedRefunds(pool, asked)) await lookAtRefund(refund);
    }
    return looked;
  };
}
