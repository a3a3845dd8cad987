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
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { priceToWire } from '#catalogue/price-row.ts';
import { actOf, type OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { isoOf } from '#kernel/time/clock.ts';
import { refuse } from '#kernel/faults/refusal.ts';

const GONE = { 204: z.null() };
/** The reason of an act is in the query, because the bodies are catalogue entries and `DELETE` has none. */
const EDIT = { querystring: reasonQuerySchema, headers: catalogueHeadersSchema };

interface EditHeaders {
  readonly 'if-match'?: string | undefined;
}

/** The version that the caller has read. `if-match` prevents lost updates: two operators may edit the same version. */
export function versionIn(headers: EditHeaders): bigint | undefined {
  const version = /\d+/.exec(headers['if-match'] ?? '')?.[0];
  return version === undefined ? undefined : BigInt(version);
}

/** Answers with the version that has the edit, so that the caller can go on with it. */
export function versioned(reply: FastifyReply, version: bigint): void {
  reply.header('etag', `"${version}"`);
}

/** Routes for the catalogue: the whole of it, models with their prices, aliases (CP-05, MO-05, MO-06). */
export function addCatalogueRoutes(plane: Plane, operator: OperatorPlane): void {
  const { catalogue } = operator;
  plane.get('/operator/catalogue', { schema: { response: { 200: catalogueSchema } } }, async (_request, reply) => {
    const { file, version } = await catalogue.read();
    versioned(reply, version);
    return file;
  });

  plane.put(
    '/operator/catalogue',
    { config: { isLarge: true }, schema: { ...EDIT, body: catalogueSchema, response: { 200: catalogueSchema } } },
    async (request, reply) => {
      const act = actOf(operator, request, request.query.reason);
      const edited = granted(
        await catalogue.change(act, { kind: 'catalogue', file: request.body }, versionIn(request.headers)),
      );
      versioned(reply, edited.version);
      return edited.result;
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
    { schema: { ...EDIT, params: modelParamsSchema, body: modelEntrySchema, response: { 200: modelSchema } } },
    async (request, reply) => {
      const { id } = request.params;
      if (request.body.id !== undefined && request.body.id !== id) {
        granted(refuse('BAD_REQUEST', '`id` must be the one in the address, or left out.', { param: 'id' }));
      }
      const act = actOf(operator, request, request.query.reason);
      const entry = { ...request.body, id };
      const edited = granted(await catalogue.putModel(act, id, entry, versionIn(request.headers)));
      versioned(reply, edited.version);
      return edited.result;
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
    { schema: { ...EDIT, params: modelParamsSchema, response: GONE } },
    async (request, reply) => {
      const act = actOf(operator, request, request.query.reason);
      const edited = granted(
        await catalogue.change(
          act,
          { kind: 'model', name: request.params.id, entry: undefined },
          versionIn(request.headers),
        ),
      );
      versioned(reply, edited.version);
      return reply.code(204).send(null);
    },
  );
}

/** Routes for aliases. An alias may contain a slash, so callers send it percent-encoded as one segment. */
function addAliasRoutes(plane: Plane, operator: OperatorPlane): void {
  const { catalogue } = operator;
  plane.put(
    '/operator/aliases/:alias',
    { schema: { ...EDIT, params: aliasParamsSchema, body: aliasTargetSchema, response: { 200: aliasSchema } } },
    async (request, reply) => {
      const { alias } = request.params;
      const { target } = request.body;
      const act = actOf(operator, request, request.query.reason);
      const edited = granted(
        await catalogue.change(act, { kind: 'alias', name: alias, entry: target }, versionIn(request.headers)),
      );
      versioned(reply, edited.version);
      return { alias, target };
    },
  );

  plane.delete(
    '/operator/aliases/:alias',
    { schema: { ...EDIT, params: aliasParamsSchema, response: GONE } },
    async (request, reply) => {
      const act = actOf(operator, request, request.query.reason);
      const edited = granted(
        await catalogue.change(
          act,
          { kind: 'alias', name: request.params.alias, entry: undefined },
          versionIn(request.headers),
        ),
      );
      versioned(reply, edited.version);
      return reply.code(204).send(null);
    },
  );
}
