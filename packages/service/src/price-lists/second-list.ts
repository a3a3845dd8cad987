import type { ModelPrice, PriceCalculationResult, Provider } from '@pydantic/genai-prices';
import { dateOf } from '#kernel/time/clock.ts';
import { readDecimal, wholeMicros } from '#price-lists/decimal.ts';
import { RATE_NAMES, type RateCard, RATES, type RateName, type Tier } from '#price-lists/rate-card.ts';

/** The second list, `@pydantic/genai-prices`, with the data that the package contains. It is read without a network. */
export interface SecondList {
  readonly find: (asked: SecondListQuery) => SecondPrice | undefined;
}

interface SecondListQuery {
  /** The provider as models.dev calls it. */
  readonly provider: string;
  /** The address that calls go to, for a provider that the two lists call differently. */
  readonly address: string | undefined;
  readonly model: string;
}

export interface SecondPrice {
  /** The provider and model in the second list. */
  readonly name: string;
  readonly card: RateCard;
  /** The further prices that it has, which no one checks. */
  readonly others: readonly string[];
}

/** Providers that the two lists call differently. */
const NAMES: Readonly<Record<string, string>> = {
  'amazon-bedrock': 'aws',
  'azure-cognitive-services': 'azure',
  'cloudflare-workers-ai': 'cloudflare',
  'fireworks-ai': 'fireworks',
  'google-vertex': 'google',
  'novita-ai': 'novita',
  togetherai: 'together',
  xai: 'x-ai',
};
const HOUR_MS = 3_600_000;
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const KNOWN = new Set<string>(RATE_NAMES.map((name) => RATES[name].second));

/** Loads the second list, with prices as of a moment. The library is large, so only commands load it. */
export async function loadSecondList(nowMs: number): Promise<SecondList> {
  const { calcPrice, findProvider } = await import('@pydantic/genai-prices');

  function providerOf({ provider, address }: SecondListQuery): Provider | undefined {
    const id = NAMES[provider] ?? provider;
    const named = findProvider({ providerId: id });
    // The library also takes names that merely contain a known one, such as a reseller's.
    if (named?.id === id) return named;
    return address === undefined ? undefined : findProvider({ providerApiUrl: address });
  }

  /** Some vendors ask less at night. The dearest hour counts, because a call may come at any time. */
  function dearest(provider: Provider, model: string): NonNullable<PriceCalculationResult> | undefined {
    const results = HOURS.flatMap((hour) => {
      const timestamp = dateOf(nowMs + hour * HOUR_MS);
      const found = calcPrice({ input_tokens: 1, output_tokens: 1 }, model, { providerId: provider.id, timestamp });
      return found === null ? [] : [found];
    });
    return results.toSorted((left, right) => right.input_price - left.input_price)[0];
  }

  return {
    find: (query) => {
      const provider = providerOf(query);
      if (provider === undefined) return undefined;
      try {
        const found = dearest(provider, query.model);
        const card = found === undefined ? undefined : cardOf(found.model_price);
        if (found === undefined || card === undefined) return undefined;
        return { name: `${found.provider.id}/${found.model.id}`, card, others: othersOf(found.model_price) };
      } catch {
        return undefined; // The library throws for models that it cannot price by tokens.
      }
    },
  };
}

/** Returns undefined if a price of the list is not a whole number of micros, which none is today. */
function cardOf(prices: ModelPrice): RateCard | undefined {
  const starts = new Set([0]);
  for (const name of RATE_NAMES) {
    const price = prices[RATES[name].second];
    if (typeof price === 'object') for (const { start } of price.tiers) starts.add(start);
  }
  const tiers: Tier[] = [];
  for (const start of [...starts].toSorted((left, right) => left - right)) {
    const rates: Partial<Record<RateName, bigint>> = {};
    for (const name of RATE_NAMES) {
      const amount = amountAt(prices[RATES[name].second], start);
      if (amount === undefined) continue;
      const decimal = readDecimal(String(amount));
      const amountMicros = decimal === undefined ? undefined : wholeMicros(decimal);
      if (amountMicros === undefined) return undefined;
      rates[name] = amountMicros;
    }
    tiers.push({ aboveInputTokens: start, rates });
  }
  const [base, ...rest] = tiers;
  return base === undefined ? undefined : [base, ...rest];
}

function amountAt(price: ModelPrice[string], start: number): number | undefined {
  if (typeof price !== 'object') return price;
  return price.tiers.findLast((tier) => tier.start <= start)?.price ?? price.base;
}

/** Returns prices in dollars, by the list's own names, such as `web_searches_kcount 10`. */
function othersOf(prices: ModelPrice): readonly string[] {
  return Object.entries(prices).flatMap(([name, price]) => {
    if (KNOWN.has(name) || price === undefined) return [];
    return [`${name} ${typeof price === 'object' ? price.base : price}`];
  });
}
