import type { Queryable } from '#db/pool.ts';
import { newRefundId } from '#kernel/ids.ts';
import { microsFromRow } from '#kernel/micros.ts';
import { createFunding } from '#ledger/funding/funding.ts';
import type { ProcessorName, RefundReport } from '#payments/processor.ts';
import { insertRefund, type PaymentRow, type RefundRow, updateRefund } from '#payments/queries.ts';

interface Reported {
  readonly payment: PaymentRow;
  readonly processor: ProcessorName;
  /** Those of the payment that are known. */
  readonly refunds: readonly RefundRow[];
  readonly report: RefundReport;
}

interface Anomalies {
  readonly push: (anomalies: { readonly what: string; readonly subject: string }) => void;
}

/** Books what became of one refund. The checkout of its payment is locked. */
export async function bookRefund(tx: Queryable, reported: Reported, anomalies: Anomalies): Promise<void> {
  const { payment, refunds, report } = reported;
  const known =
    refunds.find((one) => one.processor_refund === report.processorRefund) ??
    refunds.find((one) => one.processor_refund === null && one.refund_id === report.refundId);
  if (known === undefined) return bookForeign(tx, reported, anomalies);
  const seen = { ...known, processor_refund: report.processorRefund };
  if (known.state === 'asked') return bookAsked(tx, { payment, refund: seen, report }, anomalies);
  if (known.state === 'paid' && report.state === 'declined') return bookReturned(tx, payment, seen, anomalies);
  // We were told that it is declined, and what was set aside has gone back; and then it was paid all the same.
  const isPaidAfterAll = known.state === 'declined' && known.processor_refund === null && report.state !== 'declined';
  if (isPaidAfterAll)
    await updateRefund(tx, { ...seen, state: 'paid', booked_as: await take(tx, payment, seen, anomalies) });
}

/** One that nobody here asked for. What is under way has left our account there already. */
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

/** One that was declined: what was set aside for it goes back into the wallet. */
export async function releaseRefund(
  tx: Queryable,
  { app_id: appId, user_id: userId }: Pick<PaymentRow, 'app_id' | 'user_id'>,
  refund: RefundRow,
  anomalies: Anomalies,
): Promise<void> {
  if (refund.booked_as === 'set_aside') {
    const key = refund.refund_id;
    const ended = await createFunding(tx).endSetAside({ appId, userId, kind: 'refund_released', key });
    if (ended === 'too_much') {
      // It stays set aside and is looked at again.
      anomalies.push({ what: 'what was set aside could not be released', subject: refund.refund_id });
      return updateRefund(tx, refund);
    }
  }
  return updateRefund(tx, { ...refund, state: 'declined' });
}

/** One that was paid and came back. */
async function bookReturned(
  tx: Queryable,
  payment: PaymentRow,
  refund: RefundRow,
  anomalies: Anomalies,
): Promise<void> {
  if (refund.booked_as !== null) {
    const outcome = await createFunding(tx).credit({
      appId: payment.app_id,
      userId: payment.user_id,
      kind: 'funds_reinstated',
      amount: microsFromRow(refund.amount_micros),
      key: keyOf(refund),
    });
    if (outcome === 'too_much' || outcome === 'no_wallet') {
      anomalies.push({ what: `a refund that came back was not booked: ${outcome}`, subject: refund.refund_id });
    }
  }
  return updateRefund(tx, { ...refund, state: 'declined' });
}

/** Takes from the wallet what was not set aside; nothing where the payment is in none. */
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
  if (outcome === 'booked') return 'taken';
  anomalies.push({ what: `a refund was not booked: ${outcome}`, subject: refund.refund_id });
  return null;
}

/** No key of an operator has a space. */
function keyOf({ refund_id: refundId }: Pick<RefundRow, 'refund_id'>): string {
  return `payment ${refundId}`;
}
