import type { Config } from '#app/config.ts';
import type { Pool } from '#db/pool.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { type Checkouts, createCheckouts } from '#payments/checkout.ts';
import { createNotices, type Notices } from '#payments/notices.ts';
import type { Processor } from '#payments/processor.ts';
import { createRefunds, type Refunds } from '#payments/refund.ts';
import { createStripe } from '#payments/stripe/stripe.ts';
import { startPaymentSweep } from '#payments/sweep.ts';

interface PaymentsOptions {
  readonly config: Config;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Log;
}

/** Payments by the one processor that the service has. */
export interface Payments {
  readonly checkouts: Checkouts;
  readonly refunds: Refunds;
  readonly notices: Notices;
  readonly stop: () => Promise<void>;
}

/** Undefined: nobody can pay. */
export function composePayments({ config, pool, clock, log }: PaymentsOptions): Payments | undefined {
  const processor = processorOf(config, clock);
  if (processor === undefined) return undefined;
  const options = { pool, processor, log };
  const sweep = startPaymentSweep(options);
  return {
    checkouts: createCheckouts({ ...options, publicUrl: config.publicUrl }),
    refunds: createRefunds(options),
    notices: createNotices(options),
    stop: sweep.stop,
  };
}

function processorOf({ payments }: Config, clock: Clock): Processor | undefined {
  return payments.processor === 'stripe' ? createStripe(payments.stripe, clock) : undefined;
}
