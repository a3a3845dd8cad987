import { z } from 'zod';
import { moment } from './control.ts';
import { appId, listenerId } from './identifiers.ts';
import { nextPage, pageLimit, queryNumber } from './pages.ts';

/** Webhook subscriptions and deliveries (WH-01 to WH-14), and listeners. */

/** The types of events (WH-03). The database stores only events of types that the app has subscribed to. */
export const EVENT_TYPES = ['balance.low', 'topup.completed', 'connection.created'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/**
 * Seconds between a failed attempt to deliver an event and the next one (WH-11). They are fixed and documented, so that
 * receivers can rely on them. If the attempt after the last delay fails too, the event is dropped.
 */
export const RETRY_DELAYS_SECONDS = [10, 20, 40, 80, 160] as const;
const ATTEMPTS_MAX = RETRY_DELAYS_SECONDS.length + 1;
/** An endpoint is disabled after this many dropped events in a row (WH-12). */
export const DROPPED_IN_ROW_MAX = 5;

const URL_LENGTH_MAX = 2_048;

const endpointUrl = z.string().max(URL_LENGTH_MAX).meta({
  description: 'An HTTPS address on the public Internet, without credentials (WH-02).',
});
const events = z
  .array(z.enum(EVENT_TYPES))
  .min(1)
  .refine((types) => new Set(types).size === types.length, { error: 'must not name a type twice' });
const threshold = z
  .int()
  .min(1)
  .max(Number.MAX_SAFE_INTEGER)
  .meta({ description: 'The threshold in micros: `balance.low` is sent when the available balance falls below it.' });

interface Chosen {
  readonly events: readonly EventType[];
  readonly lowBalanceThresholdMicros?: number | null | undefined;
}

/** The threshold is required with `balance.low` and refused without it (WH-03). A useless one hints at a mistake. */
function checkThreshold({ events: types, lowBalanceThresholdMicros: given }: Chosen, context: z.RefinementCtx): void {
  const lowBalanceThresholdMicros = given ?? undefined; // An answer says null.
  const path = ['lowBalanceThresholdMicros'];
  const wants = types.includes('balance.low');
  if (wants && lowBalanceThresholdMicros === undefined) {
    context.addIssue({ code: 'custom', path, message: 'is required with `balance.low`' });
  }
  if (!wants && lowBalanceThresholdMicros !== undefined) {
    context.addIssue({ code: 'custom', path, message: 'is only allowed with `balance.low` among the events' });
  }
}

/** Fields of an answer that only the service sets. A `PUT` may send them back, and they are ignored. */
const readOnly = z
  .unknown()
  .optional()
  .meta({ readOnly: true, description: 'A field that the service sets. It is ignored here.' });

/**
 * The subscription that an owner wants. It replaces the old one as a whole. The answer of `GET` can be sent back unchanged.
 * The address is checked by the endpoint guard and not here, because that takes a look-up of its name.
 */
export const putWebhookSchema = z
  .strictObject({
    endpointUrl,
    events,
    lowBalanceThresholdMicros: threshold.nullish(),
    appId: readOnly,
    status: readOnly,
    disabledReason: readOnly,
    droppedInRow: readOnly,
    secretFingerprint: readOnly,
    signingSecret: readOnly,
  })
  .superRefine(checkThreshold);

/** A subscription. `disabled` means that too many events in a row were dropped (WH-12); putting it again enables it. */
export const webhookSchema = z
  .object({
    appId: z.string(),
    endpointUrl: z.string(),
    events: z.array(z.enum(EVENT_TYPES)),
    lowBalanceThresholdMicros: threshold.nullable(),
    status: z
      .enum(['active', 'disabled'])
      .meta({ description: 'A `disabled` endpoint gets no events until the subscription is put again.' }),
    disabledReason: z.literal('delivery_failures').nullable(),
    droppedInRow: z.int().min(0).max(DROPPED_IN_ROW_MAX).meta({
      description:
        'The number of events that were dropped since the last one was delivered. At 5, the endpoint is disabled.',
    }),
    secretFingerprint: z
      .string()
      .meta({ description: 'Shows which secret is in use, and reveals nothing about the secret itself.' }),
    signingSecret: z
      .string()
      .optional()
      .meta({ description: 'The secret that signs events. Only the answer to the request that makes it has it.' }),
  })
  .meta({ id: 'Webhook' });

/** `pending` waits for its next attempt. `dropped` is never sent again. */
export const DELIVERY_STATES = ['pending', 'delivered', 'dropped'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export const deliveriesPageSchema = z.strictObject({
  before: z.string().max(256).optional().meta({ description: 'The `next` of the previous page.' }),
  limit: pageLimit(500, 100),
  state: z.enum(DELIVERY_STATES).optional().meta({ description: 'Lists only events in this state.' }),
});

const attempt = z.object({
  attempt: z.int().min(1).max(ATTEMPTS_MAX),
  at: moment,
  status: z
    .int()
    .nullable()
    .meta({ description: 'The HTTP status of the answer. It is null if there was none; `error` then says why.' }),
  durationMs: z.int(),
  error: z.string().nullable(),
});

/** One event and how it was delivered. Of a receiver's answer, only the status is shown: nothing else is stored. */
export const deliverySchema = z.object({
  eventId: z.string(),
  type: z.enum(EVENT_TYPES),
  createdAt: moment,
  state: z.enum(DELIVERY_STATES),
  body: z.string().nullable().meta({
    description: 'The body that is sent, byte for byte in UTF-8. It is null for old events, whose body was not kept.',
  }),
  nextAttemptAt: moment
    .nullable()
    .meta({ description: 'When the next attempt is due. It is null if there will be none.' }),
  attempts: z.array(attempt),
});

/** The history of deliveries (WH-14). */
export const deliveriesSchema = z
  .object({
    deliveries: z.array(deliverySchema),
    next: nextPage('before'),
  })
  .meta({ id: 'Deliveries' });

/** The id of a test event begins with this. No other event's does. */
export const TEST_EVENT_PREFIX = 'evt_test_';

/** A test event of one type, whether or not the app has subscribed to that type. */
export const testEventSchema = z.strictObject({ type: z.enum(EVENT_TYPES) });

/** A test event as it was sent, and where it went. */
export const sentTestSchema = z
  .object({
    eventId: z.string().meta({ description: 'The id of the event, which begins with `evt_test_`.' }),
    type: z.enum(EVENT_TYPES),
    body: z.string().meta({ description: 'The body that was sent, byte for byte in UTF-8.' }),
    attempt: attempt
      .nullable()
      .meta({ description: 'The attempt to deliver the event to the endpoint. It is null if none was made.' }),
    passedOver: z
      .enum(['no_endpoint', 'disabled', 'not_subscribed'])
      .nullable()
      .meta({ description: 'Why no attempt was made, so that only listeners got the event. It is null if one was.' }),
    listeners: z.int().meta({ description: 'The number of running `purser listen` commands that got a copy.' }),
  })
  .meta({ id: 'SentTestEvent' });

/** How long a listener's request may wait for events. A listener is a developer's machine without an endpoint. */
export const LISTEN_SECONDS_MAX = 20;

/** A new listener. It chooses its own events and threshold, whether or not the app has a subscription. */
export const listenSchema = z
  .strictObject({ events, lowBalanceThresholdMicros: threshold.optional() })
  .superRefine(checkThreshold);

export const listenerSchema = z
  .object({
    listenerId: z.string(),
    expiresAt: moment.meta({
      description: 'When the listener ends, in UTC, in ISO 8601. Each request for events moves it on.',
    }),
  })
  .meta({ id: 'Listener' });

export const listenerParamsSchema = z.object({ appId, listenerId });

/** A request for copies. Sending the last `next` back makes the delivery at least once, even if an answer is lost. */
export const lookSchema = z.strictObject({
  after: z
    .uuid()
    .optional()
    .meta({ description: 'The `next` of the previous answer. It confirms that those events have arrived.' }),
  waitSeconds: queryNumber(0, LISTEN_SECONDS_MAX)
    .default(LISTEN_SECONDS_MAX)
    .meta({ description: 'The seconds to wait if there are no events.' }),
});

export const copiesSchema = z
  .object({
    events: z.array(
      z.object({
        eventId: z.string(),
        type: z.enum(EVENT_TYPES),
        body: z.string().meta({ description: 'The body that an endpoint receives, byte for byte in UTF-8.' }),
      }),
    ),
    next: z
      .uuid()
      .nullable()
      .meta({ description: 'Pass it as `?after=` with the next request. It is null if there are no events.' }),
  })
  .meta({ id: 'EventCopies' });

export const listenTokenParamsSchema = z.object({ appId, listenTokenId: z.string() });

/** A new listen token. Its text is shown only here. */
export const madeListenTokenSchema = z
  .object({
    listenTokenId: z.string(),
    listenToken: z.string().meta({ description: 'The token for `PURSER_LISTEN_TOKEN`. It is not shown again.' }),
    expiresAt: moment,
  })
  .meta({ id: 'NewListenToken' });

/** The listen tokens of an app that still work, newest first. */
export const listenTokensSchema = z
  .object({
    listenTokens: z.array(
      z.object({
        listenTokenId: z.string(),
        madeBy: z.string().meta({ description: 'The e-mail of the member who made it.' }),
        createdAt: moment,
        expiresAt: moment,
        lastUsedAt: moment
          .nullable()
          .meta({ description: 'When the token was last used, to the minute. It is null if it never was.' }),
      }),
    ),
  })
  .meta({ id: 'ListenTokens' });
