import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getModelCapabilities } from '@ai-sdk/anthropic/internal';
import { budgetOf, claudeOf } from '#providers/models/claude.ts';

const MODELS =
  `claude-sonnet-5-5 claude-opus-5-5 claude-haiku-5-5 claude-opus-5 claude-fable-5-1 claude-fable-5 claude-opus-4-8
  claude-opus-4-7 claude-sonnet-5 claude-sonnet-4-6 claude-opus-4-6 claude-sonnet-4-5-20250929 claude-opus-4-5 claude-haiku-4-5
  claude-opus-4-1-20250805 claude-sonnet-4-20250514 claude-opus-4-20250514 claude-opus-4@20250514 claude-3-haiku-20240307
  claude-3-7-sonnet-latest claude-2.1 claude-instant-1.2 claude-newer-9 eu.anthropic.claude-sonnet-4-5-20250929-v1:0
  global.anthropic.claude-opus-5-5 us.anthropic.claude-sonnet-4-20250514-v1:0`.split(/\s+/);

test('MO-09 our table of Claude models matches the library', () => {
  for (const model of MODELS) {
    const library = getModelCapabilities(model);
    const claude = claudeOf(model);
    assert.deepEqual(
      claude && {
        hasSampling: claude.hasSampling,
        hasSchema: claude.hasSchema,
        isByEffort: claude.thinking === 'effort',
        hasXhigh: claude.hasXhigh,
        canStopThinking: claude.canStopThinking,
        takesForcedTools: claude.takesForcedTools,
      },
      {
        hasSampling: !library.rejectsSamplingParameters,
        hasSchema: library.supportsStructuredOutput,
        isByEffort: library.supportsAdaptiveThinking,
        hasXhigh: library.supportsXhighEffort,
        canStopThinking: !library.rejectsThinkingDisabled,
        takesForcedTools: !library.rejectsForcedToolUse,
      },
      model,
    );
  }
  assert.equal(claudeOf('minimax-m2'), undefined);
});

test('WA-07 a thinking budget fits the output limit and Anthropic’s minimum', () => {
  for (const effort of ['minimal', 'low', 'medium', 'high', 'xhigh', 'max']) {
    for (const outputTokens of [1, 1_024, 2_047, 2_048, 5_000, 64_000]) {
      const budget = budgetOf(effort, outputTokens);
      assert.equal(budget === undefined, outputTokens < 2_048, `${effort} ${outputTokens}`);
      if (budget !== undefined)
        assert.ok(budget >= 1_024 && budget < outputTokens, `${effort} ${outputTokens} ${budget}`);
    }
  }
});
