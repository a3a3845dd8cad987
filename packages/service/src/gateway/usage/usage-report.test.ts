import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { TokenUsage } from '#catalogue/price.ts';
import { laterReport, usageTaken, usageToWire } from '#gateway/usage/usage-report.ts';
import { TOKENS_MAX, type UsageReport } from '#providers/completion.ts';
import { usageReportOf } from '#providers/openai-compatible/usage.ts';

/** Our own count, where a provider tells none. */
const OWN = usage(1_000, 500);

function usage(promptTokens: number, completionTokens: number, cachedTokens = 0, reasoningTokens = 0): TokenUsage {
  return { promptTokens, completionTokens, cachedTokens, reasoningTokens };
}

/** What is taken of the usage fields of the chunks of a stream, or of the one of a plain answer. */
function taken(...reports: readonly unknown[]) {
  return usageTaken(reports.map(usageReportOf).reduce<UsageReport | undefined>(laterReport, undefined), OWN);
}

/** A usage field on the wire; what is undefined is not there. */
function wire(
  prompt: unknown,
  completion: unknown,
  more: { cached?: unknown; reasoning?: unknown; total?: unknown } = {},
) {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: more.total,
    prompt_tokens_details: { cached_tokens: more.cached },
    completion_tokens_details: { reasoning_tokens: more.reasoning },
  };
}

const asTold = (told: TokenUsage) => ({ usage: told, isEstimated: false, isClamped: false });
const clamped = (told: TokenUsage) => ({ usage: told, isEstimated: false, isClamped: true });

test('CC-11 reported usage that agrees with itself is taken as it is, zero included', () => {
  assert.deepEqual(taken(wire(10, 5, { cached: 4, reasoning: 2, total: 15 })), asTold(usage(10, 5, 4, 2)));
  assert.deepEqual(taken(wire(0, 0, { cached: 0, reasoning: 0, total: 0 })), asTold(usage(0, 0)));
  assert.deepEqual(taken({ prompt_tokens: 7, completion_tokens: 3 }), asTold(usage(7, 3)));
  assert.deepEqual(taken({ prompt_tokens: 0, completion_tokens: 0 }), asTold(usage(0, 0)));
  const details = { prompt_tokens_details: null, completion_tokens_details: null };
  assert.deepEqual(taken({ prompt_tokens: 7, completion_tokens: 3, ...details }), asTold(usage(7, 3)));
});

/** The table of gateway/README.md, row by row. */
const CONTRADICTIONS: readonly (readonly [what: string, report: unknown, taken: TokenUsage])[] = [
  ['negative counts are none', wire(-1, -1e300, { cached: -5, reasoning: -5 }), usage(0, 0)],
  ['fractions are whole tokens', wire(1.2, 0.000_001), usage(2, 1)],
  ['counts beyond reason are the most that is within it', wire(1e300, 1 / 0), usage(TOKENS_MAX, TOKENS_MAX)],
  ['more cached than prompt tokens are all of the prompt', wire(10, 5, { cached: 11 }), usage(10, 5, 10)],
  ['more reasoning than completion is all of it', wire(10, 5, { reasoning: 6 }), usage(10, 5, 0, 5)],
  ['a total that is less than its parts gives way', wire(10, 5, { total: 12 }), usage(10, 5)],
  ['a total that is more than its parts gives way', wire(10, 5, { total: 40, reasoning: 3 }), usage(10, 5, 0, 3)],
  ['a total of zero gives way', wire(10, 5, { total: 0 }), usage(10, 5)],
  ['a part that is no number is none', wire(10, 5, { cached: '4', reasoning: {} }), usage(10, 5)],
  ['a total that is no number is none', wire(10, 5, { total: 'NaN' }), usage(10, 5)],
  ['a missing completion is what the total leaves', wire(10, undefined, { total: 15 }), usage(10, 5)],
  ['a missing prompt is what the total leaves', wire(null, 5, { total: 15 }), usage(10, 5)],
  ['text for a count is a missing one', wire('10', 5, { total: 15 }), usage(10, 5)],
];

for (const [what, report, told] of CONTRADICTIONS) {
  test(`CC-11 in a report that contradicts itself, ${what}, and it is flagged`, () => {
    assert.deepEqual(taken(report), clamped(told));
  });
}

test('CC-11 a count that nothing tells is our own, marked as estimated, beside the one that was told', () => {
  const own = { isEstimated: true, isClamped: true };
  for (const none of [undefined, null, 'NaN', Number.NaN, [5], {}, true]) {
    assert.deepEqual(taken(wire(7, none)), { usage: usage(7, OWN.completionTokens), ...own });
    assert.deepEqual(taken(wire(none, 7, { total: 3 })), { usage: usage(OWN.promptTokens, 7), ...own });
    assert.deepEqual(taken(wire(none, none, { total: 99 })), { usage: OWN, ...own });
  }
});

test('CC-11 no report at all is our own count and no contradiction', () => {
  for (const none of [undefined, null, 7, 'usage', []]) {
    assert.deepEqual(taken(none), { usage: OWN, isEstimated: true, isClamped: false });
  }
});

test('CC-11 reasoning that the total shows to lie beside the completion is billed with it, and is no contradiction', () => {
  // 100 visible tokens and 50 or 500 hidden ones: with or without a completion that could hold them.
  assert.deepEqual(taken(wire(10, 100, { reasoning: 50, total: 160 })), asTold(usage(10, 150, 0, 50)));
  assert.deepEqual(taken(wire(10, 100, { reasoning: 500, total: 610 })), asTold(usage(10, 600, 0, 500)));
  assert.deepEqual(taken(wire(10, 0, { reasoning: 50, total: 60 })), asTold(usage(10, 50, 0, 50)));
  assert.deepEqual(taken(wire(10, 100, { reasoning: 50, total: 110 })), asTold(usage(10, 100, 0, 50)));
  assert.deepEqual(taken(wire(10, 100, { reasoning: 50, total: 159 })), clamped(usage(10, 100, 0, 50)));
});

test('CC-11 of usage on several chunks the largest of each count is taken', () => {
  const running = [wire(10, 1, { total: 11 }), null, wire(10, 2, { total: 12 }), undefined, wire(10, 9, { total: 19 })];
  assert.deepEqual(taken(...running), asTold(usage(10, 9)));
  assert.deepEqual(taken(wire(10, 9), wire(10, 9), null), asTold(usage(10, 9)));
});

test('CC-11 usage that falls from one chunk to the next contradicts itself', () => {
  assert.deepEqual(taken(wire(10, 9), wire(10, 8)), clamped(usage(10, 9)));
  assert.deepEqual(taken(wire(10, 9), wire(0, 0, { total: 0 })), clamped(usage(10, 9)));
  // Said in two halves, as providers do whose own format has input first and output last.
  assert.deepEqual(taken(wire(10, 0, { cached: 4 }), wire(0, 9)), clamped(usage(10, 9, 4)));
});

test('CC-11 any reports at all give whole counts in range, in disjoint parts that add up', () => {
  const count = fc.oneof(fc.nat(20), fc.double(), fc.anything());
  const report = fc.oneof(
    { weight: 5, arbitrary: fc.tuple(count, count, count, count, count) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
  fc.assert(
    fc.property(fc.array(report, { maxLength: 3 }), (reports) => {
      const fields = reports.map(
        (one) => one && wire(one[0], one[1], { cached: one[2], reasoning: one[3], total: one[4] }),
      );
      const { usage: told, isClamped } = taken(...fields);
      for (const value of Object.values(told))
        assert.ok(Number.isSafeInteger(value) && value >= 0 && value <= TOKENS_MAX);
      const uncached = told.promptTokens - told.cachedTokens;
      const visible = told.completionTokens - told.reasoningTokens;
      assert.ok(uncached >= 0 && visible >= 0);
      const total = uncached + told.cachedTokens + visible + told.reasoningTokens;
      // What is taken agrees with itself, so taking it again changes nothing.
      const again = wire(told.promptTokens, told.completionTokens, {
        cached: told.cachedTokens,
        reasoning: told.reasoningTokens,
        total: total <= TOKENS_MAX ? total : undefined, // A total beyond reason is none.
      });
      assert.deepEqual(taken(again), asTold(told));
      if (reports.length === 0) assert.equal(isClamped, false);
    }),
    { numRuns: 3_000 },
  );
});

test('CC-12 usage on the wire is what the provider told, where that agrees with itself', () => {
  const details = { prompt_tokens_details: { cached_tokens: 2, audio_tokens: 0 }, completion_tokens_details: null };
  const told = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10, ...details, cost: 1 };
  const report = usageReportOf(told);
  assert.deepEqual(usageToWire(usageTaken(report, OWN).usage, report), told);
});

test('CC-12 usage on the wire adds up to what is charged, where the provider told none or contradicted itself', () => {
  assert.deepEqual(usageToWire(usage(7, 3, 2, 1)), { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 });
  const report = usageReportOf(wire(7, -3, { cached: 9, reasoning: '1', total: 'NaN' }));
  assert.deepEqual(usageToWire(usageTaken(report, OWN).usage, report), {
    prompt_tokens: 7,
    completion_tokens: 0,
    total_tokens: 7,
    prompt_tokens_details: { cached_tokens: 7 },
    completion_tokens_details: { reasoning_tokens: 0 },
  });
});
