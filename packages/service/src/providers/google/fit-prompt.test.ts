import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import { fitPrompt } from '#providers/google/fit-prompt.ts';

test('MO-09 results of very many calls become one content', () => {
  const result: LanguageModelV4ToolResultPart = {
    type: 'tool-result',
    toolCallId: 'a',
    toolName: 'look',
    output: { type: 'text', value: '' },
  };
  const content = Array.from({ length: 200_000 }, () => result);
  const { prompt } = fitPrompt(
    {
      prompt: [
        { role: 'tool', content: [result] },
        { role: 'tool', content },
      ],
    },
    false,
  );
  assert.deepEqual(
    prompt.map(({ role, content: all }) => [role, all.length]),
    [['tool', 200_001]],
  );
});
