import type { Ground, Stoppable } from '#app/process/ground.ts';
import type { Config } from '#app/settings/config.ts';
import { createEveryCell } from '#http/cells/questions/every-cell.ts';
import { paymentNewsElsewhere } from '#http/cells/money/payment-news.ts';
import type { CellPeers, CellRoute } from '#http/cells/questions/question.ts';
import { systemClock } from '#kernel/time/clock.ts';
import type { CheckoutId } from '#kernel/values/ids.ts';
import { type Checkouts, createCheckouts } from '#payments/checkouts.ts';
import { createLookAgain, type Looked } from '#payments/booking/look-again.ts';
import { createProcessorWebhooks, type ProcessorWebhooks, receiveNews } from '#payments/booking/processor-webhooks.ts';
import type { TellOfPayment } from '#payments/booking/news.ts';
import type { Processor } from '#payments/processor/processor.ts';
import { createRefunds, type Refunds } from '#payments/refunds/refunds.ts';
import { startPaymentSweep } from '#payments/booking/sweep.ts';
import { createTestBank, type TestBank } from '#payments/test-processor/test-bank.ts';
import { startTestWebhooks } from '#payments/test-processor/test-webhooks.ts';
import { createTestProcessor } from '#payments/test-processor/test-processor.ts';

interface PaymentNeeds {
  readonly tellOfPayment: TellOfPayment;
  /** It is undefined if there are no other cells. */
  readonly peers: CellPeers | undefined;
}

/** Everything about payments, through the one processor that is configured. */
export interface Payments extends Stoppable {
  readonly checkouts: Checkouts;
  readonly refunds: Refunds;
  readonly processor: Processor;
  /** Reads a checkout at the processor again. */
  readonly lookAgain: (checkoutId: CheckoutId) => Promise<Looked>;
  readonly tellOfPayment: TellOfPayment;
  readonly processorWebhooks: ProcessorWebhooks;
  /** What other cells may ask. */
  readonly cellRoutes: readonly CellRoute[];
  /** Lists the movements at the processor. It is undefined for a processor without such a list. */
  readonly listMovements: Processor['listMovements'];
  /** The bank of the test processor. It is undefined unless that processor is used. */
  readonly testBank: TestBank | undefined;
}

/** Creates the payment modules and starts their background jobs. Undefined when no processor is configured. */
export async function openPayments(ground: Ground, needs: PaymentNeeds): Promise<Payments | undefined> {
  const { config, keys, clock, log } = ground;
  const pool = ground.pools.planes;
  const { tellOfPayment } = needs;
  const test = { pool, keys: keys.proof('test-processor'), publicUrl: config.publicUrl, clock, log };
  const processor = await processorOf(config, test);
  if (processor === undefined) return undefined;
  const options = { pool, processor, log, tellOfPayment };
  const cells = needs.peers && createEveryCell(needs.peers);
  const tellOthers = cells && paymentNewsElsewhere((event) => receiveNews(options, event), cells);
  const processorWebhooks = createProcessorWebhooks(options, tellOthers);
  const isTest = processor.name === 'test';
  const running = [
    startPaymentSweep(options),
    ...(isTest ? [startTestWebhooks({ ...test, webhooks: processorWebhooks })] : []),
  ];
  return {
    checkouts: createCheckouts({ ...options, publicUrl: config.publicUrl }),
    refunds: createRefunds(options),
    processor,
    lookAgain: createLookAgain(options),
    tellOfPayment,
    processorWebhooks,
    cellRoutes: cells?.routes ?? [],
    listMovements: processor.listMovements,
    testBank: isTest ? createTestBank(pool) : undefined,
    stop: () => Promise.all(running.map(({ stop }) => stop())),
  };
}

/**
 * Returns, for a command, the name of the processor whose movements the books have, and the processor's own list of
 * them. The name is `stripe` if the settings name no processor.
 */
export async function readProcessor({ payments }: Config): Promise<{
  readonly processor: Processor['name'];
  readonly listMovements: Processor['listMovements'];
}> {
  if (payments.processor !== 'stripe') {
    return { processor: payments.processor === 'test' ? 'test' : 'stripe', listMovements: undefined };
  }
  const { createStripe } = await import('#payments/stripe/stripe.ts');
  return { processor: 'stripe', listMovements: createStripe(payments.stripe, systemClock).listMovements };
}

/** The processor that the settings name. Undefined when there is none. */
async function processorOf(
  { payments, environment }: Config,
  test: Parameters<typeof createTestProcessor>[0],
): Promise<Processor | undefined> {
  if (payments.processor === 'stripe') {
    const { createStripe } = await import('#payments/stripe/stripe.ts'); // The library takes 17 MB.
    return createStripe(payments.stripe, test.clock);
  }
  // The settings already refuse the test processor in production. This second check does not depend on them (ON-03).
  return payments.processor === 'test' && environment === 'development' ? createTestProcessor(test) : undefined;
}
