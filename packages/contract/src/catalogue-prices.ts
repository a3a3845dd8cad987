import { z } from 'zod';

/** What a call costs (MO-06, MO-08). All amounts are whole micros: a fraction would have to be rounded with every call. */

const PRICE_MAX = 1_000_000_000_000; // A million currency units for a million tokens.
const FEE_MAX = 1_000_000_000; // A thousand currency units for one call or search.
const TIERS_MAX = 8;
const CHANGES_MAX = 16;
const MARGIN_MAX = 1_000_000;
const PROMPT_TOKENS_MAX = 10_000_000;

export const priceMicros = z.int().min(0).max(PRICE_MAX);
const feeMicros = z.int().min(0).max(FEE_MAX);

/**
 * Prices of a million tokens. Input and output are required. A kind of token without a price of its own costs as much as
 * input or output; `cacheWriteLong` costs as much as `cacheWrite`.
 */
const rates = {
  inputMicrosPerMillion: priceMicros,
  cachedInputMicrosPerMillion: priceMicros.optional(),
  cacheWriteMicrosPerMillion: priceMicros.optional(),
  cacheWriteLongMicrosPerMillion: priceMicros.optional(),
  audioInputMicrosPerMillion: priceMicros.optional(),
  imageInputMicrosPerMillion: priceMicros.optional(),
  outputMicrosPerMillion: priceMicros,
  reasoningMicrosPerMillion: priceMicros.optional(),
  audioOutputMicrosPerMillion: priceMicros.optional(),
  imageOutputMicrosPerMillion: priceMicros.optional(),
};

/** The prices of calls whose prompt has more tokens than this. They count for the whole call, its output included. */
const tier = z.strictObject({ aboveInputTokens: z.int().min(1).max(PROMPT_TOKENS_MAX), ...rates }).meta({
  id: 'PriceTier',
  description:
    'The prices of calls whose prompt has more than `aboveInputTokens` tokens. They apply to the whole call.',
});

/** The names of the prices of a million tokens. */
export const RATES = Object.keys(rates) as readonly (keyof typeof rates)[];

export const priceSchema = z
  .strictObject({
    ...rates,
    microsPerCall: feeMicros.optional(),
    microsPerSearch: feeMicros.optional().meta({ description: 'Micros for each web search that the provider makes.' }),
    tiers: z.array(tier).min(1).max(TIERS_MAX).optional(),
  })
  .meta({ id: 'Price' });

/** The operator's margin: a share of the cost in hundredths of a percent, and a fixed amount for each call. */
export const marginBasisPoints = z
  .int()
  .min(0)
  .max(MARGIN_MAX)
  .meta({ description: 'The operator’s share on top of the cost, in hundredths of a percent.' });
export const marginMicrosPerCall = feeMicros;

/** A moment is written to the second, so that two different spellings are always two different moments. */
const moment = z.iso.datetime({ precision: 0 }).meta({ description: 'A moment in UTC, in ISO 8601, to the second.' });

/** A price that comes into force by itself. What it leaves out of the margin stays as it is. */
const priceChange = z
  .strictObject({
    from: moment,
    price: priceSchema,
    marginBasisPoints: marginBasisPoints.optional(),
    marginMicrosPerCall: marginMicrosPerCall.optional(),
  })
  .meta({ id: 'PriceChange' });
export const priceChanges = z.array(priceChange).max(CHANGES_MAX);

/** The price of a receipt. What a price has beyond the ordinary is there only if it has it. */
export const receiptPriceSchema = z.object({
  ...priceSchema.shape,
  version: z.int(),
  inputMicrosPerMillion: z.int(),
  cachedInputMicrosPerMillion: z.int(),
  cacheWriteMicrosPerMillion: z.int(),
  outputMicrosPerMillion: z.int(),
  marginBasisPoints: z.int(),
  marginMicrosPerCall: z.int().optional(),
});

export type CataloguePrice = z.output<typeof priceSchema>;
export type CataloguePriceChange = z.output<typeof priceChange>;

type Complain = (path: readonly (string | number)[], message: string) => void;

/** Returns true if anything at all costs something, because zeros alone are no price. */
export function isPriced({ tiers, ...flat }: CataloguePrice): boolean {
  return (
    Object.values(flat).some((amount) => (amount ?? 0) > 0) ||
    tiers?.some((one) => isPriced(withoutBound(one))) === true
  );
}

function withoutBound({ aboveInputTokens: _bound, ...tierRates }: z.output<typeof tier>): CataloguePrice {
  return tierRates;
}

/** Checks that the tiers rise, and that none leaves a price out that the others name: it would cost as much as fresh input. */
export function checkTiers(price: CataloguePrice, complain: Complain): void {
  let above = 0;
  for (const [index, one] of (price.tiers ?? []).entries()) {
    if (index > 0 && one.aboveInputTokens <= above) {
      complain(['tiers', index, 'aboveInputTokens'], 'must be greater than that of the tier before');
    }
    above = one.aboveInputTokens;
    for (const name of RATES) {
      if (price[name] !== undefined && one[name] === undefined) {
        complain(['tiers', index, name], 'is missing. The price names it, so each tier must name its own');
      }
    }
  }
}

/** Checks each price that is to come, and that no two come at the same moment. */
export function checkChanges(changes: readonly CataloguePriceChange[], complain: Complain): void {
  const moments = new Set<string>();
  for (const [index, { from, price }] of changes.entries()) {
    if (moments.has(from)) complain([index, 'from'], 'is the moment of another change as well');
    moments.add(from);
    checkTiers(price, (path, message) => complain([index, 'price', ...path], message));
  }
}
