import { insertAuditEntry } from '#audit/queries.ts';
import type { Queryable } from '#db/pool.ts';
import { newPaymentId } from '#kernel/ids.ts';
import { microsFromRow } from '#kernel/micros.ts';
import { createFunding } from '#ledger/funding/funding.ts';
import type { DisputeMovement, PaymentReport, ProcessorName, RefundReport } from '#payments/processor.ts';
import {
  type CheckoutRow,
  insertDisputeMovement,
  insertPayment,
  lockCheckout,
  type PaymentAnomaly,
  type PaymentRow,
  selectMovementsOfPayment,
  selectPaymentsOfCheckout,
  selectRefundsOfPayment,
} from '#payments/queries.ts';
import { bookRefund } from '#payments/refund-booking.ts';

/** What an operator must hear of, by the ids of ours that it is about. */
interface Anomaly {
  readonly what: string;
  readonly subject: string;
}

interface Reconciled {
  /** Payments that are new. */
  readonly booked: PaymentRow['state'][];
  readonly anomalies: Anomaly[];
}

/**
 * Brings our books to what the processor says of one payment, in one transaction of the caller's. Every step is taken
 * once and none is ever taken back by an older report, so the order of reports and their repetition do not matter.
 * Undefined where the payment is none of ours.
 */
export async function reconcile(
  tx: Queryable,
  processor: ProcessorName,
  report: PaymentReport,
): Promise<Reconciled | undefined> {
  const checkout = await lockCheckout(tx, processor, report.checkoutId);
  if (checkout === undefined) return undefined;
  const done: Reconciled = { booked: [], anomalies: [] };
  const known = await selectPaymentsOfCheckout(tx, checkout.checkout_id);
  const payment =
    known.find((one) => one.processor_payment === report.processorPayment) ??
    (await bookPayment(tx, { checkout, processor, report, isSecond: known.length > 0 }, done));
  if (payment === undefined) return done;
  const refunds = await selectRefundsOfPayment(tx, payment.payment_id);
  const moved = await selectMovementsOfPayment(tx, payment.payment_id);
  const bookRefunds = async (reports: readonly RefundReport[]) => {
    for (const refund of reports) await bookRefund(tx, { payment, processor, refunds, report: refund }, done.anomalies);
  };
  const bookMovements = async (isReinstated: boolean) => {
    for (const movement of report.disputeMovements) {
      const isNew = movement.isReinstated === isReinstated && !moved.has(movement.processorMovement);
      if (isNew) await bookMovement(tx, { payment, processor, movement }, done.anomalies);
    }
  };
  // What comes back is booked before what goes out: nobody is suspended for what the same report makes good.
  await bookRefunds(report.refunds.filter(({ state }) => state === 'declined'));
  await bookMovements(true);
  await bookRefunds(report.refunds.filter(({ state }) => state !== 'declined'));
  await bookMovements(false);
  for (const what of report.anomalies ?? []) done.anomalies.push({ what, subject: payment.payment_id });
  return done;
}

interface Received {
  readonly checkout: CheckoutRow;
  readonly processor: ProcessorName;
  readonly report: PaymentReport;
  readonly isSecond: boolean;
}

/** Credits what came, as it came. Undefined while nothing did. */
async function bookPayment(tx: Queryable, received: Received, done: Reconciled): Promise<PaymentRow | undefined> {
  const { checkout, processor, report } = received;
  if (report.received === undefined) return undefined;
  const { amount, currency } = report.received;
  const { app_id: appId, user_id: userId } = checkout;
  const paymentId = newPaymentId();
  let anomaly = anomalyOf(received);
  let isCredited = anomaly === undefined || anomaly === 'amount';
  if (isCredited) {
    const outcome = await createFunding(tx).credit({ appId, userId, kind: 'top_up', amount, key: paymentId });
    if (outcome === 'no_wallet' || outcome === 'too_much') {
      anomaly = outcome;
      isCredited = false;
    }
  }
  const payment = {
    payment_id: paymentId,
    app_id: appId,
    user_id: userId,
    processor_payment: report.processorPayment,
    amount_micros: amount,
    currency,
    state: isCredited ? 'credited' : 'kept',
  } as const;
  await insertPayment(tx, { ...payment, checkout_id: checkout.checkout_id, processor, anomaly });
  if (anomaly !== undefined) {
    const what = isCredited ? 'payment.amount_differs' : 'payment.kept';
    await insertAuditEntry(tx, { actor: 'processor', action: what, subject: paymentId, reason: REASONS[anomaly] });
    done.anomalies.push({ what, subject: paymentId });
  }
  done.booked.push(payment.state);
  return payment;
}

const REASONS: Readonly<Record<PaymentAnomaly, string>> = {
  amount: 'Another amount was paid than was asked for. It is in the wallet as it came.',
  currency: 'It was paid in another currency than was asked for. It is in no wallet.',
  second: 'One checkout was paid twice. The second payment is in no wallet.',
  no_wallet: 'The wallet that it was for is not there. It is in no wallet.',
  too_much: 'The wallet that it was for has no room for it. It is in no wallet.',
};

function anomalyOf({ checkout, report, isSecond }: Received): PaymentAnomaly | undefined {
  if (isSecond) return 'second';
  if (report.received?.currency !== checkout.currency) return 'currency';
  return report.received.amount === microsFromRow(checkout.amount_micros) ? undefined : 'amount';
}

interface Moved {
  readonly payment: PaymentRow;
  readonly processor: ProcessorName;
  readonly movement: DisputeMovement;
}

async function bookMovement(
  tx: Queryable,
  { payment, processor, movement }: Moved,
  anomalies: Anomaly[],
): Promise<void> {
  const { payment_id: paymentId, app_id: appId, user_id: userId } = payment;
  const { processorMovement, amount, isReinstated } = movement;
  const booking = { appId, userId, amount, key: `${processor} ${processorMovement}` }; // No key of an operator has a space.
  let isBooked = payment.state === 'credited';
  if (isBooked) {
    const outcome = isReinstated
      ? await createFunding(tx).credit({ ...booking, kind: 'funds_reinstated' })
      : await createFunding(tx).takeBack({ ...booking, kind: 'claw_back' });
    isBooked = outcome === 'booked';
    if (!isBooked) anomalies.push({ what: `dispute movement was not booked: ${outcome}`, subject: paymentId });
  }
  await insertDisputeMovement(tx, { processor, processorMovement, paymentId, amount, isReinstated, isBooked });
}
