import { assert } from '#kernel/faults/assert.ts';
import { MICROS_MAX, type Micros, micros } from '#kernel/values/micros.ts';

/** The price of a model: micros per million tokens, and a margin on top in basis points (hundredths of a percent). */
export interface Price {
  /** The stored row that a receipt names. A price row never changes; a new price is a new row. */
  readonly priceId: bigint;
  readonly inputMicrosPerMillion: bigint;
  readonly cachedInputMicrosPerMillion: bigint;
  readonly cacheWriteMicrosPerMillion: bigint;
  readonly outputMicrosPerMillion: bigint;
  readonly marginBasisPoints: bigint;
  /**
   * The special terms. They are undefined for an ordinary price, whose charge is then five multiplications and one
   * division.
   */
  readonly special?: SpecialTerms | undefined;
}

/** All of a price that has more than four kinds of token. The four of `Price` are not read beside it. */
export interface SpecialTerms {
  /** The tiers by the length of the prompt, the shortest first. The last is for prompts of any length. */
  readonly tiers: readonly [Tier, ...Tier[]];
  readonly microsPerCall: bigint;
  readonly microsPerSearch: bigint;
  /** The most searches that a call can be billed for: its hold covers them all. */
  readonly searchesMax: bigint;
  readonly marginMicrosPerCall: bigint;
}

/** The prices of a call whose prompt has at most so many tokens. */
export interface Tier extends Rates {
  readonly inputTokensMax: number;
  /** A prompt of this tier has more tokens. Below zero in the first. */
  readonly aboveInputTokens: number;
}

/** Micros per million tokens of each kind. No token is of two kinds. */
export interface Rates {
  readonly input: bigint;
  readonly cachedInput: bigint;
  readonly cacheWrite: bigint;
  readonly cacheWriteLong: bigint;
  readonly audioInput: bigint;
  readonly imageInput: bigint;
  readonly output: bigint;
  readonly reasoning: bigint;
  readonly audioOutput: bigint;
  readonly imageOutput: bigint;
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
  /** The rare counts. They are undefined if none of them is above zero, which is so for nearly every call. */
  readonly rare?: RareUsage | undefined;
}

/** Further parts of the prompt and of the completion. No token is in two parts. */
interface RareUsage {
  /** The tokens that were written to a cache for longer than usual, an hour for example. */
  readonly cacheWriteLongTokens: number;
  readonly audioInputTokens: number;
  readonly imageInputTokens: number;
  readonly audioOutputTokens: number;
  readonly imageOutputTokens: number;
  /** Searches of the web that the provider made. */
  readonly searches: number;
}

export const NO_RARE_USAGE: RareUsage = {
  cacheWriteLongTokens: 0,
  audioInputTokens: 0,
  imageInputTokens: 0,
  audioOutputTokens: 0,
  imageOutputTokens: 0,
  searches: 0,
};

const TOKENS_PER_PRICE = 1_000_000n;
const BASIS_POINTS = 10_000n;
// All arithmetic is exact, in units of 1/SCALE micro, and rounds once at the end. Rounding each part would overcharge by up
// to three micros a call.
const SCALE = TOKENS_PER_PRICE * BASIS_POINTS;

/**
 * Computes the charge of a call: each kind of token at its price, the fees, the margin on the sum, rounded up once to a whole
 * micro. An absurd number of tokens costs `MICROS_MAX`, the largest amount there is.
 */
export function chargeOf(price: Price, usage: TokenUsage): Micros {
  const { promptTokens, cachedTokens, cacheWriteTokens, rare } = usage;
  if (price.special !== undefined || rare !== undefined) return chargeInFull(price, usage);
  const freshTokens = promptTokens - cachedTokens - cacheWriteTokens;
  assert(freshTokens >= 0, 'more cached and written tokens than prompt tokens');
  assert(usage.reasoningTokens <= usage.completionTokens, 'more reasoning tokens than completion tokens');
  const fresh = BigInt(freshTokens) * price.inputMicrosPerMillion;
  const cached = BigInt(cachedTokens) * price.cachedInputMicrosPerMillion;
  const written = BigInt(cacheWriteTokens) * price.cacheWriteMicrosPerMillion;
  const output = BigInt(usage.completionTokens) * price.outputMicrosPerMillion;
  return roundedUp(price, fresh + cached + written + output);
}

/** The same for every kind of token and every price. */
function chargeInFull(price: Price, usage: TokenUsage): Micros {
  const special = termsOf(price);
  const {
    promptTokens,
    cachedTokens,
    cacheWriteTokens,
    completionTokens,
    reasoningTokens,
    rare = NO_RARE_USAGE,
  } = usage;
  const { cacheWriteLongTokens, audioInputTokens, imageInputTokens, audioOutputTokens, imageOutputTokens } = rare;
  const freshTokens =
    promptTokens - cachedTokens - cacheWriteTokens - cacheWriteLongTokens - audioInputTokens - imageInputTokens;
  const textTokens = completionTokens - reasoningTokens - audioOutputTokens - imageOutputTokens;
  assert(freshTokens >= 0, 'more cached, written, audio and image tokens than prompt tokens');
  assert(textTokens >= 0, 'more reasoning, audio and image tokens than completion tokens');
  const tier = special.tiers.find(({ inputTokensMax }) => promptTokens <= inputTokensMax);
  assert(tier !== undefined, 'the last tier has no end');
  const input =
    BigInt(freshTokens) * tier.input +
    BigInt(cachedTokens) * tier.cachedInput +
    BigInt(cacheWriteTokens) * tier.cacheWrite +
    BigInt(cacheWriteLongTokens) * tier.cacheWriteLong +
    BigInt(audioInputTokens) * tier.audioInput +
    BigInt(imageInputTokens) * tier.imageInput;
  const output =
    BigInt(textTokens) * tier.output +
    BigInt(reasoningTokens) * tier.reasoning +
    BigInt(audioOutputTokens) * tier.audioOutput +
    BigInt(imageOutputTokens) * tier.imageOutput;
  const fees = feesOf(special, BigInt(rare.searches));
  return roundedUp(price, input + output + fees, special.marginMicrosPerCall);
}

/**
 * Computes the most that a call can cost: every prompt token at the dearest input price, every output token used at the
 * dearest output price, and all searches. This is what its hold must cover (WA-07), because how a provider counts a token is
 * known only afterwards. Of several tiers, it is the dearest that a prompt of up to `promptTokens` may reach.
 */
export function ceilingOf(price: Price, promptTokens: number, outputTokens: number): Micros {
  const { special } = price;
  if (special === undefined) {
    const prompt = BigInt(promptTokens) * dearestOf(price);
    return roundedUp(price, prompt + BigInt(outputTokens) * price.outputMicrosPerMillion);
  }
  let most = 0n;
  for (const tier of reachable(special, promptTokens)) {
    const cost = BigInt(promptIn(tier, promptTokens)) * dearestInput(tier) + BigInt(outputTokens) * dearestOutput(tier);
    if (cost > most) most = cost;
  }
  return roundedUp(price, most + feesOf(special, special.searchesMax), special.marginMicrosPerCall);
}

/**
 * Computes how many output tokens, up to `outputTokensMax`, a call may have so that its `ceilingOf` stays within `granted`.
 * May be 0. Divisions round down here: a token too many would exceed the hold.
 */
export function outputWithin(price: Price, promptTokens: number, outputTokensMax: number, granted: Micros): number {
  const { special } = price;
  if (special === undefined) {
    const left = withoutMargin(price, granted, 0n) - BigInt(promptTokens) * dearestOf(price);
    return affordable(left, price.outputMicrosPerMillion, outputTokensMax);
  }
  const budget = withoutMargin(price, granted, special.marginMicrosPerCall) - feesOf(special, special.searchesMax);
  let output = outputTokensMax;
  for (const tier of reachable(special, promptTokens)) {
    const left = budget - BigInt(promptIn(tier, promptTokens)) * dearestInput(tier);
    output = affordable(left, dearestOutput(tier), output);
  }
  return output;
}

/** How many tokens an amount pays for, up to `most`. Output without a price is not limited by money. */
function affordable(left: bigint, microsPerMillion: bigint, most: number): number {
  if (microsPerMillion === 0n) return most;
  if (left <= 0n) return 0;
  const tokens = left / microsPerMillion;
  return tokens < BigInt(most) ? Number(tokens) : most;
}

/** The tiers that a prompt of up to so many tokens may be charged by. */
function reachable({ tiers }: SpecialTerms, promptTokens: number): readonly Tier[] {
  return tiers.length === 1 ? tiers : tiers.filter(({ aboveInputTokens }) => promptTokens > aboveInputTokens);
}

/** The most tokens that such a prompt has if this tier applies. */
function promptIn({ inputTokensMax }: Tier, promptTokens: number): number {
  return Math.min(promptTokens, inputTokensMax);
}

/**
 * Returns the dearest rate of a prompt token. Before the call, nobody knows how a provider will count it: fresh,
 * cached, or written to its cache.
 */
function dearestOf(price: Price): bigint {
  const { inputMicrosPerMillion, cachedInputMicrosPerMillion, cacheWriteMicrosPerMillion } = price;
  const dearer =
    inputMicrosPerMillion > cachedInputMicrosPerMillion ? inputMicrosPerMillion : cachedInputMicrosPerMillion;
  return dearer > cacheWriteMicrosPerMillion ? dearer : cacheWriteMicrosPerMillion;
}

function dearestInput({ input, cachedInput, cacheWrite, cacheWriteLong, audioInput, imageInput }: Rates): bigint {
  return largest(input, cachedInput, cacheWrite, cacheWriteLong, audioInput, imageInput);
}

function dearestOutput({ output, reasoning, audioOutput, imageOutput }: Rates): bigint {
  return largest(output, reasoning, audioOutput, imageOutput);
}

function largest(...amounts: readonly bigint[]): bigint {
  let most = 0n;
  for (const amount of amounts) if (amount > most) most = amount;
  return most;
}

/** What a call and its searches cost beside its tokens, in the unit of tokens and prices. */
function feesOf({ microsPerCall, microsPerSearch }: SpecialTerms, searches: bigint): bigint {
  return (microsPerCall + searches * microsPerSearch) * TOKENS_PER_PRICE;
}

/** Adds the margin and rounds up to a whole micro, so that no call is ever charged less than it costs. */
function roundedUp(price: Price, tokenMicros: bigint, marginMicrosPerCall = 0n): Micros {
  // Adding SCALE - 1 before the division rounds up.
  const scaled = tokenMicros * (BASIS_POINTS + price.marginBasisPoints);
  const rounded = (scaled + SCALE - 1n) / SCALE + marginMicrosPerCall;
  return rounded > MICROS_MAX ? MICROS_MAX : micros(rounded);
}

/** What an amount leaves for the provider, rounded down, in the unit of tokens and prices. Below zero if it is all margin. */
function withoutMargin({ marginBasisPoints }: Price, granted: Micros, marginMicrosPerCall: bigint): bigint {
  const left = granted - marginMicrosPerCall;
  return left < 0n ? -1n : (left * SCALE) / (BASIS_POINTS + marginBasisPoints);
}

/** What a provider takes for a charge: the charge without its margin, rounded down, because the charge was rounded up. */
export function costOf(price: Price, charge: Micros): bigint {
  const cost = withoutMargin(price, charge, price.special?.marginMicrosPerCall ?? 0n) / TOKENS_PER_PRICE;
  return cost < 0n ? 0n : cost;
}

/** What a provider's amount is for an app: with the share, rounded up to a whole micro, and the fixed part on top. */
export function withMargin(price: Price, amount: bigint, marginMicrosPerCall = 0n): Micros {
  return roundedUp(price, amount * TOKENS_PER_PRICE, marginMicrosPerCall);
}

/** A price in full: an ordinary one has a rate for every kind of token too, by those that it has. */
export function termsOf(price: Price): SpecialTerms {
  if (price.special !== undefined) return price.special;
  const { inputMicrosPerMillion: input, outputMicrosPerMillion: output } = price;
  const cacheWrite = price.cacheWriteMicrosPerMillion;
  const rates: Rates = {
    input,
    cachedInput: price.cachedInputMicrosPerMillion,
    cacheWrite,
    cacheWriteLong: cacheWrite,
    audioInput: input,
    imageInput: input,
    output,
    reasoning: output,
    audioOutput: output,
    imageOutput: output,
  };
  return {
    tiers: [{ ...rates, aboveInputTokens: -1, inputTokensMax: Infinity }],
    microsPerCall: 0n,
    microsPerSearch: 0n,
    searchesMax: 0n,
    marginMicrosPerCall: 0n,
  };
}
