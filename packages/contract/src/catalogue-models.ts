import { z } from 'zod';
import { apis } from './apis.ts';
import {
  checkChanges,
  checkTiers,
  isPriced,
  marginBasisPoints,
  marginMicrosPerCall,
  priceChanges,
  priceMicros,
  priceSchema,
} from './catalogue-prices.ts';
import { onAbandon } from './catalogue-providers.ts';
import { outputLimitParameter } from './output-limit.ts';

/** The models of a catalogue, with those who serve them. */

const IDENTIFIER = /^[a-z0-9-]+\.[A-Za-z0-9._:-]+$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/;
const NAME_WORDS = {
  error: 'must be 1 to 128 letters, digits, `.`, `_`, `:`, `/` or `-`, and begin with a letter or digit',
};
const TOKENS_MAX = 10_000_000;
const TIMEOUT_MS_MAX = 3_600_000;
const UPSTREAMS_MAX = 8;
const WEIGHT_MAX = 1_000;
const SEARCHES_MAX = 1_000;
const DIMENSIONS_MAX = 65_536;

/** A name of a provider or an alias. */
export const catalogueName = z.string().regex(NAME, NAME_WORDS);
const tokens = z.int().min(1).max(TOKENS_MAX);
/** Families of tokenizers, named after the vocabulary of which each is typical. */
const tokenizer = z.enum(['o200k', 'cl100k']).meta({
  description:
    'How the service counts tokens itself: `o200k` (the default) for vocabularies of 150,000 entries and more, `cl100k` for smaller ones.',
});
const providerModel = z.string().min(1).max(256).meta({ description: 'The provider’s name for the model.' });
const timeoutMs = z
  .int()
  .min(1_000)
  .max(TIMEOUT_MS_MAX)
  .meta({ description: 'How long an answer may take as a whole, in milliseconds.' });
const firstByteMs = z
  .int()
  .min(100)
  .max(TIMEOUT_MS_MAX)
  .meta({ description: 'How long the provider may take to begin its answer, in milliseconds.' });

/** One of several that serve a model. What it leaves out is as the model says. */
const upstream = z
  .strictObject({
    provider: catalogueName,
    providerModel,
    weight: z
      .int()
      .min(1)
      .max(WEIGHT_MAX)
      .optional()
      .meta({ description: 'The upstream’s share of the calls. Without weights, calls prefer the first upstream.' }),
    price: priceSchema.optional(),
    marginBasisPoints: marginBasisPoints.optional(),
    marginMicrosPerCall: marginMicrosPerCall.optional(),
    priceChanges: priceChanges.optional(),
    apis: apis.optional(),
    outputLimitParameter: outputLimitParameter.optional(),
    onAbandon: onAbandon.optional(),
    timeoutMs: timeoutMs.optional(),
    firstByteMs: firstByteMs.optional(),
  })
  .meta({ id: 'CatalogueUpstream' });

/** One model. Prices are micros for a million tokens; the margin is on top of them. */
export const modelSchema = z.strictObject({
  id: z.string().max(128).regex(IDENTIFIER, 'must look like `family.model-name`'),
  provider: catalogueName.optional(),
  providerModel: providerModel.optional(),
  upstreams: z
    .array(upstream)
    .min(1)
    .max(UPSTREAMS_MAX)
    .optional()
    .meta({ description: 'The upstreams of the model, instead of `provider` and `providerModel`.' }),
  resale: z
    .enum(['open', 'reserved'])
    .meta({ description: 'Who may call the model: every app, or only the operator’s own apps.' }),
  enabled: z.boolean().default(true),
  price: priceSchema.optional(),
  cacheWriteMicrosPerMillion: priceMicros
    .optional()
    .meta({ description: 'The same as `cacheWriteMicrosPerMillion` of `price`, as older files write it.' }),
  free: z.boolean().default(false),
  marginBasisPoints: marginBasisPoints.default(0),
  marginMicrosPerCall: marginMicrosPerCall.optional(),
  priceChanges: priceChanges.optional(),
  contextTokens: tokens,
  maxOutputTokens: tokens,
  defaultOutputTokens: tokens.optional(),
  minOutputTokens: tokens.default(16),
  promptOverheadTokens: z
    .int()
    .min(0)
    .max(TOKENS_MAX)
    .default(512)
    .meta({ description: 'The tokens that a provider may add to a prompt. A hold covers them.' }),
  imageTokensMax: tokens
    .optional()
    .meta({ description: 'The most tokens that one image can cost. Without it, the model takes no images.' }),
  searchesMax: z
    .int()
    .min(1)
    .max(SEARCHES_MAX)
    .optional()
    .meta({ description: 'The most searches that a call can be billed for. A hold covers them all.' }),
  dimensionsMax: z.int().min(1).max(DIMENSIONS_MAX).optional().meta({
    description: 'For a model of embeddings: the most numbers of a vector, which bound the size of an answer.',
  }),
  parameters: z.array(z.string()).optional(),
  apis: apis.optional(),
  outputLimitParameter: outputLimitParameter.optional(),
  onAbandon: onAbandon.optional(),
  reasonsOutOfSight: z.boolean().optional().meta({
    description:
      'Whether the model reasons without showing the text. The default is true if its `parameters` list `reasoning_effort`.',
  }),
  tokenizer: tokenizer.optional(),
  timeoutMs: timeoutMs.default(600_000),
  firstByteMs: firstByteMs.optional(),
});

export type CatalogueModel = z.output<typeof modelSchema>;
export type CatalogueUpstream = z.output<typeof upstream>;
export type Tokenizer = z.output<typeof tokenizer>;

type Complain = (path: readonly (string | number)[], message: string) => void;

/** Those who serve a model, in either spelling. A model has one at least. */
export function upstreamsOf(
  model: Pick<CatalogueModel, 'provider' | 'providerModel' | 'upstreams'>,
): readonly CatalogueUpstream[] {
  if (model.upstreams !== undefined) return model.upstreams;
  return [{ provider: model.provider ?? '', providerModel: model.providerModel ?? '' }];
}

/** The model's own price, with what the old place says. */
export function statedPrice(model: Pick<CatalogueModel, 'price' | 'cacheWriteMicrosPerMillion'>) {
  const { price, cacheWriteMicrosPerMillion } = model;
  if (price === undefined || cacheWriteMicrosPerMillion === undefined) return price;
  return { ...price, cacheWriteMicrosPerMillion };
}

/** Whether a model generates text that it does not show. A model that takes `reasoning_effort` is taken for one unless it says no. */
export function reasonsOutOfSight(model: Pick<CatalogueModel, 'reasonsOutOfSight' | 'parameters'>): boolean {
  return model.reasonsOutOfSight ?? model.parameters?.includes('reasoning_effort') ?? false;
}

/** Checks what no single field of a model can show. Paths begin at the model. */
export function checkModel(model: CatalogueModel, complain: Complain): void {
  checkUpstreams(model, complain);
  checkPrices(model, complain);
  if ((model.defaultOutputTokens ?? 0) > model.maxOutputTokens) {
    complain(['defaultOutputTokens'], 'must not exceed `maxOutputTokens`');
  }
  const hasOutput = model.dimensionsMax === undefined;
  if (hasOutput && model.minOutputTokens > model.maxOutputTokens)
    complain(['minOutputTokens'], 'must not exceed `maxOutputTokens`');
}

function checkUpstreams(model: CatalogueModel, complain: Complain): void {
  const { upstreams } = model;
  for (const field of ['provider', 'providerModel'] as const) {
    if (upstreams !== undefined && model[field] !== undefined) {
      complain([field], 'is not allowed together with `upstreams`: each upstream names its own');
    }
    if (upstreams === undefined && model[field] === undefined) complain([field], 'is required without `upstreams`');
  }
  const names = new Set<string>();
  for (const [index, one] of (upstreams ?? []).entries()) {
    const name = JSON.stringify([one.provider, one.providerModel]);
    if (names.has(name)) complain(['upstreams', index, 'providerModel'], 'is listed twice with this provider');
    names.add(name);
    if (one.weight === undefined && upstreams?.some(({ weight }) => weight !== undefined) === true) {
      complain(['upstreams', index, 'weight'], 'is missing. Either all upstreams have a weight, or none has');
    }
  }
}

/** Checks that a model without a price says so itself. A forgotten price must not give its tokens away. */
function checkPrices(model: CatalogueModel, complain: Complain): void {
  const { price, cacheWriteMicrosPerMillion, free } = model;
  if (cacheWriteMicrosPerMillion !== undefined && price?.cacheWriteMicrosPerMillion !== undefined) {
    complain(['cacheWriteMicrosPerMillion'], 'is in `price` as well. Leave this one out');
  }
  const stated = statedPrice(model);
  const isStated = stated !== undefined && isPriced(stated);
  const isFeed = (model.marginMicrosPerCall ?? 0) > 0;
  const isOwnNeeded = upstreamsOf(model).some((one) => one.price === undefined) || price !== undefined;
  if (isOwnNeeded && !free && (stated === undefined || !(isStated || isFeed))) {
    complain(['price'], 'a model without a price must have `"free": true`');
  }
  if (free && (isStated || isFeed || (cacheWriteMicrosPerMillion ?? 0) > 0)) {
    complain(['free'], 'must not be true for a model with a price');
  }
  if (!isOwnNeeded && cacheWriteMicrosPerMillion !== undefined) {
    complain(['cacheWriteMicrosPerMillion'], 'belongs to a `price`, and this model has none of its own');
  }
  checkSheet(model, { ...model, price: stated }, [], complain);
  for (const [index, one] of (model.upstreams ?? []).entries()) {
    const perCall = one.marginMicrosPerCall ?? model.marginMicrosPerCall;
    checkSheet(model, { ...one, marginMicrosPerCall: perCall }, ['upstreams', index], complain);
    if (one.price === undefined) {
      // It has the model's price, but its fixed margin may be its own.
      const isOwnFeed = (one.marginMicrosPerCall ?? 0) > 0;
      const path = ['upstreams', index, 'marginMicrosPerCall'];
      if (free && isOwnFeed) complain(path, 'is not allowed for a model that is free');
      else if (!free && one.marginMicrosPerCall === 0 && !isStated && isFeed) {
        complain(path, 'must not be 0: the model has no other price');
      }
      continue;
    }
    const isOwnPriced = isPriced(one.price) || (perCall ?? 0) > 0;
    if (!free && !isOwnPriced) complain(['upstreams', index, 'price'], 'must charge something');
    if (free && isOwnPriced) complain(['upstreams', index, 'price'], 'is not allowed for a model that is free');
  }
}

/** A price as a model or an upstream states it. */
type Sheet = {
  readonly [Field in 'price' | 'priceChanges' | 'marginMicrosPerCall']?: CatalogueUpstream[Field] | undefined;
};

/** Checks one price and the changes to it. */
function checkSheet(
  { free, searchesMax }: CatalogueModel,
  { price, priceChanges: changes = [], marginMicrosPerCall: perCall = 0 }: Sheet,
  path: readonly (string | number)[],
  complain: Complain,
): void {
  const at = (field: string) => (steps: readonly (string | number)[], message: string) =>
    complain([...path, field, ...steps], message);
  if (price !== undefined) checkTiers(price, at('price'));
  checkChanges(changes, at('priceChanges'));
  if (changes.length > 0 && price === undefined && !free)
    at('priceChanges')([], 'need a `price` that is in force until then');
  for (const [index, change] of changes.entries()) {
    const isChangePriced = isPriced(change.price) || (change.marginMicrosPerCall ?? perCall) > 0;
    if (free) at('priceChanges')([index], 'is not allowed for a model that is free');
    else if (!isChangePriced) at('priceChanges')([index, 'price'], 'must charge something');
  }
  const prices = [price, ...changes.map((change) => change.price)];
  if (searchesMax === undefined && prices.some((one) => (one?.microsPerSearch ?? 0) > 0)) {
    complain(['searchesMax'], 'is required with `microsPerSearch`: without a bound, no hold could cover the searches');
  }
}
