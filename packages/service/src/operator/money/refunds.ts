import type { Queryable } from '#db/pool/pool.ts';
import type { RefundId } from '#kernel/values/ids.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { Repeated } from '#operator/acts/act.ts';
import type { NoteMoney } from '#operator/acts/moving-money.ts';
import type { Refunds } from '#payments/refunds/refunds.ts';

export type PaymentRefusal = Refusal<'NOT_FOUND' | 'CONFLICT' | 'BAD_REQUEST'>;

/**
 * Prepares to pay a payment back through its processor, in the transaction of the act. Returns the refunds to ask for after the
 * commit. The act is recorded even if the processor declines afterwards: the operator has ordered the refund either way.
 */
export async function prepareRefund(
  tx: Queryable,
  refunds: Refunds | undefined,
  refund: Parameters<Refunds['prepare']>[1],
  note: NoteMoney,
): Promise<readonly RefundId[] | Repeated<readonly RefundId[]> | PaymentRefusal> {
  if (refunds === undefined) {
    return refuse('CONFLICT', 'This service has no payment processor.', { param: 'paymentId' });
  }
  note({ amount: refund.amount });
  const outcome = await refunds.prepare(tx, refund);
  if (typeof outcome !== 'string') return outcome;
  return outcome === 'repeated' ? new Repeated([]) : REFUSALS[outcome];
}

const REFUSALS = {
  conflict: refuse('CONFLICT', 'This idempotency key was used for another refund.', { param: 'idempotencyKey' }),
  declined: refuse('CONFLICT', 'The payment processor has declined the refund. Nothing was paid back.'),
  no_payment: refuse('NOT_FOUND', 'This wallet has no such payment.', { param: 'paymentId' }),
  not_whole: refuse('BAD_REQUEST', 'The amount must be a whole number of the smallest coin that can be paid out.', {
    param: 'amountMicros',
  }),
  too_much: refuse('CONFLICT', 'Less than this amount is left of the payment.', { param: 'amountMicros' }),
} as const;
