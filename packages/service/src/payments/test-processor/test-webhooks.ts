import { inTransaction, type Pool, type Queryable } from '#db/pool/pool.ts';
import type { Clock } from '#kernel/time/clock.ts';
import type { ProofKeys } from '#kernel/crypto/keys.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import { repeat } from '#kernel/time/repeat.ts';
import type { ProcessorWebhooks } from '#payments/booking/processor-webhooks.ts';
import { signWebhook } from '#payments/test-processor/signed-webhooks.ts';
import {
  chargeBackWhatIsLeft,
  claimTestEvents,
  deleteTestEvent,
  payTestRefunds,
  refundWhatIsLeft,
  reinstateChargebacks,
  type TestEventRow,
} from '#payments/test-processor/queries.ts';

interface TestWebhooksOptions {
  readonly pool: Pool;
  readonly keys: ProofKeys;
  readonly clock: Clock;
  readonly log: Log;
  /** Receives them in the same way as webhooks that arrive over HTTP. */
  readonly webhooks: Pick<ProcessorWebhooks, 'receive'>;
}

const PERIOD_MS = 250;
const EVENTS_MAX = 20;
/** How soon a webhook that was not accepted is sent again, and how often at most. */
const RETRY_MS = 5_000;
const ATTEMPTS_MAX = 100;

/** Carries out what is due at the test processor and reports it, each event at least once. Any process may do it. */
export function startTestWebhooks(options: TestWebhooksOptions): { readonly stop: () => Promise<void> } {
  const { pool, keys, clock, log, webhooks } = options;

  async function act(event: TestEventRow): Promise<void> {
    const { test_event: testEvent, test_payment: testPayment, type } = event;
    // The effect first: the receiver looks the payment up as soon as it hears of it.
    await inTransaction(pool, (tx) => happen(tx, event));
    const { body, headers } = signWebhook(keys, clock, { eventId: testEvent, type, processorPayment: testPayment });
    try {
      const received = await webhooks.receive(body, headers);
      if (received instanceof Refusal) throw new Error('The webhook was refused.');
      await deleteTestEvent(pool, testEvent, 0);
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'a webhook of the test processor was not accepted');
      await deleteTestEvent(pool, testEvent, ATTEMPTS_MAX);
    }
  }

  async function turn(): Promise<void> {
    try {
      for (const event of await claimTestEvents(pool, EVENTS_MAX, RETRY_MS)) await act(event);
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'the test processor failed and will try again');
    }
  }

  return repeat(turn, PERIOD_MS);
}

/** What the bank does when an event is due. Doing it twice has the same effect as once. */
async function happen(tx: Queryable, { type, ...event }: TestEventRow): Promise<void> {
  const { test_event: testEvent, test_payment: testPayment } = event;
  if (type === 'refund.made') await refundWhatIsLeft(tx, testEvent, testPayment);
  if (type === 'refund.paid') await payTestRefunds(tx, testPayment);
  if (type === 'chargeback.made') await chargeBackWhatIsLeft(tx, testEvent, testPayment);
  if (type === 'chargeback.won') await reinstateChargebacks(tx, testEvent, testPayment);
}
