import { z } from 'zod';
import { amount, moment } from './control.ts';
import { operatorsOf } from './operation.ts';
import { anyKeySchema } from './operator-app.ts';
import { anyFoundCallsSchema, findAnyCallsSchema } from './usage.ts';
import { deliverySchema } from './webhooks.ts';

/** Single things of any app, which operators look up by their ids. */

export const LOOK_UP_OPERATIONS = operatorsOf('Operator: apps', {
  'GET /operator/keys/{keyId}': {
    id: 'getAnyKey',
    summary: 'Shows an API key of any app by its id, with its calls by day',
  },
  'GET /operator/events/{eventId}': {
    id: 'getAnyEvent',
    summary: 'Shows a webhook event of any app, with its body and the attempts to deliver it',
  },
});

const anyKeyDetailsSchema = z
  .object({
    appId: z.string(),
    key: anyKeySchema,
    days: z
      .array(z.object({ at: moment, calls: z.int(), chargedCalls: z.int(), chargedMicros: amount }))
      .meta({ description: 'The last thirty days in UTC, including those without calls.' }),
  })
  .meta({ id: 'AnyKeyDetails' });

const anyEventSchema = z.object({ appId: z.string(), event: deliverySchema }).meta({ id: 'AnyEvent' });

/** What each route that shows a single one takes and answers. */
export const LOOK_UP_ROUTES = {
  'GET /operator/keys/{keyId}': { params: z.object({ keyId: z.string() }), answer: anyKeyDetailsSchema },
  'GET /operator/events/{eventId}': { params: z.object({ eventId: z.string() }), answer: anyEventSchema },
  'GET /operator/calls': { query: findAnyCallsSchema, answer: anyFoundCallsSchema },
} as const;
