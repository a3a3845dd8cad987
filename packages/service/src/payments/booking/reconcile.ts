import { insertAuditEntry } from '#audit/queries.ts';
import { isOwnerDeleted } from '#connections/queries.ts';
import type { Queryable } from '#db/pool/pool.ts';
import { assert } from '#kernel/faults/assert.ts';
import { newPaymentId } from '#kernel/values/ids.ts';
import { microsFromRow } from '#kernel/values/micros.ts';
import { createFunding } from '#ledger/funding/funding.ts';
import { closeSpentCase, openCase } from '#payments/cases/queries.ts';
import type { PaymentNews } from '#payments/booking/news.ts';
import type { DisputeMovement, PaymentReport, ProcessorName, RefundReport } from '#payments/processor/processor.ts';
import {
  type CheckoutRow,
  insertDisputeMovement,
  insertPayment,
  lockCheckout,
  type PaymentAnomaly,
  type PaymentRow,
  type RefundRow,
  selectMovementsOfPayment,
  selectPaymentsOfCheckout,
  selectRefundsOfPayment,
} from '#payments/records/queries.ts';
import { bookRefund } from '#payments/refunds/book-refund.ts';
import { noteSuspension } from '#payments/cases/suspension.ts';

/** Something that an operator must look at, with the id of ours that it is about. */
interface Anomaly {
  readonly what: string;
  readonly subject: string;
}

interface Reconciled {
  /** The states of payments that were new. */
  readonly booked: PaymentRow['state'][];
  /** What moved at the processor, for the metrics. */
  readonly moved: {
    readonly kind: PaymentRow['state'] | 'refunded' | 'clawed_back' | 'reinstated';
    readonly amount: bigint;
  }[];
  readonly anomalies: Anomaly[];
  /** What the payer and the owner of the wallet get mails about. */
  readonly news: PaymentNews[];
}

/**
 * Brings our books into line with what the processor says about one payment, inside the caller's transaction. Each step is
 * taken once, and an older report never undoes one. So reports may come in any order and any number of times, which is how
 * webhooks and the sweep deliver them. Undefined if the payment did not begin here.
 */
export async function reconcile(
  tx: Queryable,
  processor: ProcessorName,
  report: PaymentReport,
): Promise<Reconciled | undefined> {
  const checkout = await lockCheckout(tx, processor, report.checkoutId);
  if (checkout === undefined) return undefined;
  const { app_id: appId, user_id: userId, created_at: since } = checkout;
  const isOrphaned = await isOwnerDeleted(tx, { appId, userId }, since);
  const done: Reconciled = { booked: [], moved: [], anomalies: [], news: [] };
  // The lock above makes reports of one checkout take turns: what is read from here on stays true until the commit.
  const known = await selectPaymentsOfCheckout(tx, checkout.checkout_id);
  const payment =
    known.find((one) => one.processor_payment === report.processorPayment) ??
    (await bookPayment(tx, { checkout, processor, report, isSecond: known.length > 0, isOrphaned }, done));
  if (payment === undefined) return done;
  const refunds = await selectRefundsOfPayment(tx, payment.payment_id);
  const moved = await selectMovementsOfPayment(tx, payment.payment_id);
  const bookRefunds = async (reports: readonly RefundReport[]) => {
    for (const refund of reports) {
      await bookRefund(tx, { payment, processor, refunds, report: refund, isOrphaned }, done.anomalies);
    }
  };
  const bookMovements = async (isReinstated: boolean) => {
    for (const movement of report.disputeMovements) {
      const isNew = movement.isReinstated === isReinstated && !moved.has(movement.processorMovement);
      if (!isNew) continue;
      await bookMovement(tx, { payment, processor, movement, isOrphaned }, done.anomalies);
      done.moved.push({ kind: isReinstated ? 'reinstated' : 'clawed_back', amount: movement.amount });
    }
  };
  // Money that comes back is booked before money that goes out. The other way round, the wallet could be suspended for a
  // shortfall that the same report makes good.
  await bookRefunds(report.refunds.filter(({ state }) => state === 'declined'));
  await bookMovements(true);
  await bookRefunds(report.refunds.filter(({ state }) => state !== 'declined'));
  await bookMovements(false);
  if (report.refunds.length > 0) {
    const after = await selectRefundsOfPayment(tx, payment.payment_id);
    const news = newsOfRefunds(checkout, refunds, after);
    done.news.push(...news);
    for (const { kind, amount } of news) if (kind === 'refunded') done.moved.push({ kind, amount });
  }
  for (const what of report.anomalies ?? []) {
    done.anomalies.push({ what, subject: payment.payment_id });
    const subject = `${payment.payment_id} ${what}`;
    await openCase(tx, { kind: 'other_currency', payment, subject }, { isOnce: true });
  }
  if (payment.state === 'kept') await closeSpentCase(tx, payment.payment_id);
  return done;
}

interface Received {
  readonly checkout: CheckoutRow;
  readonly processor: ProcessorName;
  readonly report: PaymentReport;
  readonly isSecond: boolean;
  /** The owner of the wallet was deleted. */
  readonly isOrphaned: boolean;
}

/**
 * Books a payment and credits it to its wallet. Undefined until something was paid. A wrong amount is credited as it was
 * paid: it is the payer's money either way. In all other cases of `anomalyOf`, no wallet gets it and an operator decides.
 */
async function bookPayment(tx: Queryable, received: Received, done: Reconciled): Promise<PaymentRow | undefined> {
  const { checkout, processor, report } = received;
  if (report.received === undefined) return undefined;
  const { amount, currency } = report.received;
  assert(amount > 0n, 'a payment is more than none');
  const { app_id: appId, user_id: userId } = checkout;
  const paymentId = newPaymentId(); // Also the key of the ledger's entry, so that no payment is credited twice.
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
    await insertAuditEntry(tx, {
      actor: 'processor',
      action: what,
      subject: paymentId,
      reason: REASONS[anomaly],
      amount,
      after: { currency }, // Not always that of the service.
    });
    done.anomalies.push({ what, subject: paymentId });
  }
  if (!isCredited) await openCase(tx, { kind: 'kept', payment, subject: paymentId });
  done.booked.push(payment.state);
  done.moved.push({ kind: payment.state, amount });
  if (isCredited) done.news.push(newsOf(checkout, { kind: 'paid', amount, reference: paymentId }));
  return payment;
}

type Told = Pick<PaymentNews, 'kind' | 'amount' | 'reference'>;

function newsOf(
  { app_id: appId, user_id: userId, identity_id: payer, currency }: CheckoutRow,
  told: Told,
): PaymentNews {
  return { ...told, appId, userId, payer: payer ?? undefined, currency };
}

/** Refunds that have left for the payer, or have failed, since `before`. */
function newsOfRefunds(
  checkout: CheckoutRow,
  before: readonly RefundRow[],
  after: readonly RefundRow[],
): readonly PaymentNews[] {
  return after.flatMap(({ refund_id: reference, state, amount_micros: amount }) => {
    const was = before.find((one) => one.refund_id === reference)?.state;
    if (state === was || state === 'asked') return [];
    if (state === 'declined' && was === undefined) return []; // It was made and failed at the processor. Nobody here asked for it.
    const kind = state === 'paid' ? 'refunded' : 'refund_failed';
    return [newsOf(checkout, { kind, amount: microsFromRow(amount), reference })];
  });
}

/** The reason in the audit trail. It is all that an operator sees there, so each says where the money is. */
const REASONS: Readonly<Record<PaymentAnomaly, string>> = {
  amount: 'The amount paid differs from the amount requested. The amount paid is in the wallet.',
  currency: 'The payment is in a currency other than the one requested. It is in no wallet.',
  second: 'The checkout was paid twice. The second payment is in no wallet.',
  no_wallet: 'The wallet does not exist. The payment is in no wallet.',
  owner_deleted: 'The owner of the wallet was deleted. The payment is in no wallet.',
  too_much: 'The wallet would exceed the largest possible balance. The payment is in no wallet.',
};

function anomalyOf({ checkout, report, isSecond, isOrphaned }: Received): PaymentAnomaly | undefined {
  if (isSecond) return 'second';
  if (report.received?.currency !== checkout.currency) return 'currency';
  if (isOrphaned) return 'owner_deleted';
  return report.received.amount === microsFromRow(checkout.amount_micros) ? undefined : 'amount';
}

/** A dispute's movement, with the payment that it is about. */
interface Moved {
  readonly payment: PaymentRow;
  readonly processor: ProcessorName;
  readonly movement: DisputeMovement;
  readonly isOrphaned: boolean;
}

/**
 * Books one movement of a dispute, once. The row is written even if the wallet could not follow, so that the next report
 * does not try again; the anomaly tells an operator.
 */
async function bookMovement(
  tx: Queryable,
  { payment, processor, movement: reported, isOrphaned }: Moved,
  anomalies: Anomaly[],
): Promise<void> {
  const { payment_id: paymentId, app_id: appId, user_id: userId } = payment;
  const { processorMovement, amount, isReinstated } = reported;
  // An operator's key cannot contain a space, so this key is never one of theirs.
  const booking = { appId, userId, amount, key: `${processor} ${processorMovement}` };
  let isBooked = payment.state === 'credited';
  if (isBooked && isReinstated && isOrphaned) {
    isBooked = false;
    anomalies.push({ what: 'a dispute movement was not booked: owner_deleted', subject: paymentId });
  } else if (isBooked) {
    const outcome = isReinstated
      ? await createFunding(tx).credit({ ...booking, kind: 'funds_reinstated' })
      : await createFunding(tx).takeBack({ ...booking, kind: 'claw_back' });
    isBooked = outcome === 'booked';
    if (!isBooked) anomalies.push({ what: `a dispute movement was not booked: ${outcome}`, subject: paymentId });
  }
  const movement = { processor, processorMovement, paymentId, amount, isReinstated, isBooked };
  const subject = await insertDisputeMovement(tx, movement);
  if (payment.state === 'kept') {
    if (isReinstated) await openCase(tx, { kind: 'kept', payment, subject: paymentId });
  } else if (!isBooked) await openCase(tx, { kind: 'dispute_not_booked', payment, subject });
  else if (!isReinstated) await noteSuspension(tx, payment, subject);
}
