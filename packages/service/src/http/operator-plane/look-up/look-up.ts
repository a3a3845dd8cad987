import {
  anyEventParamsSchema,
  anyEventSchema,
  anyKeyDetailsSchema,
  anyKeyParamsSchema,
} from '@purser/contract/look-up.ts';
import { eventToWire } from '#http/serializers/event-to-wire.ts';
import { keyToWire } from '#http/operator-plane/people/apps.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { isoOf } from '#kernel/time/clock.ts';
import { microsToWire } from '#kernel/values/micros.ts';
import { refuse } from '#kernel/faults/refusal.ts';

/** The routes by which operators read one key or event of any app, by its id. */
export function addLookUpRoutes(plane: Plane, { anyKey, anyEvent }: OperatorPlane): void {
  plane.get(
    '/operator/keys/:keyId',
    { schema: { params: anyKeyParamsSchema, response: { 200: anyKeyDetailsSchema } } },
    async ({ params }) => {
      const { appId, key, days } = granted(
        (await anyKey(params.keyId)) ?? refuse('NOT_FOUND', 'There is no such key.'),
      );
      return {
        appId,
        key: keyToWire(key),
        days: days.map(({ atMs, charged, ...day }) => ({
          ...day,
          at: isoOf(atMs),
          chargedMicros: microsToWire(charged),
        })),
      };
    },
  );

  plane.get(
    '/operator/events/:eventId',
    { schema: { params: anyEventParamsSchema, response: { 200: anyEventSchema } } },
    async ({ params }) => {
      const { appId, event } = granted(
        (await anyEvent(params.eventId)) ?? refuse('NOT_FOUND', 'There is no such event. Events are kept for 30 days.'),
      );
      return { appId, event: eventToWire(event) };
    },
  );
}
