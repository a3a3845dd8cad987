import { appParamsSchema } from '@purser/contract/control.ts';
import {
  copiesSchema,
  listenerParamsSchema,
  listenerSchema,
  listenSchema,
  lookSchema,
} from '@purser/contract/webhooks.ts';
import type { ControlPlane } from '#http/planes/control-plane.ts';
import { ownerRoutes } from '#http/planes/owner-routes.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { sentAmount } from '#http/requests/sent.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

const LISTENERS = '/apps/:appId/webhook/listeners';
/** These routes are also open for a listen token, which opens nothing else (decision 20). */
const FEED = { isFeed: true };

/** Routes through which a developer's machine fetches copies of its app's events (`purser listen`). */
export function addListenerRoutes(plane: Plane, control: ControlPlane): void {
  const routes = ownerRoutes(plane, control);
  const { listeners } = control;

  routes.ofApp(
    `POST ${LISTENERS}`,
    { config: FEED, params: appParamsSchema, body: listenSchema, answer: listenerSchema, status: 201 },
    async ({ appId }, { body: { events, lowBalanceThresholdMicros } }) => {
      const threshold = sentAmount(lowBalanceThresholdMicros);
      const { listenerId, untilMs } = granted(await listeners.listen({ appId, events, threshold }));
      return { listenerId, expiresAtMs: untilMs };
    },
  );

  routes.ofApp(
    `GET ${LISTENERS}/:listenerId/events`,
    { config: FEED, params: listenerParamsSchema, query: lookSchema, answer: copiesSchema },
    async ({ appId }, { params, query: { after, waitSeconds }, reply }) => {
      // Ends the wait when the listener goes away: a handler would otherwise poll the database for up to 20 s for nobody.
      const left = new AbortController();
      reply.raw.once('close', () => left.abort());
      const look = { after, waitMs: waitSeconds * 1_000, signal: left.signal };
      return (await listeners.look(appId, params.listenerId, look)) ?? noSuchListener();
    },
  );

  routes.ofApp(
    `DELETE ${LISTENERS}/:listenerId`,
    { config: FEED, params: listenerParamsSchema },
    async ({ appId }, { params }) =>
      (await listeners.remove(appId, params.listenerId)) ? undefined : noSuchListener(),
  );
}

function noSuchListener(): Refusal<'NOT_FOUND'> {
  return refuse('NOT_FOUND', 'This app has no such listener. It has ended, or its last request was too long ago.');
}
