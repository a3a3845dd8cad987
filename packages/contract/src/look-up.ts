import { z } from 'zod';
import { amount, moment } from './control.ts';
import { type Operation, OWN } from './operation.ts';
import { anyKeySchema } from './operator-app.ts';
import { deliverySchema } from './webhooks.ts';

/** Single things of any app, which operators look up by their ids. */

const ANY_APPS = 'Operator: apps';

export const LOOK_UP_OPERATIONS: Readonly<Record<string, Operation>> = {
  'GET /operator/keys/{keyId}': {
    id: 'getAnyKey',
    tag: ANY_APPS,
    summary: 'Shows an API key of any app by its id, with its calls by day',
    refuses: OWN,
  },
  'GET /operator/events/{eventId}': {
    id: 'getAnyEvent',
    tag: ANY_APPS,
    summary: 'Shows a webhook event of any app, with its body and the attempts to deliver it',
    refuses: OWN,
  },
};

export const anyKeyParamsSchema = z.object({ keyId: z.string() });

export const anyKeyDetailsSchema = z
  .object({
    appId: z.string(),
    key: anyKeySchema,
    days: z
      .array(z.object({ at: moment, calls: z.int(), chargedCalls: z.int(), chargedMicros: amount }))
      .meta({ description: 'The last thirty days in UTC, including those without calls.' }),
  })
  .meta({ id: 'AnyKeyDetails' });

export const anyEventParamsSchema = z.object({ eventId: z.string() });

export const anyEventSchema = z.object({ appId: z.string(), event: deliverySchema }).meta({ id: 'AnyEvent' });
