import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { generatedBytesOf, usageReported, usageToWire } from '#gateway/usage.ts';

function reported(prompt: unknown, completion: unknown, cached?: unknown, reasoning?: unknown) {
  return usageReported({
    prompt_tokens: prompt,
    completion_tokens: completion,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  });
}

function usage(promptTokens: number, completionTokens: number, cachedTokens = 0, reasoningTokens = 0) {
  return { promptTokens, completionTokens, cachedTokens, reasoningTokens };
}

test('CC-11 reported usage is taken as it is, zero included', () => {
  assert.deepEqual(reported(10, 5, 4, 2), usage(10, 5, 4, 2));
  assert.deepEqual(reported(0, 0), usage(0, 0));
  assert.deepEqual(usageReported({ prompt_tokens: 7, completion_tokens: 3 }), usage(7, 3));
  assert.deepEqual(usageReported({ prompt_tokens: 7, completion_tokens: 3, prompt_tokens_details: null }), usage(7, 3));
});

test('CC-11 counts that cannot be are taken as the nearest that can', () => {
  assert.deepEqual(reported(-1, -1e300, -5, -5), usage(0, 0));
  assert.deepEqual(reported(1.2, 0.000_001), usage(2, 1));
  assert.deepEqual(reported(Number.NEGATIVE_INFINITY, -0), usage(0, 0));
});

test('CC-11 counts beyond reason are taken as the most that is within it, far above any model', () => {
  const taken = reported(1e300, Number.POSITIVE_INFINITY);
  assert.ok(taken !== undefined && Number.isSafeInteger(taken.promptTokens) && taken.promptTokens >= 100_000_000);
  assert.equal(taken.completionTokens, taken.promptTokens);
});

test('CC-11 parts never exceed their whole', () => {
  assert.deepEqual(reported(10, 5, 11, 6), usage(10, 5, 10, 5));
  assert.deepEqual(reported(0, 0, 1e300, 1e300), usage(0, 0));
});

test('CC-11 what tells no whole is no report', () => {
  for (const report of [undefined, null, 7, 'usage', [], {}, { prompt_tokens: 1 }, { completion_tokens: 1 }]) {
    assert.equal(usageReported(report), undefined);
  }
  for (const count of [undefined, null, '5', Number.NaN, [5], {}, true]) {
    assert.equal(reported(count, 5), undefined);
    assert.equal(reported(5, count), undefined);
  }
});

test('CC-11 a part that is no count is none', () => {
  for (const part of [undefined, null, '5', Number.NaN, {}]) assert.deepEqual(reported(9, 9, part, part), usage(9, 9));
});

test('CC-11 any report at all gives whole counts in range, or none', () => {
  const count = fc.oneof(fc.double(), fc.anything());
  fc.assert(
    fc.property(count, count, count, count, (prompt, completion, cached, reasoning) => {
      const taken = reported(prompt, completion, cached, reasoning);
      if (taken === undefined) return;
      for (const value of Object.values(taken)) assert.ok(Number.isSafeInteger(value) && value >= 0, String(value));
      assert.ok(taken.cachedTokens <= taken.promptTokens);
      assert.ok(taken.reasoningTokens <= taken.completionTokens);
    }),
    { numRuns: 2_000 },
  );
});

test('CC-11 all that a model generates counts, by its bytes: text, refusal, reasoning and tool calls', () => {
  assert.equal(generatedBytesOf({ role: 'assistant', content: 'äb' }), 3);
  assert.equal(generatedBytesOf({ content: null, refusal: 'No.' }), 3);
  assert.equal(generatedBytesOf({ reasoning_content: 'Hm.', content: 'Yes' }), 6);
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'find', arguments: '{"a":1}' } };
  assert.equal(generatedBytesOf({ tool_calls: [call, call] }), 22);
  assert.equal(generatedBytesOf({ content: [{ type: 'text', text: 'abc' }] }), 3);
});

test('CC-11 what says nothing counts nothing', () => {
  for (const message of [undefined, null, 7, 'text', [], {}, { role: 'assistant' }, { content: '' }]) {
    assert.equal(generatedBytesOf(message), 0);
  }
});

test('CC-12 usage on the wire adds up', () => {
  assert.deepEqual(usageToWire(usage(7, 3, 2, 1)), { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 });
});
