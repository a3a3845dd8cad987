import { appParamsSchema } from '@purser/contract/control.ts';
import {
  deliveriesPageSchema,
  deliveriesSchema,
  putWebhookSchema,
  sentTestSchema,
  testEventSchema,
  webhookSchema,
} from '@purser/contract/webhooks.ts';
import { z } from 'zod';
import { type ControlPlane, ownApp, ownerOf } from '#http/planes/control-plane.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { wireOf } from '#http/serializers/wire-of.ts';
import { micros } from '#kernel/values/micros.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { Subscription } from '#webhooks/subscriptions/subscription.ts';

const WEBHOOK = '/apps/:appId/webhook';

/** Routes for an app's webhook subscription and the history of its deliveries (WH-01, WH-14). */
export function addWebhookRoutes(plane: Plane, control: ControlPlane): void {
  const { subscriptions } = control;

  plane.put(
    WEBHOOK,
    {
      schema: {
        params: appParamsSchema,
        body: putWebhookSchema,
        response: { 200: webhookSchema, 201: webhookSchema },
      },
    },
    async (request, reply) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const { endpointUrl, events, lowBalanceThresholdMicros: low } = request.body;
      const threshold = typeof low === 'number' ? micros(BigInt(low)) : undefined;
      const put = granted(
        await subscriptions.put(ownerOf(control, request), { appId, endpointUrl, events, threshold }),
      );
      // The secret is shown only by the call that makes it, so its presence says that the subscription is new.
      const isNew = put.signingSecret !== undefined;
      return reply.code(isNew ? 201 : 200).send(toWire(put.subscription, put.signingSecret));
    },
  );

  plane.get(WEBHOOK, { schema: { params: appParamsSchema, response: { 200: webhookSchema } } }, async (request) => {
    const { appId } = await ownApp(control, request, request.params.appId);
    return toWire(granted((await subscriptions.find(appId)) ?? notSubscribed()), undefined);
  });

  plane.delete(
    WEBHOOK,
    { schema: { params: appParamsSchema, response: { 204: z.null() } } },
    async (request, reply) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      if (!(await subscriptions.remove(ownerOf(control, request), appId))) granted(notSubscribed());
      return reply.code(204).send(null);
    },
  );

  plane.post(
    `${WEBHOOK}/secret`,
    { schema: { params: appParamsSchema, response: { 200: webhookSchema } } },
    async (request) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const { subscription, signingSecret } = granted(
        (await subscriptions.rotate(ownerOf(control, request), appId)) ?? notSubscribed(),
      );
      return toWire(subscription, signingSecret);
    },
  );
  addDeliveryRoutes(plane, control);
}

/** What was sent, and a test of the endpoint. */
function addDeliveryRoutes(plane: Plane, control: ControlPlane): void {
  const { deliveries, sendTestEvent } = control;

  plane.post(
    `${WEBHOOK}/test`,
    { schema: { params: appParamsSchema, body: testEventSchema, response: { 200: sentTestSchema } } },
    async (request) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const sent = await sendTestEvent(ownerOf(control, request), appId, request.body.type);
      const { attempt, passedOver, ...rest } = granted(sent);
      const only = attempt && { attempt: 1, ...attempt, atMs: attempt.startedAtMs };
      return wireOf(sentTestSchema, { ...rest, attempt: only, passedOver });
    },
  );

  plane.get(
    `${WEBHOOK}/deliveries`,
    { schema: { params: appParamsSchema, querystring: deliveriesPageSchema, response: { 200: deliveriesSchema } } },
    async (request) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const { before, limit, state } = request.query;
      const { events, next } = granted(await deliveries.history(appId, { before, most: limit, state }));
      return wireOf(deliveriesSchema, { deliveries: events, next });
    },
  );
}

function notSubscribed(): Refusal<'NOT_FOUND'> {
  return refuse('NOT_FOUND', 'This app has no webhook.');
}

/** A subscription on the wire. The secret is passed only by the routes that have just made one. */
function toWire(subscription: Subscription, signingSecret: string | undefined) {
  return wireOf(webhookSchema, { ...subscription, lowBalanceThreshold: subscription.threshold, signingSecret });
}
