import {
  balanceSchema,
  callIdParamsSchema,
  completionSchema,
  connectLinkSchema,
  connectRequestSchema,
  eventSchema,
  healthSchema,
  messageErrorSchema,
  messageEventSchema,
  messageSchema,
  modelListSchema,
  modelNameParamsSchema,
  modelObjectSchema,
  monthQuerySchema,
  priceListSchema,
  processorWebhookSchema,
  webhookReceivedSchema,
  readySchema,
  responseEventSchema,
  responseSchema,
  unreadySchema,
  tokenCountSchema,
  usageSummarySchema,
} from '@purser/contract/data-plane.ts';
import { embeddingsSchema } from '@purser/contract/embeddings.ts';
import { receiptSchema } from '@purser/contract/usage.ts';
import { z } from 'zod';
import { chatRequestSchema } from '#gateway/parameters/chat-schema.ts';
import { embeddingsRequestSchema } from '#gateway/wires/embeddings/request-schema.ts';
import { COUNT_SCHEMA, messagesRequestSchema } from '#gateway/wires/messages/request/schema.ts';
import { responsesRequestSchema } from '#gateway/wires/responses/request/schema.ts';
import type { DescribedRoute } from '#http/openapi/described-route.ts';

const TEXT = { type: 'string' };
/** Every answer after the rate limit was checked has these. */
const RATE = [
  'ratelimit-policy',
  'ratelimit',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
];

/** What answers of calls have, by any wire. */
const CALL = [
  ...RATE,
  'x-service-mode',
  'x-service-call-id',
  'x-service-charge-micros',
  'x-service-max-output-tokens',
  'x-service-left-out',
  'x-service-upstream',
  'x-service-replayed',
];

/**
 * The routes of the data plane, which `server.ts` answers itself. No framework registers them, so they are described here
 * by hand. Tests compare every answer with this description.
 */
export const FIXED_ROUTES: readonly DescribedRoute[] = [
  {
    method: 'POST',
    path: '/v1/chat/completions',
    access: 'user',
    body: chatRequestSchema(),
    answers: { 200: completionSchema },
    // OpenAPI 3.1 cannot describe a stream of events. The schema describes the data of one event.
    others: [{ contentType: 'text/event-stream', schema: eventSchema }],
    headers: CALL,
  },
  {
    method: 'POST',
    path: '/v1/responses',
    access: 'user',
    body: responsesRequestSchema(),
    answers: { 200: responseSchema },
    others: [{ contentType: 'text/event-stream', schema: responseEventSchema }],
    headers: CALL,
  },
  {
    method: 'POST',
    path: '/v1/messages',
    access: 'user',
    body: messagesRequestSchema(),
    error: messageErrorSchema,
    answers: { 200: messageSchema },
    others: [{ contentType: 'text/event-stream', schema: messageEventSchema }],
    headers: ['request-id', ...CALL],
  },
  {
    method: 'POST',
    path: '/v1/messages/count_tokens',
    access: 'user',
    body: COUNT_SCHEMA,
    error: messageErrorSchema,
    answers: { 200: tokenCountSchema },
    headers: ['request-id', ...RATE],
  },
  {
    method: 'POST',
    path: '/v1/embeddings',
    access: 'user',
    body: embeddingsRequestSchema(),
    answers: { 200: embeddingsSchema },
    headers: CALL,
  },
  { method: 'GET', path: '/v1/models', access: 'app', answers: { 200: modelListSchema }, headers: RATE },
  {
    method: 'GET',
    path: '/v1/models/{model}',
    access: 'app',
    params: modelNameParamsSchema,
    answers: { 200: modelObjectSchema },
    headers: RATE,
  },
  { method: 'GET', path: '/prices', access: 'app', answers: { 200: priceListSchema }, headers: RATE },
  { method: 'GET', path: '/balance', access: 'user', answers: { 200: balanceSchema }, headers: RATE },
  {
    method: 'POST',
    path: '/connect',
    access: 'user',
    body: connectRequestSchema,
    answers: { 200: connectLinkSchema },
    headers: RATE,
  },
  {
    method: 'GET',
    path: '/usage/summary',
    access: 'user',
    query: monthQuerySchema,
    answers: { 200: usageSummarySchema },
    headers: RATE,
  },
  {
    method: 'GET',
    path: '/calls/{callId}',
    access: 'user',
    params: callIdParamsSchema,
    answers: { 200: receiptSchema },
    headers: RATE,
  },
];

/** Routes for the people who run the service, and for its payment processor. */
export const SERVICE_ROUTES: readonly DescribedRoute[] = [
  {
    method: 'POST',
    path: '/webhooks/stripe',
    access: 'public',
    body: processorWebhookSchema,
    answers: { 200: webhookReceivedSchema },
  },
  {
    method: 'POST',
    path: '/webhooks/test',
    access: 'public',
    body: processorWebhookSchema,
    answers: { 200: webhookReceivedSchema },
  },
  { method: 'GET', path: '/healthz', access: 'public', answers: { 200: healthSchema } },
  { method: 'GET', path: '/readyz', access: 'public', answers: { 200: readySchema, 503: unreadySchema } },
  {
    method: 'GET',
    path: '/metrics',
    access: 'metrics',
    answers: { 200: null },
    others: [{ contentType: 'text/plain', schema: TEXT }],
  },
  { method: 'GET', path: '/openapi.json', access: 'public', answers: { 200: z.looseObject({}) } },
  {
    method: 'GET',
    path: '/docs',
    access: 'public',
    answers: { 200: null },
    others: [{ contentType: 'text/html', schema: TEXT }],
  },
];
