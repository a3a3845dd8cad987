import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effortsOf, refusesPenalties, signsCalls, thinkingOf } from '#providers/models/gemini.ts';

const LEVELS = ['minimal', 'low', 'medium', 'high'];

const MODELS: readonly (readonly [model: string, efforts: readonly string[], minimal: unknown])[] = [
  ['gemini-2.5-flash', ['none', ...LEVELS], { thinkingBudget: 1_024 }],
  ['gemini-2.5-flash-lite', ['none', ...LEVELS], { thinkingBudget: 1_024 }],
  ['gemini-2.5-pro', LEVELS, { thinkingBudget: 1_024 }],
  ['gemini-3-flash-preview', LEVELS, { thinkingLevel: 'minimal' }],
  ['gemini-3.1-pro-preview', LEVELS, { thinkingLevel: 'low' }],
  ['gemini-3.8-flash', LEVELS, { thinkingLevel: 'low' }],
  ['gemini-flash-latest', LEVELS, { thinkingLevel: 'low' }],
  ['gemini-2.0-flash', [], undefined],
  ['gemma-3-27b-it', [], undefined],
];

test('MO-09 each model takes the efforts that it has thinking for', () => {
  for (const [model, efforts, minimal] of MODELS) {
    assert.deepEqual([model, effortsOf(model), thinkingOf(model, 'minimal')], [model, efforts, minimal]);
    for (const effort of ['xhigh', 'max']) assert.equal(thinkingOf(model, effort), undefined);
  }
});

test('MO-09 models that sign calls or lack penalties are known', () => {
  assert.deepEqual(['gemini-2.5-pro', 'gemini-3-pro', 'gemini-pro-latest', 'gemma-3'].map(signsCalls), [
    false,
    true,
    true,
    false,
  ]);
  assert.deepEqual(['gemini-2.5-flash-lite', 'gemini-2.0-flash', 'gemini-3-flash'].map(refusesPenalties), [
    true,
    false,
    false,
  ]);
});
