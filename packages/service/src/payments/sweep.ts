import type { Pool } from '#db/pool.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/repeat.ts';
import { sleep } from '#kernel/sleep.ts';
import { bringToBooks } from '#payments/notices.ts';
import {
  type AskedRefund,
  claimCheckouts,
  claimRefunds,
  deleteOldNotices,
  endLooks,
  type UnheardCheckout,
} from '#payments/operator-queries.ts';
import type { Processor } from '#payments/processor.ts';
import { createAsker } from '#payments/refund-asker.ts';

const PERIOD_MS = 60_000;
/** In a pass of one process. */
const LOOKS_MAX = 50;
/** Longer than a checkout stays open, and than a bank takes. */
const CHECKOUT_DAYS = 3;
/** Longer than any processor sends a notice again. */
const NOTICE_DAYS = 40;
/** A look that is answered late, or never, does not keep a process that is to stop. */
const STOP_MS_MAX = 2_000;

interface SweepOptions {
  readonly pool: Pool;
  readonly processor: Processor;
  readonly log: Log;
  readonly periodMs?: number;
}

/**
 * Looks again, so that a lost notice is no lost money: at checkouts of which nothing was heard, and at refunds that nobody
 * has confirmed, which are asked for again where the processor does not know them. Each is given to one process, and
 * the older it is the more seldom.
 */
export function startPaymentSweep({ pool, processor, log, periodMs = PERIOD_MS }: SweepOptions): {
  readonly stop: () => Promise<void>;
} {
  let isStopping = false;
  const passes = repeat(() => sweepPayments({ pool, processor, log }, () => !isStopping), periodMs);
  return {
    stop: async () => {
      isStopping = true;
      await Promise.race([passes.stop(), sleep(STOP_MS_MAX, { ref: false })]);
    },
  };
}

/** One pass. Ends early where `goesOn` says so: what it has claimed is looked at later. */
export async function sweepPayments(options: SweepOptions, goesOn: () => boolean = () => true): Promise<void> {
  const { pool, processor, log } = options;
  const { askOne } = createAsker(options);

  async function lookAtCheckout(checkout: UnheardCheckout): Promise<void> {
    const report = await processor.lookUpCheckout(checkout.processor_checkout);
    if (report !== undefined) await bringToBooks(options, report);
    // Not before the processor has answered: it may have been away all the time that the checkout was younger.
    if (checkout.is_old) await endLooks(pool, checkout.checkout_id);
  }

  async function lookAtRefund(refund: AskedRefund): Promise<void> {
    const report = await processor.lookUp(refund.processor_payment);
    if (report === undefined) {
      // It is another account's, say: what is set aside stays so until somebody has looked.
      return log.error({ refundId: refund.refund_id }, 'the processor does not know the payment of a refund');
    }
    const isKnown = report.refunds.some(
      (one) => one.refundId === refund.refund_id || one.processorRefund === refund.processor_refund,
    );
    if (isKnown) await bringToBooks(options, report);
    else await askOne(refund);
  }

  async function each<Item>(items: readonly Item[], look: (item: Item) => Promise<void>): Promise<void> {
    for (const item of items) {
      if (!goesOn()) return;
      try {
        await look(item);
      } catch (fault) {
        log.warn({ fault: describeFault(fault) }, 'a payment could not be looked up');
      }
    }
  }

  try {
    const checkouts = await claimCheckouts(pool, processor.name, { days: CHECKOUT_DAYS, most: LOOKS_MAX });
    await each(checkouts, lookAtCheckout);
    if (goesOn()) await each(await claimRefunds(pool, processor.name, LOOKS_MAX), lookAtRefund);
    if (goesOn()) await deleteOldNotices(pool, NOTICE_DAYS);
  } catch (fault) {
    log.warn({ fault: describeFault(fault) }, 'payments could not be looked after');
  }
}
