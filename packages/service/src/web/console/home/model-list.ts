import type { Offer } from '#catalogue/shown-price.ts';

/** How the list of models is ordered. */
export const SORTS = ['name', 'input', 'output', 'context'] as const;
type Sort = (typeof SORTS)[number];

/** What the list is narrowed down by, and its order. If all are empty, everything is shown. */
export interface ModelFilters {
  readonly q: string;
  readonly provider: string;
  readonly sort: Sort;
}

export function modelFilters(query: URLSearchParams): ModelFilters {
  const [q = '', provider = '', sort = ''] = ['q', 'provider', 'sort'].map((name) => query.get(name)?.trim() ?? '');
  return { q, provider, sort: SORTS.find((one) => one === sort) ?? 'name' };
}

/** The part of the identifier before its first dot, as `owned_by` of `GET /v1/models` (MO-02). */
export function providerOf({ model }: Offer): string {
  return model.id.slice(0, model.id.indexOf('.'));
}

/** Returns the models whose name or identifier has all words of the search, in the order that was chosen: cheap first, large contexts first. */
export function narrowed(offers: readonly Offer[], { q, provider, sort }: ModelFilters): readonly Offer[] {
  const words = q.toLowerCase().split(/\s+/);
  const fits = (offer: Offer) => {
    const text = `${offer.name} ${offer.model.id}`.toLowerCase();
    return (provider === '' || providerOf(offer) === provider) && words.every((word) => text.includes(word));
  };
  const difference = {
    name: () => 0,
    input: (one: Offer, other: Offer) => Number(priceOf(one, 'input') - priceOf(other, 'input')),
    output: (one: Offer, other: Offer) => Number(priceOf(one, 'output') - priceOf(other, 'output')),
    context: (one: Offer, other: Offer) => other.model.contextTokens - one.model.contextTokens,
  }[sort];
  return offers.filter(fits).toSorted(difference); // Stable: equals stay in alphabetical order.
}

/** Returns the price of a short prompt, by the upstream that calls prefer. */
function priceOf({ prices: [usual] }: Offer, kind: 'input' | 'output'): bigint {
  return usual.tiers[0]?.[kind] ?? 0n;
}
