import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TokenUsage } from '#catalogue/price.ts';
import { laterReport, usageTaken, usageToWire } from '#gateway/usage/usage-report.ts';
import type { UsageReport } from '#providers/port/completion.ts';
import { reportIn, usageReportOf } from '#providers/answers/usage.ts';

function usage(promptTokens: number, completionTokens: number, cachedTokens = 0, reasoningTokens = 0): TokenUsage {
  return { promptTokens, completionTokens, cachedTokens, cacheWriteTokens: 0, reasoningTokens };
}

const written = (cacheWriteTokens: number, told: TokenUsage) => ({ ...told, cacheWriteTokens });
const asTold = (told: TokenUsage) => ({ usage: told, isEstimated: false, isClamped: false });
const taken = (report: unknown) => usageTaken(usageReportOf(report), () => assert.fail('all is reported'));

/** Reports in the words of vendors, each with what it says. */
const DIALECTS: readonly (readonly [vendor: string, report: Readonly<Record<string, unknown>>, told: TokenUsage])[] = [
  [
    'DeepSeek',
    {
      prompt_tokens: 500,
      completion_tokens: 1,
      total_tokens: 501,
      prompt_cache_hit_tokens: 400,
      prompt_cache_miss_tokens: 100,
    },
    usage(500, 1, 400),
  ],
  [
    'DeepSeek behind a server that fills in zeros',
    {
      prompt_tokens: 500,
      completion_tokens: 1,
      total_tokens: 501,
      prompt_tokens_details: { cached_tokens: 0 },
      prompt_cache_hit_tokens: 400,
      prompt_cache_miss_tokens: 100,
    },
    usage(500, 1, 400),
  ],
  [
    'DeepSeek without its sum',
    { completion_tokens: 1, prompt_cache_hit_tokens: 400, prompt_cache_miss_tokens: 100 },
    usage(500, 1, 400),
  ],
  ['Kimi', { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12, cached_tokens: 7 }, usage(9, 3, 7)],
  [
    'Qwen',
    {
      prompt_tokens: 2_000,
      completion_tokens: 3,
      total_tokens: 2_003,
      prompt_tokens_details: { cached_tokens: 0, cache_creation_input_tokens: 1_900, cache_type: 'ephemeral' },
    },
    written(1_900, usage(2_000, 3)),
  ],
  [
    'Anthropic',
    { input_tokens: 10, output_tokens: 3, cache_read_input_tokens: 100, cache_creation_input_tokens: 50 },
    written(50, usage(160, 3, 100)),
  ],
  [
    'Anthropic behind a server that leaves the places of the format empty',
    {
      prompt_tokens: null,
      completion_tokens: null,
      input_tokens: 10,
      output_tokens: 3,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 50,
    },
    written(50, usage(160, 3, 100)),
  ],
  [
    'Anthropic behind a server that fills in zeros',
    {
      prompt_tokens: 0,
      completion_tokens: 0,
      input_tokens: 10,
      output_tokens: 3,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 50,
    },
    written(50, usage(160, 3, 100)),
  ],
  [
    'the Responses interface',
    {
      input_tokens: 10,
      output_tokens: 8,
      total_tokens: 18,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 },
      output_tokens_details: { reasoning_tokens: 5 },
    },
    written(3, usage(10, 8, 4, 5)),
  ],
  [
    'Mistral',
    { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500, num_cached_tokens: 800 },
    usage(1_000, 500, 800),
  ],
  [
    'Mistral in details of its own',
    {
      prompt_tokens: 1_000,
      completion_tokens: 500,
      total_tokens: 1_500,
      prompt_token_details: { cached_tokens: 800 },
      num_cached_tokens: null,
    },
    usage(1_000, 500, 800),
  ],
  [
    'Perplexity',
    { prompt_tokens: 4, completion_tokens: 20, reasoning_tokens: 15, total_tokens: 24 },
    usage(4, 20, 0, 15),
  ],
];

for (const [vendor, report, told] of DIALECTS) {
  test(`MO-08 usage in the words of ${vendor} is charged as reported and shown in our format`, () => {
    const read = usageReportOf(report);
    assert.deepEqual(taken(report), asTold(told));
    const wired = usageToWire(told, read);
    assert.deepEqual(taken(wired), asTold(told), JSON.stringify(wired));
    assert.equal(wired['total_tokens'], told.promptTokens + told.completionTokens);
  });
}

test('MO-08 usage is found in the first choice, `x_groq` and timings', () => {
  const told = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12, cached_tokens: 7 };
  for (const chunk of [
    { usage: told, choices: [{ usage: {} }] },
    { usage: null, choices: [{ index: 0, usage: told }] },
    { choices: [{ index: 0 }], x_groq: { id: 'req', usage: told } },
    { choices: [], timings: { prompt_n: 2, cache_n: 7, predicted_n: 3, predicted_ms: 8.5 } },
  ]) {
    assert.deepEqual(
      usageTaken(reportIn(chunk), () => assert.fail('all is reported')),
      asTold(usage(9, 3, 7)),
      JSON.stringify(chunk),
    );
  }
  for (const none of [{}, { choices: [] }, { usage: null, choices: ['x'], x_groq: {} }, { timings: { prompt_n: 2 } }]) {
    assert.equal(reportIn(none), undefined);
  }
});

test('MO-08 cache writes count once if reports differ on lifetimes', () => {
  const long = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 100 };
  const first = { prompt_tokens: 160, completion_tokens: 1, cache_creation_input_tokens: 100, cache_creation: long };
  const last = { prompt_tokens: 160, completion_tokens: 3, cache_creation_input_tokens: 100 };
  for (const reports of [
    [first, last],
    [last, { ...first, completion_tokens: 3 }],
  ]) {
    const report = reports.map(usageReportOf).reduce<UsageReport | undefined>(laterReport, undefined);
    const { usage: told, isClamped } = usageTaken(report, () => assert.fail('all is reported'));
    assert.deepEqual([told.cacheWriteTokens, told.rare?.cacheWriteLongTokens, isClamped], [0, 100, false]);
  }
});
