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
import type { CatalogueFile } from '@purser/contract/catalogue.ts';
import type { FastifyReply } from 'fastify';
import type { PastPrice } from '#catalogue/price-history.ts';
import { priceToWire } from '#catalogue/price-row.ts';
import type { OperatorRoutes } from '#http/planes/operator-routes.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted } from '#http/planes/planes.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import type { Act } from '#operator/acts/act.ts';
import type { CatalogueDesk } from '#operator/catalogue/catalogue.ts';
import type { CatalogueChange } from '#operator/catalogue/change.ts';

/** The reason of an act is in the query, because the bodies are catalogue entries and `DELETE` has none. */
const EDIT = { query: reasonQuerySchema, headers: catalogueHeadersSchema };

interface AskedEdit {
  readonly headers: { readonly 'if-match'?: string | undefined };
  readonly reply: FastifyReply;
}

/** Routes for the catalogue: the whole of it, models with their prices, aliases, providers (CP-05, MO-05, MO-06, MO-11). */
export function addCatalogueRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  const { catalogue } = operator;
  const edit = editsOf(catalogue);

  routes.show('/operator/catalogue', { answer: catalogueSchema }, async ({ reply }) => {
    const { file, version } = await catalogue.read();
    return reply.header('etag', tagOf(version)).send(file);
  });

  routes.act(
    'PUT /operator/catalogue',
    { ...EDIT, body: catalogueSchema, answer: catalogueSchema, config: { isLarge: true } },
    async (act, asked) => asked.reply.send(await edit(act, asked, { kind: 'catalogue', file: asked.body })),
  );

  routes.act(
    'PUT /operator/models/:id',
    { ...EDIT, params: modelParamsSchema, body: modelEntrySchema, answer: modelSchema },
    async (act, asked) => {
      const { id } = asked.params;
      if (asked.body.id !== undefined && asked.body.id !== id) {
        return refuse('BAD_REQUEST', '`id` must be the one in the address, or left out.', { param: 'id' });
      }
      const { models } = await edit(act, asked, { kind: 'model', name: id, entry: { ...asked.body, id } });
      return asked.reply.send(models.find((model) => model.id === id));
    },
  );

  routes.show(
    '/operator/models/:id/prices',
    { params: modelParamsSchema, answer: priceHistorySchema },
    async ({ params }) => ({ prices: granted(await catalogue.prices(params.id)).map(shownPrice) }),
  );

  routes.act('DELETE /operator/models/:id', { ...EDIT, params: modelParamsSchema }, (act, asked) =>
    edit(act, asked, { kind: 'model', name: asked.params.id, entry: undefined }),
  );

  // An alias and the name of a provider may contain a slash, so callers send them percent-encoded as one segment.
  routes.act(
    'PUT /operator/aliases/:alias',
    { ...EDIT, params: aliasParamsSchema, body: aliasTargetSchema, answer: aliasSchema },
    async (act, asked) => {
      const { alias } = asked.params;
      const { target } = asked.body;
      await edit(act, asked, { kind: 'alias', name: alias, entry: target });
      return { alias, target };
    },
  );

  routes.act('DELETE /operator/aliases/:alias', { ...EDIT, params: aliasParamsSchema }, (act, asked) =>
    edit(act, asked, { kind: 'alias', name: asked.params.alias, entry: undefined }),
  );

  routes.act(
    'PUT /operator/providers/:name',
    { ...EDIT, params: providerParamsSchema, body: providerSchema, answer: providerSchema },
    async (act, asked) => {
      const { name } = asked.params;
      const { providers } = await edit(act, asked, { kind: 'provider', name, entry: asked.body });
      return asked.reply.send(providers[name]);
    },
  );

  routes.act('DELETE /operator/providers/:name', { ...EDIT, params: providerParamsSchema }, (act, asked) =>
    edit(act, asked, { kind: 'provider', name: asked.params.name, entry: undefined }),
  );
}

/** Makes changes of the version that the caller has read: two operators may edit the same. The answer has the new version. */
function editsOf(catalogue: CatalogueDesk) {
  return async (act: Act, { headers, reply }: AskedEdit, change: CatalogueChange): Promise<CatalogueFile> => {
    const { result, version } = granted(await catalogue.change(act, change, versionIn(headers)));
    reply.header('etag', tagOf(version));
    return result;
  };
}

/** The version in `if-match`. */
function versionIn(headers: AskedEdit['headers']): bigint | undefined {
  const version = /\d+/.exec(headers['if-match'] ?? '')?.[0];
  return version === undefined ? undefined : BigInt(version);
}

function tagOf(version: bigint): string {
  return `"${version}"`;
}

function shownPrice({ price, ...period }: PastPrice) {
  const { provider, provider_model: providerModel } = price;
  return { ...period, provider, providerModel, price: priceToWire(price) };
}
