import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visitGenerated } from '#gateway/usage/generated.ts';

/** The bytes that are counted. The texts that are visited have as many. */
function bytesOf(message: unknown): number {
  const texts: string[] = [];
  const bytes = visitGenerated(message, (text) => texts.push(text));
  assert.equal(bytes, Buffer.byteLength(texts.join('')));
  return bytes;
}

test('CC-11 text, refusals, reasoning and tool calls all count by bytes', () => {
  assert.equal(bytesOf({ role: 'assistant', content: 'äb' }), 3);
  assert.equal(bytesOf({ content: null, refusal: 'No.' }), 3);
  assert.equal(bytesOf({ reasoning_content: 'Hm.', content: 'Yes' }), 6);
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'find', arguments: '{"a":1}' } };
  assert.equal(bytesOf({ tool_calls: [call, call] }), 22);
  assert.equal(bytesOf({ content: [{ type: 'text', text: 'abc' }] }), 3);
});

test('CC-11 reasoning shown and kept counts once, without its seal', () => {
  const item = { type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', text: 'Hm.', signature: 'c2VhbA==' };
  assert.equal(bytesOf({ reasoning_content: 'Hm.', reasoning_details: [item] }), 3);
  assert.equal(bytesOf({ reasoning: 'Hm.', reasoning_details: [item] }), 3);
  assert.equal(bytesOf({ reasoning_details: [item] }), 3);
  assert.equal(bytesOf({ reasoning_details: [{ type: 'reasoning.text', signature: 'c2VhbA==' }] }), 0);
});

test('CC-11 an empty delta counts nothing', () => {
  for (const message of [undefined, null, 7, 'text', [], {}, { role: 'assistant' }, { content: '' }]) {
    assert.equal(bytesOf(message), 0);
  }
});

test('CC-23 a search for repeated thoughts ends, however often they repeat themselves', () => {
  const shown = `${'a'.repeat(1_000)}b${'a'.repeat(300_000)}`;
  assert.equal(bytesOf({ reasoning: 'a'.repeat(1_000_000), reasoning_content: shown }), 1_301_001);
});
