import { CATALOGUE_ROUTES } from '@purser/contract/operator.ts';
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

interface AskedEdit {
  readonly act: Act;
  readonly headers: { readonly 'if-match'?: string | undefined };
  readonly reply: FastifyReply;
}

/** Routes for the catalogue: the whole of it, models with their prices, aliases, providers (CP-05, MO-05, MO-06, MO-11). */
export function addCatalogueRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  const { catalogue } = operator;
  const edit = editsOf(catalogue);
  const add = routes(CATALOGUE_ROUTES);

  add('GET /operator/catalogue', async ({ reply }) => {
    const { file, version } = await catalogue.read();
    return reply.header('etag', tagOf(version)).send(file);
  });

  add('PUT /operator/catalogue', async (asked) =>
    asked.reply.send(await edit(asked, { kind: 'catalogue', file: asked.body })),
  );

  add('PUT /operator/models/{id}', async (asked) => {
    const { id } = asked.params;
    if (asked.body.id !== undefined && asked.body.id !== id) {
      return refuse('BAD_REQUEST', '`id` must be the one in the address, or left out.', { param: 'id' });
    }
    const { models } = await edit(asked, { kind: 'model', name: id, entry: { ...asked.body, id } });
    return asked.reply.send(models.find((model) => model.id === id));
  });

  add('GET /operator/models/{id}/prices', async ({ params }) => ({
    prices: granted(await catalogue.prices(params.id)).map(shownPrice),
  }));

  add('DELETE /operator/models/{id}', (asked) =>
    edit(asked, { kind: 'model', name: asked.params.id, entry: undefined }),
  );

  // An alias and the name of a provider may contain a slash, so callers send them percent-encoded as one segment.
  add('PUT /operator/aliases/{alias}', async (asked) => {
    const { alias } = asked.params;
    const { target } = asked.body;
    await edit(asked, { kind: 'alias', name: alias, entry: target });
    return { alias, target };
  });

  add('DELETE /operator/aliases/{alias}', (asked) =>
    edit(asked, { kind: 'alias', name: asked.params.alias, entry: undefined }),
  );

  add('PUT /operator/providers/{name}', async (asked) => {
    const { name } = asked.params;
    const { providers } = await edit(asked, { kind: 'provider', name, entry: asked.body });
    return asked.reply.send(providers[name]);
  });

  add('DELETE /operator/providers/{name}', (asked) =>
    edit(asked, { kind: 'provider', name: asked.params.name, entry: undefined }),
  );

  add('POST /operator/providers/{name}/test', async ({ act, params, body }) => {
    const tested = granted(await operator.providerTest.test(act, params.name, body.providerModel));
    const { words, usage } = tested;
    return { ...tested, message: words, promptTokens: usage?.prompt, completionTokens: usage?.completion };
  });
}

/** Makes changes of the version that the caller has read: two operators may edit the same. The answer has the new version. */
function editsOf(catalogue: CatalogueDesk) {
  return async ({ act, headers, reply }: AskedEdit, change: CatalogueChange): Promise<CatalogueFile> => {
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

/** The route by which operators see how their providers serve (CC-16). */
export function addUpstreamRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  const add = routes(CATALOGUE_ROUTES);
  add('GET /operator/upstreams', async () => ({
    upstreams: operator.readUpstreams(),
  }));
}
