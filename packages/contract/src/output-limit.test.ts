import assert from 'node:assert/strict';
import { test } from 'node:test';
import { providerSchema } from './catalogue-providers.ts';
import { defaultOutputLimitParameter } from './output-limit.ts';

test('MO-06 the output limit’s name fits the provider kind and address', () => {
  const cases = {
    'https://api.openai.com/v1': 'max_completion_tokens',
    'https://eu.api.openai.com/v1': 'max_completion_tokens',
    'https://ours.openai.azure.com/openai/v1': 'max_completion_tokens',
    'https://ours.services.ai.azure.com/openai/v1': 'max_completion_tokens',
    'http://127.0.0.1:11434/v1': 'max_tokens',
    'https://api.deepseek.com/v1': 'max_tokens',
    'https://api.openai.com.evil.test/v1': 'max_tokens',
    'https://xapi.openai.com/v1': 'max_tokens',
  };
  for (const [baseUrl, name] of Object.entries(cases)) {
    const provider = providerSchema.parse({ kind: 'openai-compatible', baseUrl });
    assert.equal(defaultOutputLimitParameter(provider), name, baseUrl);
  }
  assert.equal(defaultOutputLimitParameter(providerSchema.parse({ kind: 'simulator' })), 'max_completion_tokens');
});
