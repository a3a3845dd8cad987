import { type Catalogue, isEntitled, type Model } from '#catalogue/catalogue.ts';
import { type Price, type Rates, termsOf, withMargin } from '#catalogue/price.ts';
import type { Micros } from '#kernel/values/micros.ts';

/** What a model costs an app, margin included. All rates are micros per million tokens, rounded up to a whole micro. */
export interface ShownPrice {
  /**
   * The tiers by the length of the prompt, the shortest first. The first is for prompts of any length above nothing.
   */
  readonly tiers: readonly (ShownRates & { readonly aboveInputTokens: number })[];
  readonly microsPerCall: Micros;
  readonly microsPerSearch: Micros;
}

type ShownRates = Readonly<Record<keyof Rates, Micros>>;

/** A model or alias that an app may call. */
export interface Offer {
  readonly name: string;
  readonly model: Model;
  /** The price of the upstream that calls prefer, and then of each that costs something else. */
  readonly prices: readonly [ShownPrice, ...ShownPrice[]];
}

/** Every model and alias that the app may call now, with what it costs, in alphabetical order. */
export function offersTo(
  app: { readonly isFirstParty: boolean },
  catalogue: Pick<Catalogue, 'list'>,
): readonly Offer[] {
  return catalogue
    .list()
    .filter(({ model }) => isEntitled(app, model))
    .map(({ name, model }) => ({ name, model, prices: pricesOf(model) }));
}

/** Two upstreams that cost the same are shown as one. */
function pricesOf({ upstreams: [first, ...others] }: Model): Offer['prices'] {
  const seen = new Set([textOf(shownPriceOf(first.price))]);
  const different = others.map(({ price }) => shownPriceOf(price)).filter((price) => isNew(seen, textOf(price)));
  return [shownPriceOf(first.price), ...different];
}

function isNew(seen: Set<string>, text: string): boolean {
  return seen.size < seen.add(text).size;
}

function textOf(price: ShownPrice): string {
  return JSON.stringify(price, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

/** A charge is computed exactly and rounded once, so it may be a little below what these rates give. */
function shownPriceOf(price: Price): ShownPrice {
  const { tiers, microsPerCall, microsPerSearch, marginMicrosPerCall } = termsOf(price);
  const shown = (rate: bigint) => withMargin(price, rate);
  return {
    tiers: tiers.map((tier) => ({
      aboveInputTokens: Math.max(0, tier.aboveInputTokens),
      input: shown(tier.input),
      cachedInput: shown(tier.cachedInput),
      cacheWrite: shown(tier.cacheWrite),
      cacheWriteLong: shown(tier.cacheWriteLong),
      audioInput: shown(tier.audioInput),
      imageInput: shown(tier.imageInput),
      output: shown(tier.output),
      reasoning: shown(tier.reasoning),
      audioOutput: shown(tier.audioOutput),
      imageOutput: shown(tier.imageOutput),
    })),
    microsPerCall: withMargin(price, microsPerCall, marginMicrosPerCall),
    microsPerSearch: shown(microsPerSearch),
  };
}
