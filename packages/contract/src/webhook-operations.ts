import { type Operation, OWN } from './operation.ts';

const WEBHOOKS = 'Webhooks';

/** Those by which an app's owner has its events sent somewhere. */
export const WEBHOOK_OPERATIONS: Readonly<Record<string, Operation>> = {
  'PUT /apps/{appId}/webhook': {
    id: 'putWebhook',
    tag: WEBHOOKS,
    summary: 'Subscribes an endpoint to events, replaces or re-enables it',
    description:
      'The signing secret is in the answer that makes it, and in no other. Replacing keeps the secret. Answers when nothing is under way any more for the endpoint before, 6 s at most.',
    refuses: OWN,
  },
  'GET /apps/{appId}/webhook': { id: 'getWebhook', tag: WEBHOOKS, summary: 'Shows the subscription', refuses: OWN },
  'DELETE /apps/{appId}/webhook': {
    id: 'deleteWebhook',
    tag: WEBHOOKS,
    summary: 'Ends the subscription, and with it what is waiting to be sent',
    refuses: OWN,
  },
  'POST /apps/{appId}/webhook/secret': {
    id: 'rotateWebhookSecret',
    tag: WEBHOOKS,
    summary: 'Makes a new signing secret, which counts at once',
    refuses: OWN,
  },
  'GET /apps/{appId}/webhook/deliveries': {
    id: 'listDeliveries',
    tag: WEBHOOKS,
    summary: 'Lists recent events with the attempts to deliver them, the newest first',
    refuses: OWN,
  },
  'POST /apps/{appId}/webhook/listeners': {
    id: 'createListener',
    tag: WEBHOOKS,
    summary: 'Begins to keep copies of events for a machine without an endpoint',
    description: 'What `purser listen` uses. A listener ends when nobody has looked for 75 s.',
    refuses: [...OWN, 'CONFLICT'],
  },
  'GET /apps/{appId}/webhook/listeners/{listenerId}/events': {
    id: 'listCopies',
    tag: WEBHOOKS,
    summary: 'Hands over copies of events, and waits for the first where there is none',
    refuses: OWN,
  },
  'DELETE /apps/{appId}/webhook/listeners/{listenerId}': {
    id: 'deleteListener',
    tag: WEBHOOKS,
    summary: 'Ends a listener',
    refuses: OWN,
  },
};
