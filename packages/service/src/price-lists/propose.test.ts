import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PricedUpstream } from '#price-lists/priced-upstreams.ts';
import { notesOn } from '#price-lists/propose.ts';

const LISTED = { contextTokens: 1_048_576, outputTokens: 65_536 };

function notes(kind: string, contextTokens: number): readonly string[] {
  const definition = { kind } as PricedUpstream['definition'];
  return notesOn({ definition, contextTokens, maxOutputTokens: 65_536, laterPrices: 0 }, LISTED);
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
