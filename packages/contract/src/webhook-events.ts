import { z } from 'zod';
import { moment } from './control.ts';
import type { EventType } from './webhooks.ts';

/** What an endpoint receives (WH-04 to WH-09). The database writes these bodies; tests compare each one sent with its schema. */

const userId = z.string().meta({ description: 'Your own name for the user, as in `x-service-user`.' });
const micros = (description: string) => z.int().meta({ description });
const currency = z.string().meta({ description: 'The currency, as in ISO 4217. Amounts are whole millionths of it.' });
const availableMicros = micros('The balance less what running calls hold, in micros.');

function eventOf<Type extends EventType, Data extends z.ZodRawShape>(type: Type, data: Data) {
  return z.strictObject({
    id: z
      .string()
      .meta({ description: 'The id of the event, which is the same in every delivery. Handle each event once.' }),
    type: z.literal(type),
    createdAt: moment.meta({
      description: 'When the change happened, not when the event was sent, in UTC, in ISO 8601, with milliseconds.',
    }),
    appId: z.string(),
    data: z.strictObject(data),
  });
}

/** The body of each type of event. */
export const EVENT_SCHEMAS = {
  'balance.low': eventOf('balance.low', {
    userId,
    availableMicros,
    thresholdMicros: micros('Your threshold at that moment, in micros.'),
    currency,
  }).meta({ id: 'BalanceLowEvent' }),
  'topup.completed': eventOf('topup.completed', {
    userId,
    balanceMicros: micros('The balance after the payment, in micros.'),
    availableMicros,
    currency,
  }).meta({ id: 'TopupCompletedEvent' }),
  'connection.created': eventOf('connection.created', { userId, connectedAt: moment }).meta({
    id: 'ConnectionCreatedEvent',
  }),
} as const satisfies Readonly<Record<EventType, z.ZodType>>;
