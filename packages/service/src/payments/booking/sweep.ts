import type { Pool } from '#db/pool/pool.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/time/repeat.ts';
import { sleep } from '#kernel/time/sleep.ts';
import { bringToBooks } from '#payments/booking/processor-webhooks.ts';
import { claimRefunds } from '#payments/refunds/queries.ts';
import {
  claimCheckouts,
  claimMoved,
  deleteOldWebhooks,
  endLooks,
  type UnheardCheckout,
} from '#payments/booking/queries.ts';
import type { TellOfPayment } from '#payments/booking/news.ts';
import type { Processor } from '#payments/processor/processor.ts';
import { createRefundLook } from '#payments/booking/look-again.ts';

const PERIOD_MS = 60_000;
/** The look-ups of each kind in one pass of one process. */
const LOOKS_MAX = 50;
/** The time is longer than a checkout stays open, and longer than a bank takes to confirm. */
const CHECKOUT_DAYS = 3;
/** The time is longer than any processor keeps sending a webhook again. */
const WEBHOOK_DAYS = 40;
/** How long a shutdown waits for a look-up in progress. One that is lost is made again by another pass. */
const STOP_MS_MAX = 2_000;

interface SweepOptions {
  readonly pool: Pool;
  readonly processor: Processor;
  readonly log: Log;
  readonly tellOfPayment?: TellOfPayment;
  readonly periodMs?: number;
}

/**
 * Looks payments up without a webhook, so that a lost webhook is not lost money. It looks at checkouts without a payment, at
 * refunds that nobody has confirmed, and at payments that have come from another cell. A refund that the processor does not know is
 * requested again. Each goes to one process at a time. The older a checkout or a refund is, the less often it is looked at.
 */
export function startPaymentSweep({ periodMs = PERIOD_MS, ...options }: SweepOptions): {
  readonly stop: () => Promise<void>;
} {
  let isStopping = false;
  const passes = repeat(() => sweepPayments(options, () => !isStopping), periodMs);
  return {
    stop: async () => {
      isStopping = true;
      await Promise.race([passes.stop(), sleep(STOP_MS_MAX, { ref: false })]);
    },
  };
}

/** One pass. Ends early when `goesOn` returns false. What it has claimed and not looked at becomes due again. */
export async function sweepPayments(options: SweepOptions, goesOn: () => boolean = () => true): Promise<void> {
  const { pool, processor, log } = options;
  const lookAtRefund = createRefundLook(options);

  async function lookAtCheckout(checkout: UnheardCheckout): Promise<void> {
    const report = await processor.lookUpCheckout(checkout.processor_checkout);
    if (report !== undefined) await bringToBooks(options, report);
    // Only after the processor has answered: it may have been unreachable ever since the checkout was opened.
    if (checkout.is_last) await endLooks(pool, checkout.checkout_id);
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
    if (goesOn()) await each(await claimMoved(pool, processor.name, LOOKS_MAX), lookAtCheckout);
    if (goesOn()) await deleteOldWebhooks(pool, WEBHOOK_DAYS);
  } catch (fault) {
    log.warn({ fault: describeFault(fault) }, 'the payment sweep failed and will run again');
  }
}
