import { z } from 'zod';
import { canServe } from './apis.ts';
import { checkEmbeddings } from './catalogue-embeddings.ts';
import { catalogueName, checkModel, modelSchema, reasonsOutOfSight, upstreamsOf } from './catalogue-models.ts';
import { providerSchema } from './catalogue-providers.ts';

/**
 * The catalogue file: providers, models with their prices, aliases (MO-04 to MO-06). Unknown fields are refused, because a
 * misspelt price would otherwise be a free model.
 */

export const aliasName = catalogueName;

/** The whole catalogue. Checks what no single entry can show: identifiers, references and names that would collide. */
export const catalogueSchema = z
  .strictObject({
    providers: z.record(catalogueName, providerSchema),
    models: z.array(modelSchema),
    aliases: z.record(aliasName, z.string()).default({}),
  })
  .superRefine((catalogue, context) => {
    const complain = (path: readonly (string | number)[], message: string) =>
      context.addIssue({ code: 'custom', path: [...path], message });
    const ids = new Set<string>();
    for (const [index, model] of catalogue.models.entries()) {
      if (ids.has(model.id)) complain(['models', index, 'id'], `\`${model.id}\` is listed twice`);
      ids.add(model.id);
      checkModel(model, (path, message) => complain(['models', index, ...path], message));
      for (const [place, upstream] of upstreamsOf(model).entries()) {
        const path = ['models', index, ...(model.upstreams === undefined ? [] : ['upstreams', place])];
        const provider = Object.hasOwn(catalogue.providers, upstream.provider)
          ? catalogue.providers[upstream.provider]
          : undefined;
        if (provider === undefined && upstream.provider !== '') {
          complain([...path, 'provider'], `there is no provider \`${upstream.provider}\``);
        }
        const stated = upstream.apis ?? model.apis;
        if (provider !== undefined && stated !== undefined && !canServe(provider.kind, stated))
          complain([...path, 'apis'], OF_ONE_API);
        const onAbandon = upstream.onAbandon ?? model.onAbandon ?? provider?.onAbandon;
        if (reasonsOutOfSight(model) && onAbandon === 'cancel') complain([...path, 'onAbandon'], CANCEL_OUT_OF_SIGHT);
      }
      checkEmbeddings(catalogue.providers, model, (path, message) => complain(['models', index, ...path], message));
    }
    for (const [alias, target] of Object.entries(catalogue.aliases)) {
      if (ids.has(alias)) complain(['aliases', alias], 'is the identifier of a model');
      if (alias.startsWith('sandbox/'))
        complain(['aliases', alias], 'must not begin with `sandbox/`, as sandbox outcomes do');
      if (!ids.has(target)) complain(['aliases', alias], `there is no model \`${target}\``);
    }
  });

const OF_ONE_API =
  'is only for providers of kind `openai-compatible` or `azure`. Others have one interface for text, and `mistral`, `google`, `vertex`, ' +
  '`bedrock` and `simulator` beside it `["embeddings"]`';

const CANCEL_OUT_OF_SIGHT =
  'must be "drain": a model that reasons out of sight bills tokens that nobody can count when its stream is cancelled. ' +
  'If this model shows all that it generates, say `"reasonsOutOfSight": false`';

export type CatalogueFile = z.output<typeof catalogueSchema>;
export type { Api } from './apis.ts';
export { type CatalogueModel, type CatalogueUpstream, modelSchema, type Tokenizer } from './catalogue-models.ts';
export { reasonsOutOfSight, statedPrice, upstreamsOf } from './catalogue-models.ts';
export { type CataloguePrice, type CataloguePriceChange, RATES } from './catalogue-prices.ts';
export type { CatalogueProvider } from './catalogue-providers.ts';
