/**
 * A second reading of the catalogue's prices: straight from the words of the file, with fractions that are never rounded. It
 * shares no code with the service, so that a mistake would have to be made twice.
 */

type Rates = Readonly<Record<string, unknown>>;

export interface ReadPrice extends Rates {
  readonly tiers?: readonly Rates[];
}

interface Margins {
  readonly marginBasisPoints?: number;
  readonly marginMicrosPerCall?: number;
}

export interface ReadChange extends Margins {
  readonly from: string;
  readonly price: ReadPrice;
}

interface Sheet extends Margins {
  readonly price?: ReadPrice;
  readonly priceChanges?: readonly ReadChange[];
}

export interface ReadModel extends Sheet {
  readonly cacheWriteMicrosPerMillion?: number;
  readonly upstreams: readonly [Sheet, Sheet];
}

/** What a call used, each kind apart: no token is in two of them. */
export type Used = Readonly<Record<Kind | 'searches', number>>;
type Kind = (typeof KINDS)[number];

/** The kinds of input, then those of output. */
export const INPUT_KINDS = [
  'input',
  'cachedInput',
  'cacheWrite',
  'cacheWriteLong',
  'audioInput',
  'imageInput',
] as const;
export const OUTPUT_KINDS = ['output', 'reasoning', 'audioOutput', 'imageOutput'] as const;
const KINDS = [...INPUT_KINDS, ...OUTPUT_KINDS] as const;

/** Where a kind takes its price from if it has none of its own. */
const INSTEAD: Readonly<Record<string, string>> = {
  cachedInput: 'input',
  cacheWrite: 'input',
  cacheWriteLong: 'cacheWrite',
  audioInput: 'input',
  imageInput: 'input',
  reasoning: 'output',
  audioOutput: 'output',
  imageOutput: 'output',
};

function rateOf(rates: Rates, kind: string): bigint {
  const own = rates[`${kind}MicrosPerMillion`];
  return own === undefined ? rateOf(rates, INSTEAD[kind] ?? '') : BigInt(own as number);
}

/** The exact cost of a call as a fraction of micros. `at` is an ISO moment to the second, like those of the file. */
export function exactCost(model: ReadModel, upstream: 0 | 1, at: string, used: Used): { over: bigint; under: bigint } {
  const { price, basisPoints, perCall } = sheetAt(model, upstream, at);
  const prompt = INPUT_KINDS.reduce((sum, kind) => sum + used[kind], 0);
  const rates = (price.tiers ?? []).reduce<Rates>(
    (found, tier) => (prompt > Number(tier['aboveInputTokens']) ? tier : found),
    price,
  );
  // Micros for a million calls like this one.
  let millionth = 0n;
  for (const kind of KINDS) millionth += rateOf(rates, kind) * BigInt(used[kind]);
  millionth += 1_000_000n * BigInt(Number(price['microsPerCall'] ?? 0));
  millionth += 1_000_000n * BigInt(used.searches) * BigInt(Number(price['microsPerSearch'] ?? 0));
  const under = 1_000_000n * 10_000n;
  return { over: millionth * BigInt(10_000 + basisPoints) + BigInt(perCall) * under, under };
}

/** The price and margins in force at a moment. */
function sheetAt(model: ReadModel, upstream: 0 | 1, at: string) {
  const own = model.upstreams[upstream];
  const changeOf = ({ priceChanges = [] }: Sheet) =>
    priceChanges.filter(({ from }) => from <= at).toSorted((left, right) => (left.from < right.from ? 1 : -1))[0];
  const change = changeOf(own.price === undefined ? model : own);
  const basisPoints =
    own.price === undefined
      ? [own.marginBasisPoints, change?.marginBasisPoints, model.marginBasisPoints]
      : [change?.marginBasisPoints, own.marginBasisPoints, model.marginBasisPoints];
  const perCall =
    own.price === undefined
      ? [own.marginMicrosPerCall, change?.marginMicrosPerCall, model.marginMicrosPerCall]
      : [change?.marginMicrosPerCall, own.marginMicrosPerCall, model.marginMicrosPerCall];
  return { price: change?.price ?? ownPrice(model, own), basisPoints: first(basisPoints), perCall: first(perCall) };
}

function ownPrice(model: ReadModel, own: Sheet): ReadPrice {
  if (own.price !== undefined) return own.price;
  const { cacheWriteMicrosPerMillion } = model;
  return { ...model.price, ...(cacheWriteMicrosPerMillion === undefined ? {} : { cacheWriteMicrosPerMillion }) };
}

function first(values: readonly (number | undefined)[]): number {
  return values.find((value) => value !== undefined) ?? 0;
}
