import { OPERATIONS } from '@purser/contract/operations.ts';
import type { FastifyContextConfig, RouteOptions } from 'fastify';
import type { z } from 'zod';
import type { DescribedRoute } from '#http/openapi/described-route.ts';

/** Describes a route of the planes from its schemas. A route without answer schemas is not part of the API: undefined. */
export function describedRouteOf({ method, url, schema, config }: RouteOptions): DescribedRoute | undefined {
  // The framework adds a `HEAD` route to every `GET`. HTTP says so already, and the document need not.
  if (schema?.response === undefined || typeof method !== 'string' || method === 'HEAD') return undefined;
  const path = url.replaceAll(/:(\w+)/g, '{$1}');
  const { alsoAs, headers } = OPERATIONS[`${method} ${path}`] ?? {};
  return {
    method,
    path,
    // The same settings that the hooks of `planes.ts` obey, so the document cannot promise another access.
    access: accessOf(url, config ?? {}),
    params: schema.params as z.ZodObject | undefined,
    query: schema.querystring as z.ZodObject | undefined,
    body: schema.body as z.ZodType | undefined,
    answers: answersOf(schema.response as Readonly<Record<string, z.ZodType>>),
    ...(alsoAs === undefined ? {} : { others: [{ contentType: alsoAs, schema: { type: 'string' } }] }),
    ...(headers === undefined ? {} : { headers }),
  };
}

/** A route declares an answer without a body by a schema that is only null. */
function answersOf(response: Readonly<Record<string, z.ZodType>>): DescribedRoute['answers'] {
  return Object.fromEntries(
    Object.entries(response).map(([status, schema]) => [status, schema.type === 'null' ? null : schema]),
  );
}

function accessOf(url: string, { isPublic, isFeed, isForTests }: FastifyContextConfig): DescribedRoute['access'] {
  if (isPublic === true) return 'public';
  if (isFeed === true) return 'feed';
  if (isForTests === true) return 'test';
  return url.startsWith('/operator/') ? 'operator' : 'session';
}
