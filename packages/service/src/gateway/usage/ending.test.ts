import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generatedBytesOf } from '#gateway/usage/ending.ts';

test('CC-11 everything a model generates counts, by its bytes: text, refusal, reasoning and tool calls', () => {
  assert.equal(generatedBytesOf({ role: 'assistant', content: 'äb' }), 3);
  assert.equal(generatedBytesOf({ content: null, refusal: 'No.' }), 3);
  assert.equal(generatedBytesOf({ reasoning_content: 'Hm.', content: 'Yes' }), 6);
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'find', arguments: '{"a":1}' } };
  assert.equal(generatedBytesOf({ tool_calls: [call, call] }), 22);
  assert.equal(generatedBytesOf({ content: [{ type: 'text', text: 'abc' }] }), 3);
});

test('CC-11 an empty delta counts nothing', () => {
  for (const message of [undefined, null, 7, 'text', [], {}, { role: 'assistant' }, { content: '' }]) {
    assert.equal(generatedBytesOf(message), 0);
  }
});
