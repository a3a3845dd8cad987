import { z } from 'zod';
import { moment, pageLimit, queryNumber } from './control.ts';
import { appId, listenerId } from './identifiers.ts';

/** Webhook subscriptions and what is sent to their endpoints (WH-01 to WH-14). */

export const EVENT_TYPES = ['balance.low', 'topup.completed', 'connection.created'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/**
 * Seconds from a failed attempt to deliver an event to the next attempt (WH-11). They are fixed, and the documentation for
 * receivers lists them. When the attempt after the last delay fails too, the event is dropped.
 */
export const RETRY_DELAYS_SECONDS = [10, 20, 40, 80, 160] as const;
const ATTEMPTS_MAX = RETRY_DELAYS_SECONDS.length + 1;
/** An endpoint is disabled after this many dropped events in a row (WH-12). */
export const DROPPED_IN_ROW_MAX = 5;

const URL_LENGTH_MAX = 2_048;

const endpointUrl = z.string().max(URL_LENGTH_MAX).meta({
  description: 'https, publicly routable, without credentials (WH-02).',
});
const events = z
  .array(z.enum(EVENT_TYPES))
  .min(1)
  .refine((types) => new Set(types).size === types.length, { error: 'names a type twice' });
const threshold = z
  .int()
  .min(1)
  .max(Number.MAX_SAFE_INTEGER)
  .meta({ description: 'Micros: `balance.low` is sent when what can be spent falls below it.' });

interface Told {
  readonly events: readonly EventType[];
  readonly lowBalanceThresholdMicros?: number | undefined;
}

/** The threshold is there exactly where it is of use (WH-03). */
function checkThreshold({ events: types, lowBalanceThresholdMicros }: Told, context: z.RefinementCtx): void {
  const path = ['lowBalanceThresholdMicros'];
  const wants = types.includes('balance.low');
  if (wants && lowBalanceThresholdMicros === undefined) {
    context.addIssue({ code: 'custom', path, message: 'is required with `balance.low`' });
  }
  if (!wants && lowBalanceThresholdMicros !== undefined) {
    context.addIssue({ code: 'custom', path, message: 'belongs to `balance.low`, which is not among the events' });
  }
}

export const putWebhookSchema = z
  .strictObject({ endpointUrl, events, lowBalanceThresholdMicros: threshold.optional() })
  .superRefine(checkThreshold);

export const webhookSchema = z
  .object({
    appId: z.string(),
    endpointUrl: z.string(),
    events: z.array(z.enum(EVENT_TYPES)),
    lowBalanceThresholdMicros: threshold.nullable(),
    status: z.enum(['active', 'disabled']),
    disabledReason: z.literal('delivery_failures').nullable(),
    secretFingerprint: z.string().meta({ description: 'Tells one secret from the next, and nothing of either.' }),
    signingSecret: z.string().optional().meta({ description: 'Shown this once, by the call that makes it.' }),
  })
  .meta({ id: 'Webhook' });

export const deliveriesPageSchema = z.strictObject({
  before: z.string().max(256).optional().meta({ description: 'A `next` of the page before.' }),
  limit: pageLimit(500, 100),
});

export const deliveriesSchema = z
  .object({
    deliveries: z.array(
      z.object({
        eventId: z.string(),
        type: z.enum(EVENT_TYPES),
        createdAt: moment,
        state: z.enum(['pending', 'delivered', 'dropped']),
        attempts: z.array(
          z.object({
            attempt: z.int().min(1).max(ATTEMPTS_MAX),
            at: moment,
            status: z.int().nullable(),
            durationMs: z.int(),
            error: z.string().nullable(),
          }),
        ),
      }),
    ),
    next: z.string().nullable().meta({ description: 'The next page: `?before=` this. Null on the last one.' }),
  })
  .meta({ id: 'Deliveries' });

/** Listeners: a developer's machine that fetches copies of its app's events, with no endpoint (`purser listen`). */
export const LISTEN_SECONDS_MAX = 20;

export const listenSchema = z
  .strictObject({ events, lowBalanceThresholdMicros: threshold.optional() })
  .superRefine(checkThreshold);

export const listenerSchema = z
  .object({
    listenerId: z.string(),
    expiresAt: moment.meta({ description: 'ISO 8601, UTC. It is gone then, unless it looks: each look renews it.' }),
  })
  .meta({ id: 'Listener' });

export const listenerParamsSchema = z.object({ appId, listenerId });

export const lookSchema = z.strictObject({
  after: z.uuid().optional().meta({ description: 'The `next` of the look before: its events have arrived.' }),
  waitSeconds: queryNumber(0, LISTEN_SECONDS_MAX)
    .default(LISTEN_SECONDS_MAX)
    .meta({ description: 'How long to wait where there are no events.' }),
});

export const copiesSchema = z
  .object({
    events: z.array(
      z.object({
        eventId: z.string(),
        type: z.enum(EVENT_TYPES),
        body: z.string().meta({ description: 'What an endpoint is sent, byte for byte in UTF-8.' }),
      }),
    ),
    next: z.uuid().nullable().meta({ description: 'The look after this one: `?after=` this. Null: no events.' }),
  })
  .meta({ id: 'EventCopies' });
