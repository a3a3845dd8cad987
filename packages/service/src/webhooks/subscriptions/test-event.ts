import { type EventType, TEST_EVENT_PREFIX } from '@purser/contract/webhooks.ts';
import { type Owner, ownersEntry } from '#audit/entry.ts';
import { insertAuditEntry } from '#audit/queries.ts';
import { inTransaction, type Pool } from '#db/pool/pool.ts';
import { type Clock, isoOf } from '#kernel/time/clock.ts';
import type { AppId } from '#kernel/values/ids.ts';
import { randomBytes } from '#kernel/crypto/random.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { AttemptOutcome, Courier } from '#webhooks/delivery/deliver.ts';
import { copyTest } from '#webhooks/listeners/queries.ts';
import { selectSubscription, type SubscriptionRow } from '#webhooks/subscriptions/queries.ts';
import type { SigningSecrets } from '#webhooks/delivery/signing-secret.ts';

/** A test event that was sent. */
export interface SentTest {
  readonly eventId: string;
  readonly type: EventType;
  readonly body: string;
  /** How the one attempt ended. Undefined if nothing was sent to an endpoint. */
  readonly attempt: AttemptOutcome | undefined;
  /** Why nothing was sent to an endpoint. */
  readonly passedOver: PassedOver | undefined;
  /** How many listeners were given a copy. */
  readonly listeners: number;
}

/**
 * Sends an event that tells of no change to the app's endpoint, once, signed like every other (WH-10), and gives a copy to
 * every listener (`purser listen`), also of a type that it did not ask for. It is not stored, so it counts neither as a failure nor as a
 * success (WH-12). Its id begins with `evt_test_`. An endpoint that is disabled, or does not subscribe to the type, gets none (WH-03).
 * Then it goes to listeners only, and if there is none it is refused: with `NOT_FOUND` without an endpoint, else with `CONFLICT`.
 */
export type SendTest = (
  owner: Owner,
  appId: AppId,
  type: EventType,
) => Promise<SentTest | Refusal<'CONFLICT' | 'TOO_MANY_REQUESTS' | 'NOT_FOUND'>>;

type PassedOver = 'no_endpoint' | 'disabled' | 'not_subscribed';

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
const NOWHERE =
  'This app has no webhook, and no `purser listen` is running for it. Start one of the two, then test again.';
const DISABLED =
  'The endpoint is disabled, so nothing is sent to it. Enable it again by saving it (`PUT /apps/{appId}/webhook`), then test again. A running `purser listen` gets test events meanwhile.';

export function createSendTest({ pool, courier, secrets, clock, currency, pace }: SendTestOptions): SendTest {
  return async (owner, appId, type) => {
    const tooFast = pace(appId);
    if (tooFast !== undefined) return tooFast;
    const row = await selectSubscription(pool, appId);
    const passedOver = whyPassedOver(row, type);
    const target = passedOver === undefined ? row : undefined;
    const secret = target === undefined ? undefined : secrets.open(appId, target.sealed_secret);
    if (target !== undefined && secret === undefined) {
      return refuse('CONFLICT', 'The signing secret cannot be opened any more. Make a new one, then test again.');
    }
    const eventId = TEST_EVENT_PREFIX + randomBytes(16).toString('hex');
    const createdAt = isoOf(clock.nowMs());
    const body = JSON.stringify({ id: eventId, type, createdAt, appId, data: dataOf(type, row, currency, createdAt) });
    const event = { eventId, type, body: Buffer.from(body) };
    const listeners = await inTransaction(pool, async (tx) => {
      const copied = await copyTest(tx, appId, event);
      if (target === undefined && copied === 0) return 0;
      const endpointHost = target === undefined ? null : new URL(target.endpoint_url).host;
      const after = { type, endpointHost, listeners: copied };
      await insertAuditEntry(tx, ownersEntry(owner, { action: 'webhook.test', subject: appId, appId, after }));
      return copied;
    });
    if (target === undefined || secret === undefined) {
      if (listeners === 0) return refusalOf(passedOver, type);
      return { eventId, type, body, attempt: undefined, passedOver, listeners };
    }
    const delivery = { ...event, attempt: 1, endpointUrl: target.endpoint_url, secret };
    const attempt = await courier.deliver(delivery, new AbortController().signal);
    if (attempt === undefined) throw new Error('Nobody ends a test event but its own time limit.');
    return { eventId, type, body, attempt, passedOver: undefined, listeners };
  };
}

/** Why an event of this type does not go to the endpoint (WH-03). Undefined if it does. */
function whyPassedOver(row: SubscriptionRow | undefined, type: EventType): PassedOver | undefined {
  if (row === undefined) return 'no_endpoint';
  if (row.status !== 'active') return 'disabled';
  return row.events.includes(type) ? undefined : 'not_subscribed';
}

/** Refuses a test event that nobody gets. */
function refusalOf(passedOver: PassedOver | undefined, type: EventType): Refusal<'CONFLICT' | 'NOT_FOUND'> {
  if (passedOver === 'disabled') return refuse('CONFLICT', DISABLED);
  if (passedOver === 'not_subscribed') return refuse('CONFLICT', notSubscribed(type));
  return refuse('NOT_FOUND', NOWHERE);
}

function notSubscribed(type: EventType): string {
  return `The endpoint is not subscribed to ${type}, so it gets none. Add this type to its events, or start \`purser listen\`, which gets every type. Then test again.`;
}

/** The data of each type, as its own function in SQL writes it (WH-08). */
function dataOf(type: EventType, row: SubscriptionRow | undefined, currency: string, at: string): object {
  const userId = TEST_USER;
  switch (type) {
    case 'connection.created':
      return { userId, connectedAt: at };
    case 'topup.completed':
      return { userId, balanceMicros: TEST_BALANCE, availableMicros: TEST_BALANCE, currency };
    case 'balance.low': {
      const threshold = row?.low_balance_threshold_micros ?? TEST_THRESHOLD;
      return { userId, availableMicros: Number(threshold - 1n), thresholdMicros: Number(threshold), currency };
    }
  }
}
