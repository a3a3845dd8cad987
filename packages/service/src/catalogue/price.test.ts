import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ceilingOf, chargeOf, costOf, outputWithin, type Price, type TokenUsage } from '#catalogue/price.ts';
import { MICROS_MAX, type Micros, micros } from '#kernel/values/micros.ts';

const perMillion = fc.bigInt({ min: 0n, max: 1_000_000_000_000n });
const prices: fc.Arbitrary<Price> = fc.record({
  priceId: fc.constant(1n),
  inputMicrosPerMillion: perMillion,
  cachedInputMicrosPerMillion: perMillion,
  cacheWriteMicrosPerMillion: perMillion,
  outputMicrosPerMillion: perMillion,
  marginBasisPoints: fc.bigInt({ min: 0n, max: 1_000_000n }),
});
const tokens = fc.oneof(fc.nat({ max: 100 }), fc.nat({ max: 10_000_000 }));
const usages: fc.Arbitrary<TokenUsage> = fc
  .tuple(tokens, tokens, tokens, tokens, tokens)
  .map(([prompt, cached, written, completion, reasoning]) => ({
    promptTokens: prompt,
    cachedTokens: Math.min(cached, prompt),
    cacheWriteTokens: Math.min(written, prompt - Math.min(cached, prompt)),
    completionTokens: completion,
    reasoningTokens: Math.min(reasoning, completion),
  }));

/** A fraction, never rounded. */
interface Rational {
  readonly over: bigint;
  readonly under: bigint;
}

function plus(left: Rational, right: Rational): Rational {
  return { over: left.over * right.under + right.over * left.under, under: left.under * right.under };
}

/** Tokens at a price for a million of them, as a fraction of micros. */
function cost(count: number, microsPerMillion: bigint): Rational {
  return { over: BigInt(count) * microsPerMillion, under: 1_000_000n };
}

/** The clause, step by step: the sum of the parts, the margin on top, rounded up to the next whole micro. */
function exactly(parts: readonly Rational[], marginBasisPoints: bigint): bigint {
  const sum = parts.reduce(plus, { over: 0n, under: 1n });
  const margin = { over: sum.over * marginBasisPoints, under: sum.under * 10_000n };
  const { over, under } = plus(sum, margin);
  const whole = over / under;
  const roundedUp = over % under === 0n ? whole : whole + 1n;
  return roundedUp > MICROS_MAX ? MICROS_MAX : roundedUp;
}

test('MO-06 a charge is exact cost plus margin, rounded up once', () => {
  fc.assert(
    fc.property(prices, usages, (price, usage) => {
      const parts = [
        cost(usage.promptTokens - usage.cachedTokens - usage.cacheWriteTokens, price.inputMicrosPerMillion),
        cost(usage.cachedTokens, price.cachedInputMicrosPerMillion),
        cost(usage.cacheWriteTokens, price.cacheWriteMicrosPerMillion),
        cost(usage.completionTokens, price.outputMicrosPerMillion),
      ];
      assert.equal(chargeOf(price, usage), exactly(parts, price.marginBasisPoints));
    }),
    { numRuns: 2_000 },
  );
});

test('WA-09 a charge’s cost excludes its margin, to the micro', () => {
  fc.assert(
    fc.property(prices, usages, (price, usage) => {
      const charge = chargeOf(price, usage);
      fc.pre(charge < MICROS_MAX);
      const free = { ...price, marginBasisPoints: 0n };
      const off = costOf(price, charge) - chargeOf(free, usage);
      assert.ok(off >= -1n && off <= 1n, String(off));
    }),
    { numRuns: 500 },
  );
});

test('WA-07 a ceiling is the dearest prompt plus all output', () => {
  fc.assert(
    fc.property(prices, tokens, tokens, (price, prompt, output) => {
      const { inputMicrosPerMillion, cachedInputMicrosPerMillion, cacheWriteMicrosPerMillion } = price;
      const inputs = [inputMicrosPerMillion, cachedInputMicrosPerMillion, cacheWriteMicrosPerMillion];
      const dearest = inputs.reduce((most, one) => (one > most ? one : most));
      const parts = [cost(prompt, dearest), cost(output, price.outputMicrosPerMillion)];
      assert.equal(ceilingOf(price, prompt, output), exactly(parts, price.marginBasisPoints));
    }),
    { numRuns: 2_000 },
  );
});

test('WA-07 no usage within a call’s limits exceeds its ceiling', () => {
  fc.assert(
    fc.property(prices, usages, tokens, tokens, (price, usage, morePrompt, moreOutput) => {
      const ceiling = ceilingOf(price, usage.promptTokens + morePrompt, usage.completionTokens + moreOutput);
      assert.ok(chargeOf(price, usage) <= ceiling);
    }),
    { numRuns: 2_000 },
  );
});

/** Amounts near the cost of a call, where one token makes the difference, and arbitrary others. */
const grants = fc
  .tuple(
    prices,
    tokens,
    tokens,
    fc.bigInt({ min: -3n, max: 3n }),
    fc.boolean(),
    fc.bigInt({ min: 0n, max: MICROS_MAX }),
  )
  .map(([price, prompt, output, off, isNear, any]) => {
    const near = ceilingOf(price, prompt, output) + off;
    const isAmount = near >= 0n && near <= MICROS_MAX;
    return { price, prompt, granted: isNear && isAmount ? micros(near) : micros(any) };
  });

test('WA-07 affordable output never costs more, one more token would', () => {
  fc.assert(
    fc.property(grants, tokens, ({ price, prompt, granted }, outputMax) => {
      const output = outputWithin(price, prompt, outputMax, granted);
      assert.ok(output >= 0 && output <= outputMax && Number.isSafeInteger(output));
      if (output > 0 && price.outputMicrosPerMillion > 0n) assert.ok(ceilingOf(price, prompt, output) <= granted);
      // The largest amount covers everything, because every charge is capped at it.
      if (output < outputMax && granted < MICROS_MAX) assert.ok(ceilingOf(price, prompt, output + 1) > granted);
    }),
    { numRuns: 5_000 },
  );
});

test('WA-07 a hold of the ceiling pays for all its output', () => {
  fc.assert(
    fc.property(prices, tokens, tokens, (price, prompt, output) => {
      const ceiling = ceilingOf(price, prompt, output);
      if (ceiling < MICROS_MAX) assert.equal(outputWithin(price, prompt, output, ceiling), output);
    }),
    { numRuns: 2_000 },
  );
});

const PRICE: Price = {
  priceId: 1n,
  inputMicrosPerMillion: 1_000_000n,
  cachedInputMicrosPerMillion: 100_000n,
  cacheWriteMicrosPerMillion: 1_250_000n,
  outputMicrosPerMillion: 3_000_000n,
  marginBasisPoints: 1_500n,
};
const NONE: TokenUsage = {
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
};

function by(usage: Partial<TokenUsage>): Micros {
  return chargeOf(PRICE, { ...NONE, ...usage });
}

test('MO-06 charges equal those worked out by hand', () => {
  assert.equal(by({}), 0n);
  assert.equal(by({ promptTokens: 20 }), 23n); // 20 x 1.15 is already whole.
  assert.equal(by({ promptTokens: 1 }), 2n); // 1.15
  assert.equal(by({ promptTokens: 1, cachedTokens: 1 }), 1n); // 0.115
  assert.equal(by({ promptTokens: 10, cachedTokens: 4, cacheWriteTokens: 0, completionTokens: 2 }), 15n); // (6 + 0.4 + 6) x 1.15 = 14.26
  assert.equal(by({ promptTokens: 10, cacheWriteTokens: 8 }), 14n); // (2 + 10) x 1.15 = 13.8
  assert.equal(by({ promptTokens: 10, cachedTokens: 2, cacheWriteTokens: 8 }), 12n); // (0.2 + 10) x 1.15 = 11.73
  assert.equal(by({ completionTokens: 100, reasoningTokens: 90 }), 345n); // Reasoning is part of the completion.
});

test('WA-07 an absurd number of tokens costs the largest possible amount', () => {
  const count = Number.MAX_SAFE_INTEGER;
  const most = { ...NONE, promptTokens: count, completionTokens: count };
  assert.equal(chargeOf({ ...PRICE, outputMicrosPerMillion: 1_000_000_000_000n }, most), MICROS_MAX);
});

test('WA-07 more cached tokens than prompt tokens throw', () => {
  assert.throws(() => chargeOf(PRICE, { ...NONE, cachedTokens: 1 }), /cached/);
  assert.throws(() => chargeOf(PRICE, { ...NONE, promptTokens: 2, cachedTokens: 1, cacheWriteTokens: 2 }), /written/);
});

test('WA-07 more reasoning tokens than completion tokens throw', () => {
  assert.throws(() => chargeOf(PRICE, { ...NONE, completionTokens: 1, reasoningTokens: 2 }), /reasoning/);
});
