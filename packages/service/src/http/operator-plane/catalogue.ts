import {
  aliasParamsSchema,
  aliasSchema,
  aliasTargetSchema,
  catalogueHeadersSchema,
  catalogueSchema,
  modelEntrySchema,
  modelParamsSchema,
  modelSchema,
  priceHistorySchema,
  reasonQuerySchema,
} from '@purser/contract/operator.ts';
import { z } from 'zod';
import { priceToWire } from '#catalogue/price-row.ts';
import { actOf, type OperatorPlane } from '#http/operator-plane/operator-plane.ts';
import { granted, type Plane } from '#http/planes.ts';
import { isoOf } from '#kernel/clock.ts';
import { refuse } from '#kernel/refusal.ts';

const GONE = { 204: z.null() };

/**
 * Routes for the catalogue: providers, models with their prices, aliases (CP-05, MO-05, MO-06). The reason of an act is in
 * the query, because these bodies are catalogue entries and `DELETE` has none.
 */
export function addCatalogueRoutes(plane: Plane, operator: OperatorPlane): void {
  const { catalogue } = operator;
  plane.get('/operator/catalogue', { schema: { response: { 200: catalogueSchema } } }, async (_request, reply) => {
    const { file, version } = await catalogue.read();
    return reply.header('etag', `"${version}"`).send(file);
  });

  plane.put(
    '/operator/catalogue',
    {
      config: { isLarge: true },
      schema: {
        querystring: reasonQuerySchema,
        body: catalogueSchema,
        headers: catalogueHeadersSchema,
        response: { 200: catalogueSchema },
      },
    },
    async (request) => {
      // `if-match` prevents lost updates: two operators may edit the same version of the file.
      const version = /\d+/.exec(request.headers['if-match'] ?? '')?.[0];
      const expected = version === undefined ? undefined : BigInt(version);
      return granted(await catalogue.replace(actOf(operator, request, request.query.reason), request.body, expected));
    },
  );

  addModelRoutes(plane, operator);
  addAliasRoutes(plane, operator);
}

/** Routes for single models and their prices. */
function addModelRoutes(plane: Plane, operator: OperatorPlane): void {
  const { catalogue } = operator;
  plane.put(
    '/operator/models/:id',
    {
      schema: {
        querystring: reasonQuerySchema,
        params: modelParamsSchema,
        body: modelEntrySchema,
        response: { 200: modelSchema },
      },
    },
    async (request) => {
      const { id } = request.params;
      if (request.body.id !== undefined && request.body.id !== id) {
        granted(refuse('BAD_REQUEST', '`id` must be the one in the address, or left out.', { param: 'id' }));
      }
      return granted(
        await catalogue.putModel(actOf(operator, request, request.query.reason), id, { ...request.body, id }),
      );
    },
  );

  plane.get(
    '/operator/models/:id/prices',
    { schema: { params: modelParamsSchema, response: { 200: priceHistorySchema } } },
    async ({ params }) => {
      const prices = granted(await catalogue.prices(params.id));
      return {
        prices: prices.map(({ price, fromMs, untilMs, state }) => ({
          state,
          from: isoOf(fromMs),
          until: untilMs === undefined ? null : isoOf(untilMs),
          provider: price.provider,
          providerModel: price.provider_model,
          price: priceToWire(price),
        })),
      };
    },
  );

  plane.delete(
    '/operator/models/:id',
    { schema: { querystring: reasonQuerySchema, params: modelParamsSchema, response: GONE } },
    async (request, reply) => {
      granted(await catalogue.deleteModel(actOf(operator, request, request.query.reason), request.params.id));
      return reply.code(204).send(null);
    },
  );
}

/** Routes for aliases. An alias may contain a slash, so callers send it percent-encoded as one segment. */
function addAliasRoutes(plane: Plane, operator: OperatorPlane): void {
  const { catalogue } = operator;
  plane.put(
    '/operator/aliases/:alias',
    {
      schema: {
        querystring: reasonQuerySchema,
        params: aliasParamsSchema,
        body: aliasTargetSchema,
        response: { 200: aliasSchema },
      },
    },
    async (request) => {
      const { alias } = request.params;
      const { target } = request.body;
      granted(await catalogue.putAlias(actOf(operator, request, request.query.reason), alias, target));
      return { alias, target };
    },
  );

  plane.delete(
    '/operator/aliases/:alias',
    { schema: { querystring: reasonQuerySchema, params: aliasParamsSchema, response: GONE } },
    async (request, reply) => {
      granted(await catalogue.deleteAlias(actOf(operator, request, request.query.reason), request.params.alias));
      return reply.code(204).send(null);
    },
  );
}
