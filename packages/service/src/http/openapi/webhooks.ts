import { EVENT_SCHEMAS } from '@purser/contract/webhook-events.ts';
import { EVENT_TYPES, type EventType, RETRY_DELAYS_SECONDS } from '@purser/contract/webhooks.ts';
import { jsonSchemaOf, type Named } from '#http/openapi/json-schema.ts';
import type { OperationObject, Parameter } from '#http/openapi/open-api.ts';

const TOLD: Readonly<Record<EventType, { readonly id: string; readonly summary: string }>> = {
  'balance.low': { id: 'onBalanceLow', summary: 'The available balance of a user fell below your threshold' },
  'topup.completed': { id: 'onTopupCompleted', summary: 'A payment of a user was verified' },
  'connection.created': { id: 'onConnectionCreated', summary: 'A user connected a wallet for the first time' },
};

const HOW =
  'The service sends this to the endpoint of the app. An answer of 2xx within 5 seconds accepts the event; its body is not read, and a ' +
  `redirect is not followed. Otherwise the event is sent again after ${RETRY_DELAYS_SECONDS.join(', ')} seconds.`;

/** The headers of a delivery that receivers may read (WH-09, WH-10). */
const HEADERS: readonly Parameter[] = [
  headerOf(
    'x-service-signature',
    '`t=<seconds since 1970>,v1=<hexadecimal>`: `v1` is the HMAC-SHA256 of `t`, a dot and the raw body, with the whole ' +
      'signing secret as the key. Ignore elements that you do not know: another scheme would come beside it as `v2`.',
    { type: 'string', pattern: '^t=[0-9]+,v1=[0-9a-f]{64}' },
  ),
  headerOf('x-service-event-id', 'The `id` of the body.', { type: 'string' }),
  headerOf('x-service-event-type', 'The `type` of the body.', { enum: EVENT_TYPES }),
  headerOf('x-service-delivery-attempt', 'The number of the attempt.', {
    type: 'integer',
    minimum: 1,
    maximum: RETRY_DELAYS_SECONDS.length + 1,
  }),
  headerOf('user-agent', 'The sender.', { const: 'service-webhooks/1' }),
];

/** The requests that the service makes to the endpoints of apps: the `webhooks` of the document. */
export function describeWebhooks(named: Named): Readonly<Record<EventType, { readonly post: OperationObject }>> {
  const described = EVENT_TYPES.map((type) => [type, { post: requestOf(type, named) }] as const);
  return Object.fromEntries(described) as Record<EventType, { readonly post: OperationObject }>;
}

function requestOf(type: EventType, named: Named): OperationObject {
  const { id, summary } = TOLD[type];
  const schema = jsonSchemaOf(EVENT_SCHEMAS[type], 'output', named);
  return {
    operationId: id,
    tags: ['Webhooks'],
    summary,
    description: HOW,
    security: [],
    parameters: HEADERS,
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: { '2XX': { description: 'The event has arrived.' } },
  };
}

function headerOf(name: string, description: string, schema: Parameter['schema']): Parameter {
  return { name, in: 'header', required: true, description, schema };
}
