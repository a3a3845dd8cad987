import { inTransaction, type Pool } from '#db/pool.ts';
import { waitForLocks } from '#db/queries.ts';
import type { RefundId } from '#kernel/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { microsFromRow } from '#kernel/micros.ts';
import { type AskedRefund, selectAskedRefunds } from '#payments/operator-queries.ts';
import type { Processor } from '#payments/processor.ts';
import { lockCheckout } from '#payments/queries.ts';
import { releaseRefund } from '#payments/refund-booking.ts';

interface AskerOptions {
  readonly pool: Pool;
  readonly processor: Processor;
  readonly log: Log;
}

/** Asks the processor, and releases what it declines. */
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
      // Meanwhile its notice may have come, which knows better.
      if (now === undefined || now.processor_refund !== null) return 'asked';
      const anomalies: { readonly what: string; readonly subject: string }[] = [];
      await releaseRefund(tx, now, now, anomalies);
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
          outcome = 'asked'; // It may have been: it is asked for again, which counts once.
          log.warn({ refundId: refund.refund_id, fault: describeFault(fault) }, 'a refund could not be asked for yet');
        }
      }
      return outcome;
    },
  };
}
