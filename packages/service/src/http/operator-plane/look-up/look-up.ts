import {
  anyEventParamsSchema,
  anyEventSchema,
  anyKeyDetailsSchema,
  anyKeyParamsSchema,
} from '@purser/contract/look-up.ts';
import { shownKey } from '#http/operator-plane/people/apps.ts';
import type { OperatorRoutes } from '#http/planes/operator-routes.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted } from '#http/planes/planes.ts';
import { refuse } from '#kernel/faults/refusal.ts';

/** The routes by which operators read one key or event of any app, by its id. */
export function addLookUpRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  const { anyKey, anyEvent } = operator;

  routes.show(
    '/operator/keys/:keyId',
    { params: anyKeyParamsSchema, answer: anyKeyDetailsSchema },
    async ({ params: { keyId } }) => {
      const found = granted((await anyKey(keyId)) ?? refuse('NOT_FOUND', 'There is no such key.'));
      return { ...found, key: shownKey(found.key) };
    },
  );

  routes.show(
    '/operator/events/:eventId',
    { params: anyEventParamsSchema, answer: anyEventSchema },
    async ({ params: { eventId } }) => {
      const gone = refuse('NOT_FOUND', 'There is no such event. Events are kept for 30 days.');
      return (await anyEvent(eventId)) ?? gone;
    },
  );
}
