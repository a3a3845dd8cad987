import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readModelsDev } from '#price-lists/models-dev.ts';

function read(entry: string) {
  const providers = readModelsDev(`{"acme":{"id":"acme","api":"https://api.acme.test/v1","models":{"m":${entry}}}}`);
  const model = providers.get('acme')?.find('m');
  assert.ok(model !== undefined);
  return model;
}

test('MO-10 models.dev is read with rates, tiers and limits', () => {
  const model = read(
    `{"cost":{"input":1.25,"output":10,"cache_read":0.125,"cache_write":1.5,"reasoning":12,"input_audio":3,"output_audio":20,
      "tiers":[{"input":5,"output":20,"tier":{"type":"context","size":512000}},
        {"input":2.5,"output":15,"cache_read":0.25,"tier":{"type":"context","size":256000}}],
      "context_over_200k":{"input":2.5,"output":15,"cache_read":0.25}},
      "limit":{"context":1048576,"output":65536}}`,
  );
  assert.deepEqual(model, {
    faults: [],
    notes: [],
    contextTokens: 1_048_576,
    outputTokens: 65_536,
    isResponsesOnly: false,
    card: [
      {
        aboveInputTokens: 0,
        rates: {
          input: 1_250_000n,
          output: 10_000_000n,
          cachedInput: 125_000n,
          cacheWrite: 1_500_000n,
          reasoning: 12_000_000n,
          audioInput: 3_000_000n,
          audioOutput: 20_000_000n,
        },
      },
      { aboveInputTokens: 256_000, rates: { input: 2_500_000n, output: 15_000_000n, cachedInput: 250_000n } },
      { aboveInputTokens: 512_000, rates: { input: 5_000_000n, output: 20_000_000n } },
    ],
  });
});

test('MO-10 without tiers, the old long-prompt field starts at 200,000 tokens', () => {
  const [base, long] = read('{"cost":{"input":1,"output":2,"context_over_200k":{"input":2,"output":4}}}').card ?? [];
  assert.deepEqual([base?.aboveInputTokens, long?.aboveInputTokens], [0, 200_000]);
});

const FAULTS: readonly (readonly [string, string, RegExp])[] = [
  ['a negative price', '{"cost":{"input":-1,"output":2}}', /^input is negative \(-1\)$/],
  ['a sentinel in an optional rate', '{"cost":{"input":1,"output":2,"cache_read":-1}}', /^cached input is negative/],
  ['a zero', '{"cost":{"input":0,"output":2}}', /^input is 0; .*free/],
  ['no output price', '{"cost":{"input":1}}', /^output is missing$/],
  [
    'a tier without input',
    tier('{"output":4,"tier":{"type":"context","size":9}}'),
    /^input above 9 tokens is missing$/,
  ],
  ['a tier by something else', tier('{"input":2,"output":4,"tier":{"type":"hour","size":9}}'), /not one of context/],
  ['text as a price', '{"cost":{"input":"1","output":2}}', /^input is not a number$/],
  ['null as a price', '{"cost":{"input":null,"output":2}}', /^input is not a number$/],
  ['part of a micro', '{"cost":{"input":1.0000001,"output":2}}', /^input is 1\.0000001, which is not a whole number/],
  ['dollars a token', '{"cost":{"input":0.000003,"output":2}}', /^input is only 0\.000003 dollars .* another unit$/],
  ['micros in place of dollars', '{"cost":{"input":1250000,"output":2}}', /^input is 1250000 dollars .* another unit$/],
  ['no cost', '{"limit":{"context":5}}', /no price/],
];
for (const [name, entry, expected] of FAULTS) {
  test(`MO-10 a listed model with ${name} has no usable price`, () => {
    const { card, faults } = read(entry);
    assert.equal(card, undefined);
    assert.match(faults.join('\n'), expected);
  });
}

test('MO-10 an optional zero rate is ignored, an unknown rate named', () => {
  const { card, notes } = read('{"cost":{"input":1,"output":2,"cache_write":0,"input_video":7},"status":"deprecated"}');
  assert.deepEqual(card?.[0].rates, { input: 1_000_000n, output: 2_000_000n });
  assert.match(notes.join('\n'), /cache write is 0 .* not taken[^]*input_video[^]*deprecated/);
});

test('MO-10 a text that lists no prices is refused', () => {
  for (const text of ['<html>', '[]', '{}', '{"openai":{"cost":1}}'])
    assert.throws(() => readModelsDev(text), /price list/);
});

function tier(text: string): string {
  return `{"cost":{"input":1,"output":2,"tiers":[${text}]}}`;
}

test('MO-10 a list may say that a model is served by Responses alone', () => {
  const cost = '"cost":{"input":1,"output":2}';
  for (const [more, is] of [
    ['"provider":{"shape":"responses"}', true],
    ['"provider":{"shape":"completions"}', false],
    ['"mode":"responses"', true],
    ['"mode":"responses","supported_endpoints":["/v1/chat/completions","/v1/responses"]', false],
    ['"mode":"chat","supported_endpoints":["/v1/responses","/v1/batch"]', true],
  ] as const) {
    assert.equal(read(`{${cost},${more}}`).isResponsesOnly, is, more);
  }
});
