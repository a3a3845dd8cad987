import Stripe from 'stripe';
import { parseId } from '#kernel/ids.ts';
import { fromMinorUnits } from '#payments/amounts.ts';
import type { DisputeMovement, PaymentReport, RefundReport } from '#payments/processor.ts';

/** Under what our ids are kept in Stripe's metadata. */
export const CHECKOUT_NAME = 'purser_checkout';
export const REFUND_NAME = 'purser_refund';

/** More than any payment has: of a longer list nothing would be believed. */
const LISTED_MAX = 10_000;
const PAGE = 100;

/** Everything that Stripe has of a payment now. Undefined: it has none, or one that was not begun here. */
export async function reportOf(stripe: Stripe, processorPayment: string): Promise<PaymentReport | undefined> {
  const intent = await retrieved(stripe, processorPayment);
  const checkoutId = parseId('checkout', intent?.metadata[CHECKOUT_NAME]);
  if (intent === undefined || checkoutId === undefined) return undefined;
  const currency = intent.currency.toUpperCase();
  const isPaid = intent.status === 'succeeded' && intent.amount_received > 0;
  const of = { payment_intent: intent.id, limit: PAGE };
  const refunds = isPaid ? await stripe.refunds.list(of).autoPagingToArray({ limit: LISTED_MAX }) : [];
  const disputes = isPaid ? await stripe.disputes.list(of).autoPagingToArray({ limit: LISTED_MAX }) : [];
  const isIn = (moved: { readonly currency: string }) => moved.currency === intent.currency;
  return {
    processorPayment: intent.id,
    checkoutId,
    received: isPaid ? { amount: fromMinorUnits(intent.amount_received, currency), currency } : undefined,
    refunds: refunds.filter(isIn).map(refundOf),
    disputeMovements: disputes.filter(isIn).flatMap(movementsOf),
    anomalies: [...refunds, ...disputes]
      .filter((one) => !isIn(one))
      .map(({ object }) => `a ${object} in another currency`),
  };
}

async function retrieved(stripe: Stripe, payment: string): Promise<Stripe.PaymentIntent | undefined> {
  try {
    return await stripe.paymentIntents.retrieve(payment);
  } catch (fault) {
    if (fault instanceof Stripe.errors.StripeInvalidRequestError && fault.statusCode === 404) return undefined;
    throw fault;
  }
}

function refundOf(refund: Stripe.Refund): RefundReport {
  return {
    processorRefund: refund.id,
    refundId: parseId('refund', refund.metadata?.[REFUND_NAME]),
    amount: fromMinorUnits(refund.amount, refund.currency.toUpperCase()),
    state: stateOf(refund.status),
  };
}

function stateOf(status: string | null): RefundReport['state'] {
  if (status === 'succeeded') return 'paid';
  return status === 'failed' || status === 'canceled' ? 'declined' : 'under_way';
}

/**
 * A dispute has up to two movements: the bank takes money, and gives it back. Fees are the operator's. Where Stripe keeps its
 * accounts in another currency than was paid in, the dispute's own amount is what moved.
 */
function movementsOf({
  amount,
  currency,
  balance_transactions: movements,
}: Stripe.Dispute): readonly DisputeMovement[] {
  return movements
    .filter((movement) => movement.amount !== 0)
    .map((movement) => ({
      processorMovement: movement.id,
      amount: fromMinorUnits(
        movement.currency === currency ? Math.abs(movement.amount) : amount,
        currency.toUpperCase(),
      ),
      isReinstated: movement.amount > 0,
    }));
}

/** The payment that a notice is about; undefined for a notice that is about none. */
export function paymentOf(event: Stripe.Event): string | undefined {
  const about = event.data.object as { readonly object?: string; readonly id?: string };
  if (about.object === 'payment_intent') return about.id;
  return payerPaymentOf(about as { readonly payment_intent?: Named });
}

type Named = string | { readonly id: string } | null;

export function payerPaymentOf({ payment_intent: payment }: { readonly payment_intent?: Named }): string | undefined {
  return typeof payment === 'string' ? payment : (payment?.id ?? undefined);
}
