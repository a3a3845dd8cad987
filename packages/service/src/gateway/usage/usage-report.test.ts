import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { TokenUsage } from '#catalogue/price.ts';
import { laterReport, usageTaken, usageToWire } from '#gateway/usage/usage-report.ts';
import { TOKENS_MAX, type UsageReport } from '#providers/port/completion.ts';
import { usageReportOf } from '#providers/answers/usage.ts';

/** Our own count, for providers that report no usage. */
const OWN = usage(1_000, 500);

function usage(promptTokens: number, completionTokens: number, cachedTokens = 0, reasoningTokens = 0): TokenUsage {
  return { promptTokens, completionTokens, cachedTokens, cacheWriteTokens: 0, reasoningTokens };
}

/** The same, with this many of the prompt's tokens written to the cache. */
const written = (cacheWriteTokens: number, told: TokenUsage) => ({ ...told, cacheWriteTokens });

/** What the service takes from the usage fields of a stream’s chunks, or from the one of a buffered response. */
function taken(...reports: readonly unknown[]) {
  return usageTaken(reports.map(usageReportOf).reduce<UsageReport | undefined>(laterReport, undefined), () => OWN);
}

/** A usage field on the wire, without the undefined ones. */
function wire(
  prompt: unknown,
  completion: unknown,
  more: { cached?: unknown; written?: unknown; reasoning?: unknown; total?: unknown } = {},
) {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: more.total,
    prompt_tokens_details: {
      cached_tokens: more.cached,
      ...(more.written === undefined ? {} : { cache_write_tokens: more.written }),
    },
    completion_tokens_details: { reasoning_tokens: more.reasoning },
  };
}

const asTold = (told: TokenUsage) => ({ usage: told, isEstimated: false, isClamped: false });
const clamped = (told: TokenUsage) => ({ usage: told, isEstimated: false, isClamped: true });

test('CC-23 a consistent usage report is taken unchanged', () => {
  assert.deepEqual(taken(wire(10, 5, { cached: 4, reasoning: 2, total: 15 })), asTold(usage(10, 5, 4, 2)));
  assert.deepEqual(taken(wire(0, 0, { cached: 0, reasoning: 0, total: 0 })), asTold(usage(0, 0)));
  assert.deepEqual(taken({ prompt_tokens: 7, completion_tokens: 3 }), asTold(usage(7, 3)));
  assert.deepEqual(taken({ prompt_tokens: 0, completion_tokens: 0 }), asTold(usage(0, 0)));
  const details = { prompt_tokens_details: null, completion_tokens_details: null };
  assert.deepEqual(taken({ prompt_tokens: 7, completion_tokens: 3, ...details }), asTold(usage(7, 3)));
});

/** The table of gateway/README.md, row by row. */
const CONTRADICTIONS: readonly (readonly [what: string, report: unknown, taken: TokenUsage])[] = [
  ['negative counts count as zero', wire(-1, -1e300, { cached: -5, reasoning: -5 }), usage(0, 0)],
  ['fractions are rounded up to whole tokens', wire(1.2, 0.000_001), usage(2, 1)],
  ['absurdly large counts are cut to the maximum', wire(1e300, 1 / 0), usage(TOKENS_MAX, TOKENS_MAX)],
  ['cached tokens beyond the prompt count as the whole prompt', wire(10, 5, { cached: 11 }), usage(10, 5, 10)],
  [
    'reasoning tokens beyond the completion count as the whole completion',
    wire(10, 5, { reasoning: 6 }),
    usage(10, 5, 0, 5),
  ],
  ['a total that is less than its parts is ignored', wire(10, 5, { total: 12 }), usage(10, 5)],
  [
    'a total above its parts and the reported reasoning is ignored',
    wire(10, 5, { total: 40, reasoning: 3 }),
    usage(10, 5, 0, 3),
  ],
  ['a total of zero is ignored', wire(10, 5, { total: 0 }), usage(10, 5)],
  ['a part that is not a number is ignored', wire(10, 5, { cached: '4', reasoning: {} }), usage(10, 5)],
  ['a total that is not a number is ignored', wire(10, 5, { total: 'NaN' }), usage(10, 5)],
  ['a missing completion is the rest of the total', wire(10, undefined, { total: 15 }), usage(10, 5)],
  ['a missing prompt is the rest of the total', wire(null, 5, { total: 15 }), usage(10, 5)],
  ['a count given as text is missing', wire('10', 5, { total: 15 }), usage(10, 5)],
];

for (const [what, report, told] of CONTRADICTIONS) {
  test(`CC-23 in a contradictory report, ${what}, and the report is flagged`, () => {
    assert.deepEqual(taken(report), clamped(told));
  });
}

test('CC-23 a missing count is estimated and marked so', () => {
  const own = { isEstimated: true, isClamped: true };
  for (const none of [undefined, null, 'NaN', Number.NaN, [5], {}, true]) {
    assert.deepEqual(taken(wire(7, none)), { usage: usage(7, OWN.completionTokens), ...own });
    assert.deepEqual(taken(wire(none, 7, { total: 3 })), { usage: usage(OWN.promptTokens, 7), ...own });
    assert.deepEqual(taken(wire(none, none, { total: 99 })), { usage: OWN, ...own });
  }
});

test('CC-23 without any report our own count is used, unflagged', () => {
  for (const none of [undefined, null, 7, 'usage', []]) {
    assert.deepEqual(taken(none), { usage: OWN, isEstimated: true, isClamped: false });
  }
});

test('CC-23 reasoning outside the completion is billed with it', () => {
  // 100 visible tokens and 50 or 500 hidden ones: the completion could hold the 50, but not the 500.
  assert.deepEqual(taken(wire(10, 100, { reasoning: 50, total: 160 })), asTold(usage(10, 150, 0, 50)));
  assert.deepEqual(taken(wire(10, 100, { reasoning: 500, total: 610 })), asTold(usage(10, 600, 0, 500)));
  assert.deepEqual(taken(wire(10, 0, { reasoning: 50, total: 60 })), asTold(usage(10, 50, 0, 50)));
  assert.deepEqual(taken(wire(10, 100, { reasoning: 50, total: 110 })), asTold(usage(10, 100, 0, 50)));
  assert.deepEqual(taken(wire(10, 100, { reasoning: 50, total: 159 })), clamped(usage(10, 100, 0, 50)));
});

test('CC-23 tokens only in the total are billed as reasoning', () => {
  // Gemini: 702 thoughts. Its format has no place for them.
  const gemini = usageReportOf({ prompt_tokens: 10, completion_tokens: 278, total_tokens: 990 });
  assert.deepEqual(
    usageTaken(gemini, () => OWN, 1_000),
    asTold(usage(10, 980, 0, 702)),
  );
  assert.deepEqual(
    usageTaken(gemini, () => OWN, 500),
    clamped(usage(10, 500, 0, 222)),
  );
  assert.deepEqual(
    usageTaken(gemini, () => OWN, 100),
    clamped(usage(10, 278)),
  );
  assert.deepEqual(usageToWire(usageTaken(gemini, () => OWN, 1_000).usage, gemini), {
    prompt_tokens: 10,
    completion_tokens: 980,
    total_tokens: 990,
    completion_tokens_details: { reasoning_tokens: 702 },
  });
  // All of it thoughts, and the completion left out.
  assert.deepEqual(taken({ prompt_tokens: 21, total_tokens: 81 }), clamped(usage(21, 60)));
});

test('MO-08 a total reveals a cached prompt counted separately', () => {
  assert.deepEqual(taken(wire(10, 5, { cached: 7, total: 22 })), asTold(usage(17, 5, 7)));
  const beside = wire(10, 5, { cached: 7, reasoning: 4, total: 26 });
  assert.deepEqual(taken(beside), asTold(usage(17, 9, 7, 4)));
});

test('MO-08 the total decides where more cached than prompt tokens lie', () => {
  // Without a total, and with one that has no room for them, the prompt was all cached. Otherwise it is as long as the total leaves.
  assert.deepEqual(taken(wire(100, 50, { cached: 600 })), clamped(usage(100, 50, 100)));
  assert.deepEqual(taken(wire(100, 50, { cached: 600, total: 150 })), clamped(usage(100, 50, 100)));
  assert.deepEqual(taken(wire(100, 50, { cached: 600, total: 650 })), asTold(usage(600, 50, 600)));
  assert.deepEqual(taken(wire(100, 50, { cached: 600, total: 250 })), clamped(usage(200, 50, 200)));
  assert.deepEqual(taken(wire(100, 50, { cached: 600, total: 750 })), asTold(usage(700, 50, 600)));
  // What is left above that are thoughts, as ever.
  assert.deepEqual(taken(wire(100, 50, { cached: 600, total: 770 })), asTold(usage(700, 70, 600, 20)));
  assert.deepEqual(taken(wire(100, 50, { cached: 600, reasoning: 20, total: 770 })), asTold(usage(700, 70, 600, 20)));
  assert.deepEqual(taken(wire(100, 50, { cached: 600, reasoning: 9, total: 770 })), clamped(usage(700, 50, 600, 9)));
  assert.deepEqual(
    taken(wire(100, 50, { cached: 300, written: 300, total: 770 })),
    asTold(written(300, usage(700, 70, 300, 20))),
  );
});

test('MO-08 cache writes are read from every reported place', () => {
  assert.deepEqual(taken(wire(10, 5, { cached: 2, written: 7, total: 15 })), asTold(written(7, usage(10, 5, 2))));
  const own = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const details = { cached_tokens: 2, cache_creation_tokens: 7 };
  assert.deepEqual(taken({ ...own, prompt_tokens_details: details }), asTold(written(7, usage(10, 5, 2))));
  const beside = { cache_read_input_tokens: 2, cache_creation_input_tokens: 7 };
  assert.deepEqual(taken({ ...own, ...beside }), asTold(written(7, usage(10, 5, 2))));
  // Anthropic's own counts: the prompt is without the cache, and only the total tells.
  assert.deepEqual(taken({ ...own, ...beside, total_tokens: 24 }), asTold(written(7, usage(19, 5, 2))));
  assert.deepEqual(taken(wire(10, 0, { written: 7 }), wire(10, 5)), asTold(written(7, usage(10, 5))));
});

test('MO-08 cache writes beyond the prompt are cut and flagged', () => {
  assert.deepEqual(taken(wire(10, 5, { cached: 4, written: 7 })), clamped(written(6, usage(10, 5, 4))));
  const report = usageReportOf(wire(10, 5, { cached: 4, written: 7 }));
  const told = usageToWire(usageTaken(report, () => OWN).usage, report);
  assert.deepEqual(told['prompt_tokens_details'], { cached_tokens: 4, cache_write_tokens: 6 });
});

test('CC-23 the largest of several usage counts is taken', () => {
  const running = [wire(10, 1, { total: 11 }), null, wire(10, 2, { total: 12 }), undefined, wire(10, 9, { total: 19 })];
  assert.deepEqual(taken(...running), asTold(usage(10, 9)));
  assert.deepEqual(taken(wire(10, 9), wire(10, 9), null), asTold(usage(10, 9)));
});

test('CC-23 usage that falls between chunks is a contradiction', () => {
  assert.deepEqual(taken(wire(10, 9), wire(10, 8)), clamped(usage(10, 9)));
  assert.deepEqual(taken(wire(10, 9), wire(0, 0, { total: 0 })), clamped(usage(10, 9)));
  // Reported in two halves, as providers do whose own format sends input first and output last.
  assert.deepEqual(taken(wire(10, 0, { cached: 4 }), wire(0, 9)), clamped(usage(10, 9, 4)));
});

test('CC-23 any report gives disjoint whole counts adding up', () => {
  const count = fc.oneof(fc.nat(20), fc.double(), fc.anything());
  const report = fc.oneof(
    { weight: 5, arbitrary: fc.tuple(count, count, count, count, count, count) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
  fc.assert(
    fc.property(fc.array(report, { maxLength: 3 }), (reports) => {
      const fields = reports.map(
        (one) => one && wire(one[0], one[1], { cached: one[2], reasoning: one[3], total: one[4], written: one[5] }),
      );
      const { usage: told, isClamped } = taken(...fields);
      for (const value of Object.values(told))
        assert.ok(Number.isSafeInteger(value) && value >= 0 && value <= TOKENS_MAX);
      const fresh = told.promptTokens - told.cachedTokens - told.cacheWriteTokens;
      const visible = told.completionTokens - told.reasoningTokens;
      assert.ok(fresh >= 0 && visible >= 0);
      const total = fresh + told.cachedTokens + told.cacheWriteTokens + visible + told.reasoningTokens;
      // The result is consistent, so reading it again changes nothing.
      const again = wire(told.promptTokens, told.completionTokens, {
        cached: told.cachedTokens,
        written: told.cacheWriteTokens,
        reasoning: told.reasoningTokens,
        total: total <= TOKENS_MAX ? total : undefined, // A total above the maximum is ignored.
      });
      assert.deepEqual(taken(again), asTold(told));
      if (reports.length === 0) assert.equal(isClamped, false);
    }),
    { numRuns: 3_000 },
  );
});

test('CC-12 CC-21 a consistent provider report is shown without its price', () => {
  const details = { prompt_tokens_details: { cached_tokens: 2, audio_tokens: 0 }, completion_tokens_details: null };
  const told = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10, ...details };
  const report = usageReportOf({ ...told, cost: 1 });
  assert.deepEqual(usageToWire(usageTaken(report, () => OWN).usage, report), told);
});

test('CC-12 without a consistent report, shown usage adds up to the charge', () => {
  assert.deepEqual(usageToWire(usage(7, 3, 2, 1)), { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 });
  const report = usageReportOf(wire(7, -3, { cached: 9, reasoning: '1', total: 'NaN' }));
  assert.deepEqual(usageToWire(usageTaken(report, () => OWN).usage, report), {
    prompt_tokens: 7,
    completion_tokens: 0,
    total_tokens: 7,
    prompt_tokens_details: { cached_tokens: 7 },
    completion_tokens_details: { reasoning_tokens: 0 },
  });
});
