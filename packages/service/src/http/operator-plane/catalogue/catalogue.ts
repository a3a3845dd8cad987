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
  providerParamsSchema,
  providerSchema,
  reasonQuerySchema,
} from '@purser/contract/operator.ts';
import type { FastifyReply } from 'fastify';
import { priceToWire } from '#catalogue/price-row.ts';
import { operatorRoutes } from '#http/operator-plane/routes/routes.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import type { Edited, EditRefusal } from '#operator/catalogue/edit.ts';

/** The reason of an act is in the query, because the bodies are catalogue entries and `DELETE` has none. */
const EDIT = { query: reasonQuerySchema, headers: catalogueHeadersSchema };

/** Routes for the catalogue: the whole of it, models with their prices, aliases (CP-05, MO-05, MO-06). */
export function addCatalogueRoutes(plane: Plane, operator: OperatorPlane): void {
  const routes = operatorRoutes(plane, operator);
  const { catalogue } = operator;

  routes.show('/operator/catalogue', { answer: catalogueSchema }, async ({ reply }) => {
    const { file, version } = await catalogue.read();
    return versioned(reply, version).send(file);
  });

  routes.act(
    'PUT /operator/catalogue',
    { ...EDIT, body: catalogueSchema, answer: catalogueSchema, isLarge: true },
    async (act, { body, headers, reply }) =>
      edited(reply, await catalogue.change(act, { kind: 'catalogue', file: body }, versionIn(headers))),
  );

  routes.act(
    'PUT /operator/models/:id',
    { ...EDIT, params: modelParamsSchema, body: modelEntrySchema, answer: modelSchema },
    async (act, { params: { id }, body, headers, reply }) => {
      if (body.id !== undefined && body.id !== id) {
        return refuse('BAD_REQUEST', '`id` must be the one in the address, or left out.', { param: 'id' });
      }
      return edited(reply, await catalogue.putModel(act, id, { ...body, id }, versionIn(headers)));
    },
  );

  routes.show(
    '/operator/models/:id/prices',
    { params: modelParamsSchema, answer: priceHistorySchema },
    async ({ params }) => ({
      prices: granted(await catalogue.prices(params.id)).map(({ price, ...period }) => ({
        ...period,
        provider: price.provider,
        providerModel: price.provider_model,
        price: priceToWire(price),
      })),
    }),
  );

  routes.act('DELETE /operator/models/:id', { ...EDIT, params: modelParamsSchema }, async (act, asked) =>
    removed(asked.reply, await catalogue.change(act, removal('model', asked.params.id), versionIn(asked.headers))),
  );

  // An alias and the name of a provider may contain a slash, so callers send them percent-encoded as one segment.
  routes.act(
    'PUT /operator/aliases/:alias',
    { ...EDIT, params: aliasParamsSchema, body: aliasTargetSchema, answer: aliasSchema },
    async (act, { params: { alias }, body: { target }, headers, reply }) => {
      const change = { kind: 'alias', name: alias, entry: target } as const;
      const { version } = granted(await catalogue.change(act, change, versionIn(headers)));
      return versioned(reply, version).send({ alias, target });
    },
  );

  routes.act('DELETE /operator/aliases/:alias', { ...EDIT, params: aliasParamsSchema }, async (act, asked) =>
    removed(asked.reply, await catalogue.change(act, removal('alias', asked.params.alias), versionIn(asked.headers))),
  );

  routes.act(
    'PUT /operator/providers/:name',
    { ...EDIT, params: providerParamsSchema, body: providerSchema, answer: providerSchema },
    async (act, { params, body, headers, reply }) =>
      edited(reply, await catalogue.putProvider(act, params.name, body, versionIn(headers))),
  );

  routes.act('DELETE /operator/providers/:name', { ...EDIT, params: providerParamsSchema }, async (act, asked) =>
    removed(asked.reply, await catalogue.change(act, removal('provider', asked.params.name), versionIn(asked.headers))),
  );
}

/** The version that the caller has read. `if-match` prevents lost updates: two operators may edit the same version. */
function versionIn(headers: { readonly 'if-match'?: string | undefined }): bigint | undefined {
  const version = /\d+/.exec(headers['if-match'] ?? '')?.[0];
  return version === undefined ? undefined : BigInt(version);
}

/** Answers with the version that has the edit, so that the caller can go on with it. */
function versioned(reply: FastifyReply, version: bigint): FastifyReply {
  return reply.header('etag', `"${version}"`);
}

function edited(reply: FastifyReply, edit: Edited<object> | EditRefusal): FastifyReply {
  const { result, version } = granted(edit);
  return versioned(reply, version).send(result);
}

function removal<Kind extends 'model' | 'alias' | 'provider'>(kind: Kind, name: string) {
  return { kind, name, entry: undefined } as const;
}

function removed(reply: FastifyReply, edit: Edited<object> | EditRefusal): FastifyReply {
  return versioned(reply, granted(edit).version).code(204).send(null);
}
