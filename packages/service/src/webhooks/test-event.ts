import { type EventType, TEST_EVENT_PREFIX } from '@purser/contract/webhooks.ts';
import { type Owner, ownersEntry } from '#audit/entry.ts';
import { insertAuditEntry } from '#audit/queries.ts';
import { inTransaction, type Pool } from '#db/pool.ts';
import { type Clock, isoOf } from '#kernel/clock.ts';
import type { AppId } from '#kernel/ids.ts';
import { randomBytes } from '#kernel/random.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';
import type { AttemptOutcome, Courier } from '#webhooks/deliver.ts';
import { type SubscriptionRow, selectSubscription } from '#webhooks/queries.ts';
import type { SigningSecrets } from '#webhooks/signing-secret.ts';

/** A test event that was sent, and how its one attempt ended. */
interface SentTest extends AttemptOutcome {
  readonly eventId: string;
  readonly type: EventType;
  readonly body: string;
}

/**
 * Sends an event that tells of no change to the app's endpoint, once, signed like every other (WH-10). It is not stored, so
 * it counts neither as a failure nor as a success (WH-12). Its id begins with `evt_test_`. It works while the endpoint is
 * disabled, so that an owner can try it before enabling it. Undefined without a subscription.
 */
export type SendTest = (
  owner: Owner,
  appId: AppId,
  type: EventType,
) => Promise<SentTest | Refusal<'CONFLICT' | 'TOO_MANY_REQUESTS'> | undefined>;

interface SendTestOptions {
  readonly pool: Pool;
  readonly courier: Courier;
  readonly secrets: SigningSecrets;
  readonly clock: Clock;
  readonly currency: string;
  /** How often one app may send a test: an owner chooses where it goes, and we send it. */
  readonly pace: (appId: AppId) => Refusal<'TOO_MANY_REQUESTS'> | undefined;
}

/** No user of an app: its events must not change anybody's account there, even if a receiver does not look at the id. */
const TEST_USER = 'test-event';
const TEST_BALANCE = 5_000_000;
const TEST_THRESHOLD = 1_000_000n;

export function createSendTest({ pool, courier, secrets, clock, currency, pace }: SendTestOptions): SendTest {
  return async (owner, appId, type) => {
    const row = await selectSubscription(pool, appId);
    if (row === undefined) return undefined;
    const tooFast = pace(appId);
    if (tooFast !== undefined) return tooFast;
    const secret = secrets.open(appId, row.sealed_secret);
    if (secret === undefined) {
      return refuse('CONFLICT', 'The signing secret cannot be opened any more. Make a new one, then test again.');
    }
    const eventId = TEST_EVENT_PREFIX + randomBytes(16).toString('hex');
    const createdAt = isoOf(clock.nowMs());
    const body = JSON.stringify({ id: eventId, type, createdAt, appId, data: dataOf(type, row, currency, createdAt) });
    await inTransaction(pool, (tx) => {
      const after = { type, endpointHost: new URL(row.endpoint_url).host };
      return insertAuditEntry(tx, ownersEntry(owner, { action: 'webhook.test', subject: appId, appId, after }));
    });
    const delivery = { eventId, type, body: Buffer.from(body), attempt: 1, endpointUrl: row.endpoint_url, secret };
    const outcome = await courier.deliver(delivery, new AbortController().signal);
    if (outcome === undefined) throw new Error('Nobody ends a test event but its own time limit.');
    return { eventId, type, body, ...outcome };
  };
}

/** The data of each type, as its own function in SQL writes it (WH-08). */
function dataOf(type: EventType, row: SubscriptionRow, currency: string, at: string): object {
  const userId = TEST_USER;
  switch (type) {
    case 'connection.created':
      return { userId, connectedAt: at };
    case 'topup.completed':
      return { userId, balanceMicros: TEST_BALANCE, availableMicros: TEST_BALANCE, currency };
    case 'balance.low': {
      const threshold = row.low_balance_threshold_micros ?? TEST_THRESHOLD;
      return { userId, availableMicros: Number(threshold - 1n), thresholdMicros: Number(threshold), currency };
    }
  }
}
