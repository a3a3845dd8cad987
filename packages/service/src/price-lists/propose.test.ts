import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PricedUpstream } from '#price-lists/priced-upstreams.ts';
import { notesOn } from '#price-lists/propose.ts';

const LISTED = { contextTokens: 1_048_576, outputTokens: 65_536, isResponsesOnly: false };

function notes(kind: string, contextTokens: number): readonly string[] {
  const definition = { kind } as PricedUpstream['definition'];
  return notesOn({ definition, apis: ['chat'], contextTokens, maxOutputTokens: 65_536, laterPrices: 0 }, LISTED);
}

test('MO-06 a context above the list’s is noted, except for Gemini', () => {
  assert.deepEqual(notes('google', 1_114_112), []);
  assert.deepEqual(notes('vertex', 1_114_112), []);
  assert.equal(notes('google', 1_114_113).length, 1);
  assert.deepEqual(notes('openai-compatible', 1_048_576), []);
  assert.deepEqual(notes('openai-compatible', 1_048_577), [
    'the list says a context of 1048576 tokens, the catalogue 1048577',
  ]);
});

test('MO-10 a model that is served by Responses alone is noted', () => {
  const listed = { ...LISTED, isResponsesOnly: true };
  const asked = (kind: string, apis: readonly ('chat' | 'responses')[]) => {
    const definition = { kind } as PricedUpstream['definition'];
    return notesOn({ definition, apis, contextTokens: 1, maxOutputTokens: 1, laterPrices: 0 }, listed);
  };
  assert.match(asked('openai-compatible', ['chat']).join(), /needs `"apis": \["responses"\]`/);
  assert.deepEqual([asked('azure', ['responses']), asked('bedrock', ['chat'])], [[], []]);
});
