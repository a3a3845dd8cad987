import type { Pool } from '#db/pool.ts';
import { unreachable } from '#kernel/assert.ts';
import type { AppId, EndUserId, PaymentId, RefundId } from '#kernel/ids.ts';
import type { Micros } from '#kernel/micros.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';
import { audited, type NamedAct, Repeated } from '#operator/acts.ts';
import { listPayments, type Payment, type Refunds } from '#payments/refund.ts';

/** Payments into any wallet. */
export interface AnyPayments {
  /** The newest 100. */
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

/** Has a payment paid back. Undefined: the processor is asked, or was before under the same key. */
export async function refundPayment(
  { pool, refunds }: { readonly pool: Pool; readonly refunds: Refunds | undefined },
  act: NamedAct,
  refund: PaymentRefund,
): Promise<PaymentRefusal | undefined> {
  if (refunds === undefined) return refuse('CONFLICT', 'There is no payment processor.', { param: 'paymentId' });
  const prepared = await audited<readonly RefundId[] | PaymentRefusal>(pool, act, async (tx) => {
    const outcome = await refunds.prepare(tx, refund);
    if (typeof outcome !== 'string') return outcome;
    return outcome === 'repeated' ? new Repeated([]) : refusalOf(outcome);
  });
  if (prepared instanceof Refusal) return prepared;
  // After the transaction: nothing waits for the processor.
  const isDeclined = prepared.length > 0 && (await refunds.ask(prepared)) === 'declined';
  return isDeclined ? refusalOf('declined') : undefined;
}

function refusalOf(outcome: 'conflict' | 'declined' | 'no_payment' | 'not_whole' | 'too_much'): PaymentRefusal {
  switch (outcome) {
    case 'conflict':
      return refuse('CONFLICT', 'This idempotency key stands for another refund.', { param: 'idempotencyKey' });
    case 'declined':
      return refuse('CONFLICT', 'The payment processor has declined the refund. Nothing was paid back.');
    case 'no_payment':
      return refuse('NOT_FOUND', 'This wallet has no such payment.', { param: 'paymentId' });
    case 'not_whole':
      return refuse('BAD_REQUEST', 'The amount is not one that can be paid out: it has parts of the smallest coin.', {
        param: 'amountMicros',
      });
    case 'too_much':
      return refuse('CONFLICT', 'The payment has less left than that.', { param: 'amountMicros' });
    default:
      return unreachable(outcome);
  }
}
