import { z } from 'zod';
import { onAbandon, providerSchema } from './catalogue-providers.ts';

export type { CatalogueProvider } from './catalogue-providers.ts';

/**
 * The catalogue file: providers, models with their prices, aliases (MO-04 to MO-06). Unknown fields are refused, because a
 * misspelt price would otherwise be a free model.
 */

const IDENTIFIER = /^[a-z0-9-]+\.[A-Za-z0-9._:-]+$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/;
const NAME_WORDS = {
  error: 'must be 1 to 128 letters, digits, `.`, `_`, `:`, `/` or `-`, and begin with a letter or digit',
};
const PRICE_MAX = 1_000_000_000_000; // A million currency units for a million tokens.
const TOKENS_MAX = 10_000_000;
const TIMEOUT_MS_MAX = 3_600_000;

/** A price for a million tokens. Whole micros: a fraction would have to be rounded with every call. */
const priceMicros = z.int().min(0).max(PRICE_MAX);
const tokens = z.int().min(1).max(TOKENS_MAX);
/** Families of tokenizers, named after the vocabulary of which each is typical. */
const tokenizer = z.enum(['o200k', 'cl100k']);
export const aliasName = z.string().regex(NAME, NAME_WORDS);

/** One model. Prices are micros for a million tokens; the margin is in hundredths of a percent on top of them. */
export const modelSchema = z.strictObject({
  id: z.string().max(128).regex(IDENTIFIER, 'must look like `family.model-name`'),
  provider: z.string().regex(NAME, NAME_WORDS),
  providerModel: z.string().min(1).max(256),
  resale: z.enum(['open', 'reserved']),
  enabled: z.boolean().default(true),
  price: z
    .strictObject({
      inputMicrosPerMillion: priceMicros,
      cachedInputMicrosPerMillion: priceMicros.optional(),
      outputMicrosPerMillion: priceMicros,
    })
    .optional(),
  cacheWriteMicrosPerMillion: priceMicros.optional(),
  free: z.boolean().default(false),
  marginBasisPoints: z.int().min(0).max(1_000_000).default(0),
  contextTokens: tokens,
  maxOutputTokens: tokens,
  defaultOutputTokens: tokens.optional(),
  minOutputTokens: tokens.default(16),
  promptOverheadTokens: z.int().min(0).max(TOKENS_MAX).default(512),
  imageTokensMax: tokens.optional(),
  parameters: z.array(z.string()).optional(),
  outputLimitParameter: z.enum(['max_tokens', 'max_completion_tokens']).default('max_completion_tokens'),
  onAbandon: onAbandon.optional(),
  /** It reasons without showing the text. If left out, a model does that takes `reasoning_effort` by its own list. */
  reasonsOutOfSight: z.boolean().optional(),
  /** How our own counts are made: `o200k` (the default) for vocabularies of 150,000 entries and more, `cl100k` for smaller ones. */
  tokenizer: tokenizer.optional(),
  timeoutMs: z.int().min(1_000).max(TIMEOUT_MS_MAX).default(600_000),
});

/** The whole catalogue. Checks what no single entry can show: identifiers, references and names that would collide. */
export const catalogueSchema = z
  .strictObject({
    providers: z.record(z.string().regex(NAME, NAME_WORDS), providerSchema),
    models: z.array(modelSchema),
    aliases: z.record(aliasName, z.string()).default({}),
  })
  .superRefine((catalogue, context) => {
    const complain = (path: (string | number)[], message: string) =>
      context.addIssue({ code: 'custom', path, message });
    const ids = new Set<string>();
    for (const [index, model] of catalogue.models.entries()) {
      if (ids.has(model.id)) complain(['models', index, 'id'], `\`${model.id}\` is listed twice`);
      ids.add(model.id);
      if (!Object.hasOwn(catalogue.providers, model.provider)) {
        complain(['models', index, 'provider'], `there is no provider \`${model.provider}\``);
      }
      checkPrice(model, (field, message) => complain(['models', index, field], message));
      if (
        reasonsOutOfSight(model) &&
        (model.onAbandon ?? catalogue.providers[model.provider]?.onAbandon) === 'cancel'
      ) {
        complain(['models', index, 'onAbandon'], CANCEL_OUT_OF_SIGHT);
      }
    }
    for (const [alias, target] of Object.entries(catalogue.aliases)) {
      if (ids.has(alias)) complain(['aliases', alias], 'is the identifier of a model');
      if (alias.startsWith('sandbox/'))
        complain(['aliases', alias], 'must not begin with `sandbox/`, as sandbox outcomes do');
      if (!ids.has(target)) complain(['aliases', alias], `there is no model \`${target}\``);
    }
  });

const CANCEL_OUT_OF_SIGHT =
  'must be "drain": a model that reasons out of sight bills tokens that nobody can count when its stream is cancelled. ' +
  'If this model shows all that it generates, say `"reasonsOutOfSight": false`';

/** Whether a model generates text that it does not show. A model that takes `reasoning_effort` is taken for one unless it says no. */
export function reasonsOutOfSight(model: Pick<CatalogueModel, 'reasonsOutOfSight' | 'parameters'>): boolean {
  return model.reasonsOutOfSight ?? model.parameters?.includes('reasoning_effort') ?? false;
}

/** Checks that a model without a price says so itself. A forgotten price must not give its tokens away. */
function checkPrice(model: CatalogueModel, complain: (field: string, message: string) => void): void {
  const prices = [...Object.values(model.price ?? {}), model.cacheWriteMicrosPerMillion];
  const isPriced = prices.some((price) => price !== undefined && price > 0);
  if ((!isPriced || model.price === undefined) && !model.free) {
    complain('price', 'a model without a price must have `"free": true`');
  }
  if (isPriced && model.free) complain('free', 'must not be true for a model with a price');
  if ((model.defaultOutputTokens ?? 0) > model.maxOutputTokens) {
    complain('defaultOutputTokens', 'must not exceed `maxOutputTokens`');
  }
  if (model.minOutputTokens > model.maxOutputTokens) complain('minOutputTokens', 'must not exceed `maxOutputTokens`');
}

export type CatalogueModel = z.output<typeof modelSchema>;
export type Tokenizer = z.output<typeof tokenizer>;
export type CatalogueFile = z.output<typeof catalogueSchema>;
