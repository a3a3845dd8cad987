import { appParamsSchema } from '@purser/contract/control.ts';
import {
  deliveriesPageSchema,
  deliveriesSchema,
  putWebhookSchema,
  sentTestSchema,
  testEventSchema,
  webhookSchema,
} from '@purser/contract/webhooks.ts';
import { type ControlPlane, ownApp, ownerOf } from '#http/planes/control-plane.ts';
import { ownerRoutes } from '#http/planes/owner-routes.ts';
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
      const answer = wireOf(webhookSchema, shown(put.subscription, put.signingSecret));
      return reply.code(isNew ? 201 : 200).send(answer);
    },
  );

  const routes = ownerRoutes(plane, control);
  routes.ofApp(`GET ${WEBHOOK}`, { params: appParamsSchema, answer: webhookSchema }, async ({ appId }) =>
    shown(granted((await subscriptions.find(appId)) ?? notSubscribed()), undefined),
  );

  routes.ofApp(`DELETE ${WEBHOOK}`, { params: appParamsSchema }, async ({ appId }, { by }) =>
    (await subscriptions.remove(by, appId)) ? undefined : notSubscribed(),
  );

  routes.ofApp(
    `POST ${WEBHOOK}/secret`,
    { params: appParamsSchema, answer: webhookSchema },
    async ({ appId }, { by }) => {
      const { subscription, signingSecret } = granted((await subscriptions.rotate(by, appId)) ?? notSubscribed());
      return shown(subscription, signingSecret);
    },
  );
  addDeliveryRoutes(plane, control);
}

/** What was sent, and a test of the endpoint. */
function addDeliveryRoutes(plane: Plane, control: ControlPlane): void {
  const routes = ownerRoutes(plane, control);
  const { deliveries, sendTestEvent } = control;

  routes.ofApp(
    `POST ${WEBHOOK}/test`,
    { params: appParamsSchema, body: testEventSchema, answer: sentTestSchema },
    async ({ appId }, { body, by }) => {
      const sent = granted(await sendTestEvent(by, appId, body.type));
      return { ...sent, attempt: sent.attempt && { attempt: 1, ...sent.attempt, atMs: sent.attempt.startedAtMs } };
    },
  );

  routes.ofApp(
    `GET ${WEBHOOK}/deliveries`,
    { params: appParamsSchema, query: deliveriesPageSchema, answer: deliveriesSchema },
    async ({ appId }, { query: { before, limit, state } }) => {
      const { events, next } = granted(await deliveries.history(appId, { before, most: limit, state }));
      return { deliveries: events, next };
    },
  );
}

function notSubscribed(): Refusal<'NOT_FOUND'> {
  return refuse('NOT_FOUND', 'This app has no webhook.');
}

/** A subscription. The secret is passed only by the routes that have just made one. */
function shown(subscription: Subscription, signingSecret: string | undefined) {
  return { ...subscription, lowBalanceThreshold: subscription.threshold, signingSecret };
}
