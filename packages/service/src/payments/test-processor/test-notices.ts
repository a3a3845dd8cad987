import { inTransaction, type Pool, type Queryable } from '#db/pool.ts';
import type { Clock } from '#kernel/clock.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { Refusal } from '#kernel/refusal.ts';
import { repeat } from '#kernel/repeat.ts';
import type { Notices } from '#payments/notices.ts';
import { signNotice } from '#payments/test-processor/notices.ts';
import {
  chargeBackWhatIsLeft,
  claimTestEvents,
  deleteTestEvent,
  payTestRefunds,
  refundWhatIsLeft,
  reinstateChargebacks,
  type TestEventRow,
} from '#payments/test-processor/queries.ts';

interface TestNoticesOptions {
  readonly pool: Pool;
  readonly key: Buffer;
  readonly clock: Clock;
  readonly log: Log;
  /** Takes them, as it takes those that come by HTTP. */
  readonly notices: Pick<Notices, 'take'>;
}

const PERIOD_MS = 250;
const EVENTS_MAX = 20;
/** A notice that was not taken is sent again after so long, this many times. */
const RETRY_MS = 5_000;
const ATTEMPTS_MAX = 100;

/** Does what is due at the test processor and tells of it, in any process, one notice at least once. */
export function startTestNotices(options: TestNoticesOptions): { readonly stop: () => Promise<void> } {
  const { pool, key, clock, log, notices } = options;

  async function act(event: TestEventRow): Promise<void> {
    const { test_event: testEvent, test_payment: testPayment, type } = event;
    await inTransaction(pool, (tx) => happen(tx, event));
    const { body, headers } = signNotice(key, clock, { noticeId: testEvent, type, processorPayment: testPayment });
    try {
      const taken = await notices.take(body, headers);
      if (taken instanceof Refusal) throw new Error('It was refused.');
      await deleteTestEvent(pool, testEvent, 0);
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'a notice of the test processor was not taken');
      await deleteTestEvent(pool, testEvent, ATTEMPTS_MAX);
    }
  }

  async function turn(): Promise<void> {
    try {
      for (const event of await claimTestEvents(pool, EVENTS_MAX, RETRY_MS)) await act(event);
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'the test processor could not work');
    }
  }

  return repeat(turn, PERIOD_MS);
}

/** What the bank does by an event. Repeated, it is the same as once. */
async function happen(tx: Queryable, { type, ...event }: TestEventRow): Promise<void> {
  const { test_event: testEvent, test_payment: testPayment } = event;
  if (type === 'refund.made') await refundWhatIsLeft(tx, testEvent, testPayment);
  if (type === 'refund.paid') await payTestRefunds(tx, testPayment);
  if (type === 'chargeback.made') await chargeBackWhatIsLeft(tx, testEvent, testPayment);
  if (type === 'chargeback.won') await reinstateChargebacks(tx, testEvent, testPayment);
}
