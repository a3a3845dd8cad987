import { OWN, tagged } from './operation.ts';

/** The operations through which an app's owner receives its events. */
export const WEBHOOK_OPERATIONS = tagged('Webhooks', {
  'PUT /apps/{appId}/webhook': {
    id: 'putWebhook',
    summary: 'Subscribes an endpoint to events, or replaces or re-enables it',
    description:
      'Only the call that creates the subscription shows the signing secret. Replacing the endpoint keeps the secret. The answer comes once no delivery to the old endpoint is in progress, after 6 s at most.',
    refuses: OWN,
  },
  'GET /apps/{appId}/webhook': { id: 'getWebhook', summary: 'Shows the subscription', refuses: OWN },
  'DELETE /apps/{appId}/webhook': {
    id: 'deleteWebhook',
    summary: 'Ends the subscription; events that wait for it are never sent',
    refuses: OWN,
  },
  'POST /apps/{appId}/webhook/secret': {
    id: 'rotateWebhookSecret',
    summary: 'Replaces the signing secret; the new one is used at once',
    refuses: OWN,
  },
  'POST /apps/{appId}/webhook/test': {
    id: 'sendTestEvent',
    summary: 'Sends a test event to the endpoint and to listeners, once, and answers with the result',
    description:
      'The event is signed like every other. Every running `purser listen` gets a copy, even of a type that it did not ask for, so an app without an endpoint can be tested on a developer’s machine. An endpoint that is disabled, or not subscribed to the type, gets nothing; without a listener, the answer is then a 409 that says what to do. The `id` of the event begins with `evt_test_`, and its user is `test-event`. It reports no change, is not in the list of deliveries, and counts neither as a failure nor as a success.',
    refuses: [...OWN, 'CONFLICT', 'TOO_MANY_REQUESTS'],
  },
  'GET /apps/{appId}/webhook/deliveries': {
    id: 'listDeliveries',
    summary: 'Lists recent events with the attempts to deliver them, the newest first',
    refuses: OWN,
  },
  'POST /apps/{appId}/webhook/listeners': {
    id: 'createListener',
    summary: 'Creates a listener: a machine without an endpoint that fetches copies of events',
    description: '`purser listen` uses this. A listener ends 75 s after its last request for events.',
    refuses: [...OWN, 'CONFLICT'],
  },
  'GET /apps/{appId}/webhook/listeners/{listenerId}/events': {
    id: 'listCopies',
    summary: 'Fetches copies of events, and waits for the first if there are none',
    refuses: OWN,
  },
  'DELETE /apps/{appId}/webhook/listeners/{listenerId}': {
    id: 'deleteListener',
    summary: 'Ends a listener',
    refuses: OWN,
  },
  'POST /apps/{appId}/webhook/listen-tokens': {
    id: 'createListenToken',
    summary: 'Makes a token for `purser listen`',
    description:
      'It opens the three routes of listeners of this app and nothing else. It works for 24 hours. It ends earlier if the session that made it ends, or if its maker loses the role.',
    refuses: [...OWN, 'CONFLICT'],
  },
  'GET /apps/{appId}/webhook/listen-tokens': {
    id: 'listListenTokens',
    summary: 'Lists the listen tokens that still work, the newest first, without their text',
    refuses: OWN,
  },
  'DELETE /apps/{appId}/webhook/listen-tokens/{listenTokenId}': {
    id: 'deleteListenToken',
    summary: 'Revokes a listen token',
    refuses: OWN,
  },
});
