import { inTransaction, type Pool } from '#db/pool/pool.ts';
import { waitForLocks } from '#db/processes/queries.ts';
import type { RefundId } from '#kernel/values/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { microsFromRow } from '#kernel/values/micros.ts';
import { type AskedRefund, selectAskedRefunds } from '#payments/refunds/queries.ts';
import type { Processor } from '#payments/processor/processor.ts';
import { lockCheckout } from '#payments/records/queries.ts';
import { releaseRefund } from '#payments/refunds/book-refund.ts';

interface AskerOptions {
  readonly pool: Pool;
  readonly processor: Processor;
  readonly log: Log;
}

/**
 * Asks the processor for refunds whose money is set aside, and releases the money of those that it declines. The request
 * is outside any transaction: a slow processor must not hold locks.
 */
export function createAsker({ pool, processor, log }: AskerOptions) {
  async function askOne(refund: AskedRefund): Promise<'asked' | 'declined'> {
    const answer = await processor.refund({
      refundId: refund.refund_id,
      processorPayment: refund.processor_payment,
      amount: microsFromRow(refund.amount_micros),
      currency: refund.currency,
    });
    if (answer === 'asked') return answer;
    return inTransaction(pool, async (tx) => {
      await waitForLocks(tx);
      await lockCheckout(tx, processor.name, refund.checkout_id);
      const [now] = await selectAskedRefunds(tx, [refund.refund_id]);
      // A webhook may have arrived since. If the refund already has the processor's id, it exists, even if the answer was no.
      if (now === undefined || now.processor_refund !== null) return 'asked';
      const anomalies: { readonly what: string; readonly subject: string }[] = [];
      await releaseRefund(tx, { ...now, state: now.payment_state }, now, anomalies);
      for (const one of anomalies) log.error(one, 'a refund needs an operator');
      return 'declined';
    });
  }

  return {
    askOne,
    ask: async (refundIds: readonly RefundId[]): Promise<'asked' | 'declined'> => {
      let outcome: 'asked' | 'declined' = 'declined';
      for (const refund of await selectAskedRefunds(pool, refundIds)) {
        try {
          if ((await askOne(refund)) === 'asked') outcome = 'asked';
        } catch (fault) {
          // The request may have arrived. The sweep repeats it, and the processor counts one refund id once.
          outcome = 'asked';
          log.warn({ refundId: refund.refund_id, fault: describeFault(fault) }, 'a refund could not be requested yet');
        }
      }
      return outcome;
    },
  };
}
