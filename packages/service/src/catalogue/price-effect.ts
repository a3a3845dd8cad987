import { type CatalogueModel, type CatalogueUpstream, upstreamsOf } from '@purser/contract/catalogue.ts';
import { ceilingOf, chargeOf, type Price } from '#catalogue/price.ts';
import { priceAt, priceOf, pricesOf } from '#catalogue/price-row.ts';
import { assert } from '#kernel/faults/assert.ts';
import { type Micros, micros } from '#kernel/values/micros.ts';

/** The call by which prices are compared: a request of 4,000 bytes, which are some 1,000 tokens, and an answer of 500 tokens. */
export const SAMPLE_CALL = { promptBytes: 4_000, promptTokens: 1_000, outputTokens: 500 } as const;

/** What the sample call is at one upstream. */
export interface SampleCost {
  /** What its wallet has to have: the dearest that it can become. */
  readonly hold: Micros;
  /** What the user pays, and what of it the provider gets by the catalogue. */
  readonly charge: Micros;
  readonly cost: Micros;
  readonly margin: Micros;
}

/** What a change of an entry does to the sample call at one upstream. */
export interface UpstreamEffect {
  readonly provider: string;
  readonly providerModel: string;
  /** The cost before the change. It is undefined if the upstream is not in the entry. */
  readonly before: SampleCost | undefined;
  readonly after: SampleCost | undefined;
}

/** Compares two versions of an entry at a moment, upstream by upstream. `undefined`: there is no such entry. */
export function effectOf(
  before: CatalogueModel | undefined,
  after: CatalogueModel | undefined,
  atMs: number,
): readonly UpstreamEffect[] {
  const all = new Map<string, { readonly provider: string; readonly providerModel: string }>();
  for (const model of [after, before]) {
    for (const { provider, providerModel } of model === undefined ? [] : upstreamsOf(model)) {
      all.set(JSON.stringify([provider, providerModel]), { provider, providerModel });
    }
  }
  return [...all.values()].map((named) => ({
    ...named,
    before: sampleCostOf(before, named, atMs),
    after: sampleCostOf(after, named, atMs),
  }));
}

type Named = Pick<CatalogueUpstream, 'provider' | 'providerModel'>;

/** What the sample call is by the price of that moment. */
function sampleCostOf(model: CatalogueModel | undefined, named: Named, atMs: number): SampleCost | undefined {
  const price = model && priceInForce(model, named, atMs);
  if (model === undefined || price === undefined) return undefined;
  const { promptBytes, promptTokens, outputTokens } = SAMPLE_CALL;
  const output = Math.min(outputTokens, model.maxOutputTokens);
  const prompt = Math.min(promptBytes + model.promptOverheadTokens, model.contextTokens);
  const usage = {
    promptTokens: Math.min(promptTokens, model.contextTokens),
    completionTokens: output,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  };
  const charge = chargeOf(price, usage);
  const cost = chargeOf(withoutMargin(price), usage);
  return { hold: ceilingOf(price, prompt, output), charge, cost, margin: micros(charge - cost) };
}

/** The price of an upstream at a moment. Undefined if the entry does not have the upstream. */
export function priceInForce(model: CatalogueModel, named: Named, atMs: number): Price | undefined {
  const rows = pricesOf(model).filter(
    (row) => row.provider === named.provider && row.provider_model === named.providerModel,
  );
  if (rows.length === 0) return undefined;
  const row = priceAt(rows, atMs);
  assert(row !== undefined, 'an upstream has a price at any time');
  return priceOf({ ...row, price_id: 0n }, model.searchesMax);
}

/** What the provider itself asks at a moment: the price without the operator's margin. */
export function costPriceOf(model: CatalogueModel, named: Named, atMs: number): Price | undefined {
  const price = priceInForce(model, named, atMs);
  return price && withoutMargin(price);
}

function withoutMargin(price: Price): Price {
  return {
    ...price,
    marginBasisPoints: 0n,
    special: price.special && { ...price.special, marginMicrosPerCall: 0n },
  };
}

/** When prices of an entry come into force that are set for later than this moment, the next first. */
export function laterMoments(model: CatalogueModel, afterMs: number): readonly number[] {
  const all = pricesOf(model).map(({ effective_from_ms: fromMs }) => fromMs ?? -Infinity);
  return [...new Set(all.filter((fromMs) => fromMs > afterMs))].toSorted((left, right) => left - right);
}
