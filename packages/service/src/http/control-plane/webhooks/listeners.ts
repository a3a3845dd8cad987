import { appParamsSchema } from '@purser/contract/control.ts';
import {
  copiesSchema,
  listenerParamsSchema,
  listenerSchema,
  listenSchema,
  lookSchema,
} from '@purser/contract/webhooks.ts';
import { z } from 'zod';
import { type ControlPlane, ownApp } from '#http/planes/control-plane.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { isoOf } from '#kernel/time/clock.ts';
import { micros } from '#kernel/values/micros.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

const LISTENERS = '/apps/:appId/webhook/listeners';
/** These routes are also open for a listen token, which opens nothing else (decision 20). */
const FEED = { isFeed: true };

/** Routes through which a developer's machine fetches copies of its app's events (`purser listen`). */
export function addListenerRoutes(plane: Plane, control: ControlPlane): void {
  const { listeners } = control;

  plane.post(
    LISTENERS,
    { config: FEED, schema: { params: appParamsSchema, body: listenSchema, response: { 201: listenerSchema } } },
    async (request, reply) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const { events, lowBalanceThresholdMicros } = request.body;
      const threshold = lowBalanceThresholdMicros === undefined ? undefined : micros(BigInt(lowBalanceThresholdMicros));
      const { listenerId, untilMs } = granted(await listeners.listen({ appId, events, threshold }));
      return reply.code(201).send({ listenerId, expiresAt: isoOf(untilMs) });
    },
  );

  plane.get(
    `${LISTENERS}/:listenerId/events`,
    {
      config: FEED,
      schema: { params: listenerParamsSchema, querystring: lookSchema, response: { 200: copiesSchema } },
    },
    async (request, reply) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const { after, waitSeconds } = request.query;
      // Ends the wait when the listener goes away: a handler would otherwise poll the database for up to 20 s for nobody.
      const left = new AbortController();
      reply.raw.once('close', () => left.abort());
      const look = { after, waitMs: waitSeconds * 1_000, signal: left.signal };
      const copies = await listeners.look(appId, request.params.listenerId, look);
      const { events, next } = granted(copies ?? noSuchListener());
      return { events: [...events], next: next ?? null };
    },
  );

  plane.delete(
    `${LISTENERS}/:listenerId`,
    { config: FEED, schema: { params: listenerParamsSchema, response: { 204: z.null() } } },
    async (request, reply) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      if (!(await listeners.remove(appId, request.params.listenerId))) granted(noSuchListener());
      return reply.code(204).send(null);
    },
  );
}

function noSuchListener(): Refusal<'NOT_FOUND'> {
  return refuse('NOT_FOUND', 'This app has no such listener. It has ended, or its last request was too long ago.');
}
