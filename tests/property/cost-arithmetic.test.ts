// Compares a million prices, usages and margins with fractions that are never rounded.
// PURSER_TRIPLES sets how many, and PURSER_TEST_SEED repeats a run.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  ceilingOf,
  chargeOf,
  outputWithin,
  type Price,
  type TokenUsage,
} from '../../packages/service/src/catalogue/price.ts';
import { MICROS_MAX, micros } from '../../packages/service/src/kernel/values/micros.ts';
import { sequenceOf } from '../support/sequence.ts';

const TRIPLES = Number(process.env['PURSER_TRIPLES'] ?? 1_000_000);
const seed = Number(process.env['PURSER_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** The bounds of the catalogue's schema, and of the counts accepted from a provider's report. */
const PRICE_MAX = 1_000_000_000_000n;
const MARGIN_MAX = 1_000_000n;
const TOKENS_MAX = 4_000_000_000;

after(() => {
  console.log(`${TRIPLES} triples of price, usage and margin, seed ${seed}`);
});

const next = sequenceOf(seed);

/** A whole number up to `most`: sometimes one of the bounds, otherwise as often small as large. */
function upTo(most: number): number {
  const kind = next();
  if (kind < 0.08) return 0;
  if (kind < 0.12) return most;
  return Math.floor((most + 1) ** next() * next());
}

function anyPrice(): Price {
  const isFree = next() < 0.02;
  const price = () => (isFree ? 0n : BigInt(upTo(Number(PRICE_MAX))));
  return {
    priceId: 1n,
    inputMicrosPerMillion: price(),
    cachedInputMicrosPerMillion: price(),
    cacheWriteMicrosPerMillion: price(),
    outputMicrosPerMillion: price(),
    marginBasisPoints: BigInt(upTo(Number(MARGIN_MAX))),
  };
}

function anyUsage(tokensMax: number): TokenUsage {
  const [promptTokens, completionTokens] = [upTo(tokensMax), upTo(tokensMax)];
  const cachedTokens = upTo(promptTokens);
  const cacheWriteTokens = upTo(promptTokens - cachedTokens);
  return { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens: upTo(completionTokens) };
}

/** A fraction of micros, never rounded and never cut short. */
class Fraction {
  readonly over: bigint;
  readonly under: bigint;

  constructor(over: bigint, under: bigint) {
    this.over = over;
    this.under = under;
  }

  plus({ over, under }: Fraction): Fraction {
    return new Fraction(this.over * under + over * this.under, this.under * under);
  }

  times({ over, under }: Fraction): Fraction {
    return new Fraction(this.over * over, this.under * under);
  }

  isAtMost(whole: bigint): boolean {
    return this.over <= whole * this.under;
  }
}

/** Micros per token of a kind. */
function each(microsPerMillion: bigint, tokens: number): Fraction {
  return new Fraction(microsPerMillion, 1_000_000n).times(new Fraction(BigInt(tokens), 1n));
}

function withMargin(price: Price, cost: Fraction): Fraction {
  return cost.plus(cost.times(new Fraction(price.marginBasisPoints, 10_000n)));
}

/** The five kinds of token, which do not overlap, each at its price (MO-06). */
function exactCharge(price: Price, usage: TokenUsage): Fraction {
  const cost = each(price.inputMicrosPerMillion, usage.promptTokens - usage.cachedTokens - usage.cacheWriteTokens)
    .plus(each(price.cachedInputMicrosPerMillion, usage.cachedTokens))
    .plus(each(price.cacheWriteMicrosPerMillion, usage.cacheWriteTokens))
    .plus(each(price.outputMicrosPerMillion, usage.completionTokens - usage.reasoningTokens))
    .plus(each(price.outputMicrosPerMillion, usage.reasoningTokens));
  return withMargin(price, cost);
}

function exactCeiling(price: Price, prompt: number, output: number): Fraction {
  const { inputMicrosPerMillion, cachedInputMicrosPerMillion, cacheWriteMicrosPerMillion } = price;
  const [, , dearest = 0n] = [inputMicrosPerMillion, cachedInputMicrosPerMillion, cacheWriteMicrosPerMillion].toSorted(
    (left, right) => (left < right ? -1 : Number(left > right)),
  );
  return withMargin(price, each(dearest, prompt).plus(each(price.outputMicrosPerMillion, output)));
}

/** The whole amount that is at or less than a micro above the exact one, or the largest possible amount. */
function assertRoundedUp(amount: bigint, exact: Fraction, what: unknown): void {
  const isRounded = exact.isAtMost(amount) && !exact.isAtMost(amount - 1n);
  const isCutDown = amount === MICROS_MAX && !exact.isAtMost(MICROS_MAX);
  if (amount > MICROS_MAX || !(isRounded || isCutDown)) assert.fail(shown(amount, what));
}

function shown(...values: readonly unknown[]): string {
  return JSON.stringify(values, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

test('MO-06 a million charges are exact to the micro', () => {
  for (let count = 0; count < TRIPLES; count += 1) {
    const [price, usage] = [anyPrice(), anyUsage(TOKENS_MAX)];
    assertRoundedUp(chargeOf(price, usage), exactCharge(price, usage), { price, usage });
  }
});

test('MO-06 a charge never falls when a factor grows', () => {
  const prices = [
    'inputMicrosPerMillion',
    'cachedInputMicrosPerMillion',
    'outputMicrosPerMillion',
    'marginBasisPoints',
  ] as const;
  for (let count = 0; count < TRIPLES / 10; count += 1) {
    const [price, usage] = [anyPrice(), anyUsage(TOKENS_MAX - 1)];
    const charge = chargeOf(price, usage);
    const more = [
      ...prices.map((name) => chargeOf({ ...price, [name]: price[name] + 1n }, usage)),
      chargeOf(price, { ...usage, promptTokens: usage.promptTokens + 1 }),
      chargeOf(price, { ...usage, promptTokens: usage.promptTokens + 1, cachedTokens: usage.cachedTokens + 1 }),
      chargeOf(price, { ...usage, completionTokens: usage.completionTokens + 1 }),
    ];
    if (!more.every((one) => one >= charge)) assert.fail(shown(price, usage, charge, more));
  }
});

test('MO-06 a free model or a call without usage costs nothing', () => {
  const none = { promptTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0, reasoningTokens: 0 };
  for (let count = 0; count < TRIPLES / 10; count += 1) {
    const price = anyPrice();
    assert.equal(chargeOf(price, none), 0n);
    const input = { inputMicrosPerMillion: 0n, cachedInputMicrosPerMillion: 0n, cacheWriteMicrosPerMillion: 0n };
    const free = { ...price, ...input, outputMicrosPerMillion: 0n };
    assert.equal(chargeOf(free, anyUsage(TOKENS_MAX)), 0n);
  }
});

test('WA-07 a ceiling is exact', () => {
  for (let count = 0; count < TRIPLES / 10; count += 1) {
    const [price, usage] = [anyPrice(), anyUsage(TOKENS_MAX)];
    const [prompt, output] = [usage.promptTokens + upTo(100), usage.completionTokens + upTo(100)];
    const ceiling = ceilingOf(price, prompt, output);
    assertRoundedUp(ceiling, exactCeiling(price, prompt, output), { price, prompt, output });
    if (chargeOf(price, usage) > ceiling) assert.fail(shown(price, usage, prompt, output));
  }
});

test('WA-07 an amount affords the largest covered output', () => {
  for (let count = 0; count < TRIPLES / 10; count += 1) {
    const [price, prompt, outputMax] = [anyPrice(), upTo(TOKENS_MAX), upTo(TOKENS_MAX)];
    const near = ceilingOf(price, prompt, upTo(outputMax)) + BigInt(upTo(6)) - 3n;
    const granted = micros(near < 0n ? 0n : near > MICROS_MAX ? MICROS_MAX : near);
    const output = outputWithin(price, prompt, outputMax, granted);
    const covers = (tokens: number) => exactCeiling(price, prompt, tokens).isAtMost(granted);
    const isLargest = output === outputMax || !covers(output + 1);
    // If the amount does not even cover the prompt, there is no output. If output is free, there is all of it.
    const isCovered = covers(output) || output === 0 || price.outputMicrosPerMillion === 0n;
    if (!isLargest || !isCovered) assert.fail(shown(price, prompt, outputMax, granted, output));
  }
});
