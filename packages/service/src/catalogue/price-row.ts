import {
  type CatalogueModel,
  type CataloguePrice,
  type RATES,
  statedPrice,
  upstreamsOf,
} from '@purser/contract/catalogue.ts';
import { isDeepStrictEqual } from 'node:util';
import { epochMsOf } from '#kernel/time/clock.ts';
import type { Price, Rates, SpecialTerms, Tier } from '#catalogue/price.ts';

/** What few prices have. Spelled as in the catalogue, so that what is left out has the default of the catalogue. */
type PriceDetails = Omit<
  CataloguePrice,
  'inputMicrosPerMillion' | 'cachedInputMicrosPerMillion' | 'cacheWriteMicrosPerMillion' | 'outputMicrosPerMillion'
>;

/** The amounts of a price as they are stored. */
interface PriceTerms {
  readonly input_micros_per_million: bigint;
  readonly cached_input_micros_per_million: bigint;
  readonly cache_write_micros_per_million: bigint;
  readonly output_micros_per_million: bigint;
  readonly margin_basis_points: number;
  readonly margin_micros_per_call: bigint;
  readonly details: PriceDetails | null;
}

/** A price for one model as one provider serves it. */
export interface NewPrice extends PriceTerms {
  readonly model_id: string;
  readonly provider: string;
  readonly provider_model: string;
  /** Milliseconds since 1970 UTC. Null if it is in force at once. */
  readonly effective_from_ms: number | null;
}

export interface PriceRow extends NewPrice {
  readonly price_id: bigint;
}

/** The price of every upstream of a model, and those to come. */
export function pricesOf(model: CatalogueModel): readonly NewPrice[] {
  const own = statedPrice(model) ?? { inputMicrosPerMillion: 0, outputMicrosPerMillion: 0 };
  return upstreamsOf(model).flatMap((upstream) => {
    // Who has a price of their own has their own changes too. The others follow the model, but for a margin of their own.
    const price = upstream.price ?? own;
    const changes = (upstream.price === undefined ? model : upstream).priceChanges ?? [];
    const basisPoints = upstream.marginBasisPoints ?? model.marginBasisPoints;
    const perCall = upstream.marginMicrosPerCall ?? model.marginMicrosPerCall;
    const named = { model_id: model.id, provider: upstream.provider, provider_model: upstream.providerModel };
    const later = changes.map((change) => {
      const isOwn = upstream.price !== undefined;
      const changedBasisPoints = isOwn
        ? (change.marginBasisPoints ?? basisPoints)
        : (upstream.marginBasisPoints ?? change.marginBasisPoints ?? basisPoints);
      const changedPerCall = isOwn
        ? (change.marginMicrosPerCall ?? perCall)
        : (upstream.marginMicrosPerCall ?? change.marginMicrosPerCall ?? perCall);
      const terms = termsOf(change.price, changedBasisPoints, changedPerCall);
      return { ...named, effective_from_ms: epochMsOf(change.from), ...terms };
    });
    return [{ ...named, effective_from_ms: null, ...termsOf(price, basisPoints, perCall) }, ...later];
  });
}

function termsOf(price: CataloguePrice, marginBasisPoints: number, marginMicrosPerCall = 0): PriceTerms {
  const {
    inputMicrosPerMillion,
    cachedInputMicrosPerMillion = inputMicrosPerMillion,
    cacheWriteMicrosPerMillion = inputMicrosPerMillion,
    outputMicrosPerMillion,
    ...details
  } = price;
  return {
    input_micros_per_million: BigInt(inputMicrosPerMillion),
    cached_input_micros_per_million: BigInt(cachedInputMicrosPerMillion),
    cache_write_micros_per_million: BigInt(cacheWriteMicrosPerMillion),
    output_micros_per_million: BigInt(outputMicrosPerMillion),
    margin_basis_points: marginBasisPoints,
    margin_micros_per_call: BigInt(marginMicrosPerCall),
    details: Object.keys(details).length === 0 ? null : details,
  };
}

/** A stored price in the words of the catalogue, for those who read it. `version` names its row. */
export function priceToWire(row: PriceTerms & Pick<PriceRow, 'price_id'>) {
  const perCall = Number(row.margin_micros_per_call);
  return {
    version: Number(row.price_id),
    inputMicrosPerMillion: Number(row.input_micros_per_million),
    cachedInputMicrosPerMillion: Number(row.cached_input_micros_per_million),
    cacheWriteMicrosPerMillion: Number(row.cache_write_micros_per_million),
    outputMicrosPerMillion: Number(row.output_micros_per_million),
    marginBasisPoints: row.margin_basis_points,
    ...(perCall === 0 ? {} : { marginMicrosPerCall: perCall }),
    ...row.details,
  };
}

/** A stored price as the arithmetic takes it. `searchesMax` is the model's own bound. */
export function priceOf(row: PriceTerms & Pick<PriceRow, 'price_id'>, searchesMax = 0): Price {
  return {
    priceId: row.price_id,
    inputMicrosPerMillion: row.input_micros_per_million,
    cachedInputMicrosPerMillion: row.cached_input_micros_per_million,
    cacheWriteMicrosPerMillion: row.cache_write_micros_per_million,
    outputMicrosPerMillion: row.output_micros_per_million,
    marginBasisPoints: BigInt(row.margin_basis_points),
    special: specialOf(row, searchesMax),
  };
}

function specialOf(row: PriceTerms, searchesMax: number): SpecialTerms | undefined {
  const { details, margin_micros_per_call: marginMicrosPerCall } = row;
  if (details === null && marginMicrosPerCall === 0n) return undefined;
  const { tiers = [], microsPerCall = 0, microsPerSearch = 0, ...others } = details ?? {};
  const flat = {
    ...others,
    inputMicrosPerMillion: Number(row.input_micros_per_million),
    cachedInputMicrosPerMillion: Number(row.cached_input_micros_per_million),
    cacheWriteMicrosPerMillion: Number(row.cache_write_micros_per_million),
    outputMicrosPerMillion: Number(row.output_micros_per_million),
  };
  const bounds = tiers.map(({ aboveInputTokens }) => aboveInputTokens);
  const first: Tier = { ...ratesOf(flat), aboveInputTokens: -1, inputTokensMax: bounds[0] ?? Infinity };
  const later = tiers.map((tier, index) => ({
    ...ratesOf(tier),
    aboveInputTokens: tier.aboveInputTokens,
    inputTokensMax: bounds[index + 1] ?? Infinity,
  }));
  return {
    tiers: [first, ...later],
    microsPerCall: BigInt(microsPerCall),
    microsPerSearch: BigInt(microsPerSearch),
    searchesMax: BigInt(searchesMax),
    marginMicrosPerCall,
  };
}

/** Fills in the defaults: a kind of token without a price of its own costs as much as input or output. */
function ratesOf(price: Pick<CataloguePrice, (typeof RATES)[number]>): Rates {
  const { inputMicrosPerMillion: input, outputMicrosPerMillion: output } = price;
  const cacheWrite = price.cacheWriteMicrosPerMillion ?? input;
  return {
    input: BigInt(input),
    cachedInput: BigInt(price.cachedInputMicrosPerMillion ?? input),
    cacheWrite: BigInt(cacheWrite),
    cacheWriteLong: BigInt(price.cacheWriteLongMicrosPerMillion ?? cacheWrite),
    audioInput: BigInt(price.audioInputMicrosPerMillion ?? input),
    imageInput: BigInt(price.imageInputMicrosPerMillion ?? input),
    output: BigInt(output),
    reasoning: BigInt(price.reasoningMicrosPerMillion ?? output),
    audioOutput: BigInt(price.audioOutputMicrosPerMillion ?? output),
    imageOutput: BigInt(price.imageOutputMicrosPerMillion ?? output),
  };
}

/** The change of a price that is in force at a time: the last that has begun. Undefined if none has. */
export function changeInForce<Change extends { readonly from: string }>(
  changes: readonly Change[] | undefined,
  nowMs: number,
): Change | undefined {
  const begun = (changes ?? []).filter(({ from }) => epochMsOf(from) <= nowMs);
  return begun.toSorted((left, right) => epochMsOf(left.from) - epochMsOf(right.from)).at(-1);
}

/** Returns true if two prices charge the same, however much of them is left to the defaults. */
export function isSamePrice(left: CataloguePrice, right: CataloguePrice): boolean {
  return isDeepStrictEqual(termsOf(left, 0), termsOf(right, 0));
}

/** The price in force at a time: the last that has begun. The prices are those of one upstream. */
export function priceAt<Row extends Pick<NewPrice, 'effective_from_ms'>>(
  rows: readonly Row[],
  nowMs: number,
): Row | undefined {
  const begun = rows.filter((row) => startOf(row) <= nowMs);
  return begun.toSorted((left, right) => startOf(left) - startOf(right)).at(-1);
}

/** When a price comes into force. Before all time if it did so at once. */
export function startOf({ effective_from_ms }: Pick<NewPrice, 'effective_from_ms'>): number {
  return effective_from_ms ?? -Infinity;
}

/** What to do with the price rows of one model, so that they say what the catalogue says. */
interface PriceChanges {
  /** Rows that the catalogue names no longer. */
  readonly ended: readonly bigint[];
  readonly added: readonly NewPrice[];
}

/**
 * Compares the prices that the catalogue names with those that it is to name. A price that is in force and stays the same
 * keeps its row, also if the time has passed at which it began and it is the model's ordinary price now.
 */
export function changesOfPrices(before: readonly PriceRow[], wanted: readonly NewPrice[], nowMs: number): PriceChanges {
  const kept = new Set<bigint>();
  const added: NewPrice[] = [];
  for (const one of wanted) {
    const isSameUpstream = (row: NewPrice) =>
      row.provider === one.provider && row.provider_model === one.provider_model;
    const rows = before.filter(isSameUpstream);
    const inForce = priceAt(rows, nowMs);
    const candidate =
      priceAt(wanted.filter(isSameUpstream), nowMs) === one
        ? inForce
        : rows.find((row) => row !== inForce && startOf(row) === startOf(one));
    if (candidate !== undefined && isDeepStrictEqual(amountsOf(candidate), amountsOf(one)))
      kept.add(candidate.price_id);
    else added.push(one);
  }
  return { ended: before.map(({ price_id }) => price_id).filter((id) => !kept.has(id)), added };
}

function amountsOf(row: PriceTerms): PriceTerms {
  return {
    input_micros_per_million: row.input_micros_per_million,
    cached_input_micros_per_million: row.cached_input_micros_per_million,
    cache_write_micros_per_million: row.cache_write_micros_per_million,
    output_micros_per_million: row.output_micros_per_million,
    margin_basis_points: row.margin_basis_points,
    margin_micros_per_call: row.margin_micros_per_call,
    details: row.details,
  };
}
