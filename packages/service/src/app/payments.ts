import type { Config } from '#app/config.ts';
import type { Pool } from '#db/pool.ts';
import type { Clock } from '#kernel/clock.ts';
import { deriveKey } from '#kernel/crypto.ts';
import type { Log } from '#kernel/log.ts';
import { Refusal } from '#kernel/refusal.ts';
import { type Checkouts, createCheckouts } from '#payments/checkout.ts';
import { createNotices, type Notices } from '#payments/notices.ts';
import { createRefunds, type Refunds } from '#payments/refund.ts';
import { createTestBank, type TestBank } from '#payments/test-processor/test-bank.ts';
import { startTestNotices } from '#payments/test-processor/test-notices.ts';
import { createTestProcessor } from '#payments/test-processor/test-processor.ts';

interface PaymentsOptions {
  readonly config: Config;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Log;
}

interface Payments {
  readonly checkouts: Checkouts | undefined;
  readonly refunds: Refunds | undefined;
  readonly notices: Notices | undefined;
  readonly testBank: TestBank | undefined;
  readonly stop: () => Promise<void>;
}

/** Payments by the test processor, in development alone (ON-03). */
export function composePayments({ config, pool, clock, log }: PaymentsOptions): Payments {
  if (config.environment !== 'development') {
    return { checkouts: undefined, refunds: undefined, notices: undefined, testBank: undefined, stop: async () => {} };
  }
  const key = deriveKey(config.secret, 'test-processor');
  const processor = createTestProcessor({ pool, key, publicUrl: config.publicUrl, clock });
  const notices = createNotices({ pool, processor, log });
  const bank = startTestNotices({
    pool,
    key,
    clock,
    log,
    deliver: async (body, headers) => {
      if ((await notices.take(body, headers)) instanceof Refusal) throw new Error('The notice was refused.');
    },
  });
  const checkouts = createCheckouts({ pool, processor, publicUrl: config.publicUrl });
  const refunds = createRefunds({ pool, processor, log });
  return { checkouts, refunds, notices, testBank: createTestBank(pool), stop: bank.stop };
}
