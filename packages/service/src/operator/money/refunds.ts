import type { Pool, Queryable } from '#db/pool/pool.ts';
import { unreachable } from '#kernel/faults/assert.ts';
import type { AppId, EndUserId, PaymentId, RefundId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { Repeated } from '#operator/acts/act.ts';
import type { NoteMoney } from '#operator/acts/moving-money.ts';
import { listPayments, type Payment, type Refunds } from '#payments/refunds/refunds.ts';

/** Payments into any wallet. */
export interface AnyPayments {
  /** The newest 100 payments into a wallet, by any processor. */
  readonly list: (appId: AppId, userId: EndUserId) => Promise<readonly Payment[]>;
}

export function createAnyPayments(pool: Pool): AnyPayments {
  return { list: (appId, userId) => listPayments(pool, appId, userId) };
}

interface PaymentRefund {
  readonly appId: AppId;
  readonly userId: EndUserId;
  readonly paymentId: PaymentId;
  readonly amount: Micros;
  readonly key: string;
}

export type PaymentRefusal = Refusal<'NOT_FOUND' | 'CONFLICT' | 'BAD_REQUEST'>;

/**
 * Prepares to pay a payment back through its processor, in the transaction of the act. Returns the refunds to ask for after the
 * commit. The act is recorded even if the processor declines afterwards: the operator has ordered the refund either way.
 */
export async function prepareRefund(
  tx: Queryable,
  refunds: Refunds | undefined,
  refund: PaymentRefund,
  note: NoteMoney,
): Promise<readonly RefundId[] | Repeated<readonly RefundId[]> | PaymentRefusal> {
  if (refunds === undefined) {
    return refuse('CONFLICT', 'This service has no payment processor.', { param: 'paymentId' });
  }
  note({ amount: refund.amount });
  const outcome = await refunds.prepare(tx, refund);
  if (typeof outcome !== 'string') return outcome;
  return outcome === 'repeated' ? new Repeated([]) : refusalOf(outcome);
}

function refusalOf(outcome: 'conflict' | 'declined' | 'no_payment' | 'not_whole' | 'too_much'): PaymentRefusal {
  switch (outcome) {
    case 'conflict':
      return refuse('CONFLICT', 'This idempotency key was used for another refund.', { param: 'idempotencyKey' });
    case 'declined':
      return refuse('CONFLICT', 'The payment processor has declined the refund. Nothing was paid back.');
    case 'no_payment':
      return refuse('NOT_FOUND', 'This wallet has no such payment.', { param: 'paymentId' });
    case 'not_whole':
      return refuse('BAD_REQUEST', 'The amount must be a whole number of the smallest coin that can be paid out.', {
        param: 'amountMicros',
      });
    case 'too_much':
      return refuse('CONFLICT', 'Less than this amount is left of the payment.', { param: 'amountMicros' });
    default:
      return unreachable(outcome);
  }
}
