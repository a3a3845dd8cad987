import type { Queryable } from '#db/pool/pool.ts';
import { newRefundId } from '#kernel/values/ids.ts';
import { microsFromRow } from '#kernel/values/micros.ts';
import { createFunding } from '#ledger/funding/funding.ts';
import type { ProcessorName, RefundReport } from '#payments/processor/processor.ts';
import { openCase } from '#payments/cases/queries.ts';
import { noteSuspension } from '#payments/cases/suspension.ts';
import { insertRefund, type PaymentRow, type RefundRow, updateRefund } from '#payments/records/queries.ts';

/** One refund in a report, with what we know of its payment. */
interface Reported {
  readonly payment: PaymentRow;
  readonly processor: ProcessorName;
  /** All refunds of the payment that we know. */
  readonly refunds: readonly RefundRow[];
  readonly report: RefundReport;
  /** The owner of the wallet was deleted: money that comes back is for nobody. */
  readonly isOrphaned: boolean;
}

interface Anomalies {
  readonly push: (anomalies: { readonly what: string; readonly subject: string }) => void;
}

/**
 * Books the outcome of one refund, once. The caller has locked the checkout of its payment. A refund is recognised by the
 * processor's id, or by our own id if this is the first report of it.
 */
export async function bookRefund(tx: Queryable, reported: Reported, anomalies: Anomalies): Promise<void> {
  const { payment, refunds, report } = reported;
  const known =
    refunds.find((one) => one.processor_refund === report.processorRefund) ??
    refunds.find((one) => one.processor_refund === null && one.refund_id === report.refundId);
  if (known === undefined) return bookForeign(tx, reported, anomalies);
  if (known.processor_refund === null && known.amount_micros !== report.amount)
    anomalies.push({ what: 'the processor refunded another amount than was asked for', subject: known.refund_id });
  const seen = { ...known, processor_refund: report.processorRefund };
  if (known.state === 'asked') return bookAsked(tx, { payment, refund: seen, report }, anomalies);
  if (known.state === 'paid' && report.state === 'declined') return bookReturned(tx, reported, seen, anomalies);
  // The processor said no when we asked, so the money set aside went back to the wallet. Then it paid the refund after all.
  // That answer had no refund id, so a missing id tells this case from a refund that was made and then failed.
  const isPaidAfterAll = known.state === 'declined' && known.processor_refund === null && report.state !== 'declined';
  if (isPaidAfterAll)
    await updateRefund(tx, { ...seen, state: 'paid', booked_as: await take(tx, payment, seen, anomalies) });
}

/**
 * Books a refund that we did not ask for. One that is under way counts as paid: its money has already left our account at
 * the processor.
 */
async function bookForeign(
  tx: Queryable,
  { payment, processor, report }: Reported,
  anomalies: Anomalies,
): Promise<void> {
  const refund = { refund_id: newRefundId(), amount_micros: report.amount };
  const isDeclined = report.state === 'declined';
  await insertRefund(tx, {
    ...refund,
    payment_id: payment.payment_id,
    app_id: payment.app_id,
    user_id: payment.user_id,
    processor,
    processor_refund: report.processorRefund,
    state: isDeclined ? 'declined' : 'paid',
    booked_as: isDeclined ? null : await take(tx, payment, refund, anomalies),
    is_ours: false,
    request_key: null,
  });
}

/** Books the outcome of a refund that we asked for. One that is under way only gets its processor's id. */
async function bookAsked(
  tx: Queryable,
  {
    payment,
    refund,
    report,
  }: { readonly payment: PaymentRow; readonly refund: RefundRow; readonly report: RefundReport },
  anomalies: Anomalies,
): Promise<void> {
  if (report.state === 'under_way') return updateRefund(tx, refund);
  if (report.state === 'declined') return releaseRefund(tx, payment, refund, anomalies);
  const { app_id: appId, user_id: userId } = payment;
  if (refund.booked_as === 'set_aside') {
    const ended = await createFunding(tx).endSetAside({ appId, userId, kind: 'refund_paid', key: refund.refund_id });
    if (ended === 'booked' || ended === 'repeated') return updateRefund(tx, { ...refund, state: 'paid' });
    anomalies.push({ what: `what was set aside could not be paid out: ${ended}`, subject: refund.refund_id });
  }
  await updateRefund(tx, { ...refund, state: 'paid', booked_as: await take(tx, payment, refund, anomalies) });
}

/** Ends a refund that was declined. The money set aside for it goes back into the wallet. */
export async function releaseRefund(
  tx: Queryable,
  payment: Pick<PaymentRow, 'payment_id' | 'app_id' | 'user_id' | 'state'>,
  refund: RefundRow,
  anomalies: Anomalies,
): Promise<void> {
  const { app_id: appId, user_id: userId } = payment;
  if (refund.booked_as === 'set_aside') {
    const key = refund.refund_id;
    const ended = await createFunding(tx).endSetAside({ appId, userId, kind: 'refund_released', key });
    if (ended === 'too_much') {
      // The wallet is full. The money stays set aside, and the sweep tries again.
      anomalies.push({ what: 'what was set aside could not be released', subject: refund.refund_id });
      await openCase(tx, { kind: 'refund_not_released', payment, subject: refund.refund_id });
      return updateRefund(tx, refund);
    }
  }
  await keepAgain(tx, payment);
  return updateRefund(tx, { ...refund, state: 'declined' });
}

/** The money of a refund that did not go through is here again. If it is in no wallet, a person decides again. */
async function keepAgain(
  tx: Queryable,
  payment: Pick<PaymentRow, 'payment_id' | 'app_id' | 'user_id' | 'state'>,
): Promise<void> {
  if (payment.state === 'kept') await openCase(tx, { kind: 'kept', payment, subject: payment.payment_id });
}

/** Books a refund that was paid and then failed at the payer's bank. Its money goes back into the wallet. */
async function bookReturned(
  tx: Queryable,
  { payment, isOrphaned }: Reported,
  refund: RefundRow,
  anomalies: Anomalies,
): Promise<void> {
  if (refund.booked_as !== null) {
    const back = {
      appId: payment.app_id,
      userId: payment.user_id,
      kind: 'funds_reinstated',
      amount: microsFromRow(refund.amount_micros),
      key: keyOf(refund),
    } as const;
    const outcome = isOrphaned ? 'owner_deleted' : await createFunding(tx).credit(back);
    if (outcome === 'too_much' || outcome === 'no_wallet' || outcome === 'owner_deleted') {
      anomalies.push({ what: `a refund that came back was not booked: ${outcome}`, subject: refund.refund_id });
      await openCase(tx, { kind: 'refund_not_returned', payment, subject: refund.refund_id });
    }
  }
  await keepAgain(tx, payment);
  return updateRefund(tx, { ...refund, state: 'declined' });
}

/**
 * Takes a refund's money from the wallet if none was set aside for it. A balance that is too small suspends the wallet.
 * Does nothing if the payment is in no wallet.
 */
async function take(
  tx: Queryable,
  payment: PaymentRow,
  refund: Pick<RefundRow, 'refund_id' | 'amount_micros'>,
  anomalies: Anomalies,
): Promise<'taken' | null> {
  if (payment.state !== 'credited') return null;
  const { app_id: appId, user_id: userId } = payment;
  const amount = microsFromRow(refund.amount_micros);
  const outcome = await createFunding(tx).takeBack({ appId, userId, kind: 'refund', amount, key: keyOf(refund) });
  if (outcome === 'booked') {
    await noteSuspension(tx, payment, refund.refund_id);
    return 'taken';
  }
  anomalies.push({ what: `a refund was not booked: ${outcome}`, subject: refund.refund_id });
  await openCase(tx, { kind: 'refund_not_taken', payment, subject: refund.refund_id });
  return null;
}

/** The ledger's key of a refund. It contains a space, so it is never an operator's own key. */
function keyOf({ refund_id: refundId }: Pick<RefundRow, 'refund_id'>): string {
  return `payment ${refundId}`;
}
