import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSecondList } from '#price-lists/second-list.ts';

const list = await loadSecondList(Date.UTC(2026, 10, 23));

test('MO-10 the second list is read exactly, by name or address', () => {
  const mini = list.find({ provider: 'openai', address: undefined, model: 'gpt-4.1-mini' });
  assert.equal(mini?.name, 'openai/gpt-4.1-mini');
  assert.deepEqual(mini?.card, [
    { aboveInputTokens: 0, rates: { input: 400_000n, cachedInput: 100_000n, output: 1_600_000n } },
  ]);
  assert.match(mini?.others.join(), /web_searches_kcount 10/);
  const address = 'https://api.openai.com/v1';
  assert.deepEqual(list.find({ provider: 'strange', address, model: 'gpt-4.1-mini' }), mini);
});

test('MO-10 the second list has tiers and other provider names', () => {
  const sonnet = list.find({ provider: 'anthropic', address: undefined, model: 'claude-sonnet-4-5' });
  assert.deepEqual(
    sonnet?.card.map(({ aboveInputTokens, rates }) => [aboveInputTokens, rates.input, rates.cacheWrite, rates.output]),
    [
      [0, 3_000_000n, 3_750_000n, 15_000_000n],
      [200_000, 6_000_000n, 7_500_000n, 22_500_000n],
    ],
  );
  for (const [provider, model] of [
    ['amazon-bedrock', 'anthropic.claude-sonnet-4-5-20250929-v1:0'],
    ['xai', 'grok-3'],
    ['google-vertex', 'gemini-2.5-pro'],
  ] as const) {
    assert.ok(list.find({ provider, address: undefined, model }) !== undefined, provider);
  }
});

test('MO-10 an unknown provider or model has no second price', () => {
  assert.equal(list.find({ provider: 'openai', address: undefined, model: 'none-such' }), undefined);
  assert.equal(list.find({ provider: 'openai-reseller', address: undefined, model: 'gpt-4.1-mini' }), undefined);
  assert.equal(list.find({ provider: 'x', address: 'http://127.0.0.1:9/v1', model: 'gpt-4.1-mini' }), undefined);
});
