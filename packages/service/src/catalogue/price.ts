import { assert } from '#kernel/assert.ts';
import { MICROS_MAX, type Micros, micros } from '#kernel/micros.ts';

/** The price of a model: micros per million tokens, and a margin on top in basis points (hundredths of a percent). */
export interface Price {
  /** The stored row that a receipt names. A price row never changes; a new price is a new row. */
  readonly priceId: bigint;
  readonly inputMicrosPerMillion: bigint;
  readonly cachedInputMicrosPerMillion: bigint;
  readonly cacheWriteMicrosPerMillion: bigint;
  readonly outputMicrosPerMillion: bigint;
  readonly marginBasisPoints: bigint;
}

/**
 * Tokens of one call. The prompt's include the cached ones, which were read from the provider's cache, and apart from those the
 * ones that were written to it. The completion's include the reasoning tokens.
 */
export interface TokenUsage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly completionTokens: number;
  readonly reasoningTokens: number;
}

const TOKENS_PER_PRICE = 1_000_000n;
const BASIS_POINTS = 10_000n;
// All arithmetic is exact, in units of 1/SCALE micro, and rounds once at the end. Rounding each part would overcharge by up
// to three micros a call.
const SCALE = TOKENS_PER_PRICE * BASIS_POINTS;

/**
 * Computes the charge of a call: fresh input, cached input, input written to the cache, and output, each at its price, the
 * margin on the sum, rounded up once to a whole micro. An absurd number of tokens costs `MICROS_MAX`, the largest amount there is.
 */
export function chargeOf(price: Price, usage: TokenUsage): Micros {
  const { promptTokens, cachedTokens, cacheWriteTokens } = usage;
  const freshTokens = promptTokens - cachedTokens - cacheWriteTokens;
  assert(freshTokens >= 0, 'more cached and written tokens than prompt tokens');
  const fresh = BigInt(freshTokens) * price.inputMicrosPerMillion;
  const cached = BigInt(cachedTokens) * price.cachedInputMicrosPerMillion;
  const written = BigInt(cacheWriteTokens) * price.cacheWriteMicrosPerMillion;
  const output = BigInt(usage.completionTokens) * price.outputMicrosPerMillion;
  return roundedUp(price, fresh + cached + written + output);
}

/**
 * Computes the most that a call can cost: every prompt token at the dearest input price, and every output token used. This
 * is what its hold must cover (WA-07), because which tokens are cached is known only afterwards.
 */
export function ceilingOf(price: Price, promptTokens: number, outputTokens: number): Micros {
  const prompt = BigInt(promptTokens) * dearestInput(price);
  return roundedUp(price, prompt + BigInt(outputTokens) * price.outputMicrosPerMillion);
}

/**
 * Computes how many output tokens, up to `outputTokensMax`, a call may have so that its `ceilingOf` stays within `granted`.
 * May be 0. Divisions round down here: a token too many would exceed the hold.
 */
export function outputWithin(price: Price, promptTokens: number, outputTokensMax: number, granted: Micros): number {
  if (price.outputMicrosPerMillion === 0n) return outputTokensMax;
  const withoutMargin = (granted * SCALE) / (BASIS_POINTS + price.marginBasisPoints);
  const left = withoutMargin - BigInt(promptTokens) * dearestInput(price);
  if (left <= 0n) return 0;
  const affordable = left / price.outputMicrosPerMillion;
  return affordable < BigInt(outputTokensMax) ? Number(affordable) : outputTokensMax;
}

/** Before the call, nobody knows how a provider will count a prompt token: fresh, cached, or written to its cache. */
function dearestInput(price: Price): bigint {
  const { inputMicrosPerMillion, cachedInputMicrosPerMillion, cacheWriteMicrosPerMillion } = price;
  const dearer =
    inputMicrosPerMillion > cachedInputMicrosPerMillion ? inputMicrosPerMillion : cachedInputMicrosPerMillion;
  return dearer > cacheWriteMicrosPerMillion ? dearer : cacheWriteMicrosPerMillion;
}

/** Adds the margin and rounds up to a whole micro, so that no call is ever charged less than it costs. */
function roundedUp(price: Price, tokenMicros: bigint): Micros {
  // Adding SCALE - 1 before the division rounds up.
  const scaled = tokenMicros * (BASIS_POINTS + price.marginBasisPoints);
  const rounded = (scaled + SCALE - 1n) / SCALE;
  return rounded > MICROS_MAX ? MICROS_MAX : micros(rounded);
}
