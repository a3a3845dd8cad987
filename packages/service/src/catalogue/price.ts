import { assert } from '#kernel/assert.ts';
import { MICROS_MAX, type Micros, micros } from '#kernel/micros.ts';

/** What a model costs: micros per million tokens, and the margin on top in basis points (hundredths of a percent). */
export interface Price {
  /** The stored row that a receipt names: a price never changes, a new one takes its place. */
  readonly priceId: bigint;
  readonly inputMicrosPerMillion: bigint;
  readonly cachedInputMicrosPerMillion: bigint;
  readonly cacheWriteMicrosPerMillion: bigint;
  readonly outputMicrosPerMillion: bigint;
  readonly marginBasisPoints: bigint;
}

/** Tokens of one call. Cached tokens are part of the prompt's, reasoning tokens part of the completion's. */
export interface TokenUsage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly reasoningTokens: number;
}

const TOKENS_PER_PRICE = 1_000_000n;
const BASIS_POINTS = 10_000n;
const SCALE = TOKENS_PER_PRICE * BASIS_POINTS;

/**
 * The charge of a call: uncached input, cached input and output, each at its price, margin on the sum, rounded up once
 * to a whole micro. Tokens beyond reason cost `MICROS_MAX`, the largest amount there is.
 */
export function chargeOf(price: Price, usage: TokenUsage): Micros {
  assert(usage.cachedTokens <= usage.promptTokens, 'more cached tokens than prompt tokens');
  const uncached = BigInt(usage.promptTokens - usage.cachedTokens) * price.inputMicrosPerMillion;
  const cached = BigInt(usage.cachedTokens) * price.cachedInputMicrosPerMillion;
  const output = BigInt(usage.completionTokens) * price.outputMicrosPerMillion;
  return roundedUp(price, uncached + cached + output);
}

/** The most that a call can cost: every prompt token at the dearest input price, every output token used (WA-07). */
export function ceilingOf(price: Price, promptTokens: number, outputTokens: number): Micros {
  const prompt = BigInt(promptTokens) * dearestInput(price);
  return roundedUp(price, prompt + BigInt(outputTokens) * price.outputMicrosPerMillion);
}

/** The most output tokens, up to `outputTokensMax`, of a call whose `ceilingOf` is within `granted`. May be 0. */
export function outputWithin(price: Price, promptTokens: number, outputTokensMax: number, granted: Micros): number {
  if (price.outputMicrosPerMillion === 0n) return outputTokensMax;
  const withoutMargin = (granted * SCALE) / (BASIS_POINTS + price.marginBasisPoints);
  const left = withoutMargin - BigInt(promptTokens) * dearestInput(price);
  if (left <= 0n) return 0;
  const affordable = left / price.outputMicrosPerMillion;
  return affordable < BigInt(outputTokensMax) ? Number(affordable) : outputTokensMax;
}

function dearestInput(price: Price): bigint {
  const { inputMicrosPerMillion, cachedInputMicrosPerMillion, cacheWriteMicrosPerMillion } = price;
  const dearer =
    inputMicrosPerMillion > cachedInputMicrosPerMillion ? inputMicrosPerMillion : cachedInputMicrosPerMillion;
  return dearer > cacheWriteMicrosPerMillion ? dearer : cacheWriteMicrosPerMillion;
}

function roundedUp(price: Price, tokenMicros: bigint): Micros {
  const scaled = tokenMicros * (BASIS_POINTS + price.marginBasisPoints);
  const rounded = (scaled + SCALE - 1n) / SCALE;
  return rounded > MICROS_MAX ? MICROS_MAX : micros(rounded);
}
