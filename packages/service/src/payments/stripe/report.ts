import Stripe from 'stripe';
import { parseId } from '#kernel/values/ids.ts';
import { fromMinorUnits } from '#payments/processor/amounts.ts';
import { CHECKOUT_NAME, REFUND_NAME } from '#payments/stripe/metadata-names.ts';
import type { DisputeMovement, PaymentReport, RefundReport } from '#payments/processor/processor.ts';

/** These are more refunds or disputes than any payment has. The library requires a limit. */
const LISTED_MAX = 10_000;
const PAGE = 100;

/**
 * Everything that Stripe knows about a payment now. Undefined if Stripe does not know it, or if it did not begin here: one
 * account may also serve other software.
 */
export async function reportOf(stripe: Stripe, processorPayment: string): Promise<PaymentReport | undefined> {
  const intent = await retrieved(stripe, processorPayment);
  const checkoutId = parseId('checkout', intent?.metadata[CHECKOUT_NAME]);
  if (intent === undefined || checkoutId === undefined) return undefined;
  const currency = intent.currency.toUpperCase();
  const isPaid = intent.status === 'succeeded' && intent.amount_received > 0;
  const of = { payment_intent: intent.id, limit: PAGE };
  const refunds = isPaid ? await stripe.refunds.list(of).autoPagingToArray({ limit: LISTED_MAX }) : [];
  const disputes = isPaid ? await stripe.disputes.list(of).autoPagingToArray({ limit: LISTED_MAX }) : [];
  // Money in a currency other than the payment's cannot be compared with it. It is reported as an anomaly, not booked.
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

/** The payment; undefined only if Stripe says that it does not exist. Every other failure throws and is tried again. */
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

/**
 * Returns the state of a refund. `requires_action` and `pending` count as under way, because the outcome is still open.
 */
function stateOf(status: string | null): RefundReport['state'] {
  if (status === 'succeeded') return 'paid';
  return status === 'failed' || status === 'canceled' ? 'declined' : 'under_way';
}

/**
 * A dispute has up to two movements: the bank takes the money, and later may give it back. Fees are the operator's. If the
 * Stripe account is kept in another currency than the payment, the movement is converted, so the dispute's own amount
 * counts.
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

/** The payment that an event is about; undefined if it is not about a payment. */
export function paymentOf(event: Stripe.Event): string | undefined {
  const about = event.data.object as { readonly object?: string; readonly id?: string };
  if (about.object === 'payment_intent') return about.id;
  return payerPaymentOf(about as { readonly payment_intent?: Named });
}

type Named = string | { readonly id: string } | null;

/** The payment that a session, charge, refund or dispute names, either as an id or as a whole object. */
export function payerPaymentOf({ payment_intent: payment }: { readonly payment_intent?: Named }): string | undefined {
  return typeof payment === 'string' ? payment : (payment?.id ?? undefined);
}
