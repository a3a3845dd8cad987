import assert from 'node:assert/strict';
import { test } from 'node:test';
import { providerSchema } from '@purser/contract/catalogue-providers.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import { findUnsupported } from '#providers/capabilities/capabilities.ts';
import { toMistralRequest } from '#providers/mistral/to-request.ts';

const provider = providerSchema.parse({ kind: 'mistral' });

function sent(request: JsonObject, isStream = false): JsonObject {
  const call = {
    outputTokens: 7,
    outputLimitParameter: 'max_completion_tokens',
    timeoutMs: 1,
    requestText: '',
  } as const;
  return JSON.parse(toMistralRequest({ ...call, request, providerModel: 'mistral-large' }, isStream)) as JsonObject;
}

function refused(request: JsonObject): string | undefined {
  return findUnsupported({ provider, providerModel: 'mistral-large' }, { messages: [], ...request })?.path;
}

const thinking = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] });
const TOOL = { type: 'function', function: { name: 'now', strict: true } };

test('MO-09 Mistral gets only parameters it knows, in its own words', () => {
  const request = {
    model: 'acme.m',
    max_completion_tokens: 100,
    messages: [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    ],
    temperature: 0.5,
    stop: ['x'],
    n: 2,
    seed: 11,
    parallel_tool_calls: false,
    reasoning_effort: 'high',
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {} } },
    tools: [TOOL],
    tool_choice: 'required',
    logprobs: false,
    verbosity: 'medium',
    service_tier: 'auto',
    stream: true,
    stream_options: { include_usage: true },
  };
  assert.equal(refused(request), undefined);
  const { temperature, stop, n, parallel_tool_calls, reasoning_effort, response_format } = request;
  assert.deepEqual(sent(request, true), {
    model: 'mistral-large',
    max_tokens: 7,
    stream: true,
    messages: [{ role: 'system', content: 'Be brief.' }, request.messages[1]],
    temperature,
    stop,
    n,
    parallel_tool_calls,
    reasoning_effort,
    response_format,
    random_seed: 11,
    tools: [
      { type: 'function', function: { name: 'now', strict: true, parameters: { type: 'object', properties: {} } } },
    ],
    tool_choice: 'any',
  });
});

test('MO-09 an earlier answer returns to Mistral with valid ids', () => {
  const call = { id: 'call_long_1', type: 'function', function: { name: 'now', arguments: '{}' } };
  const own = { ...call, id: 'aB3dE6gH9' };
  const messages = [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: null,
      reasoning_content: 'Hm.',
      annotations: [],
      refusal: null,
      tool_calls: [call, own],
    },
    { role: 'tool', tool_call_id: 'call_long_1', content: 'noon' },
    { role: 'tool', tool_call_id: 'aB3dE6gH9', content: 'noon' },
    { role: 'assistant', content: 'Noon.', reasoning_content: 'So.' },
    { role: 'assistant', content: null, refusal: 'No.' },
  ];
  assert.equal(refused({ messages }), undefined);
  const [, answer, result, ownResult, last, refusal] = sent({ messages })['messages'] as JsonObject[];
  const [first, second] = (answer?.['tool_calls'] ?? []) as JsonObject[];
  assert.match(String(first?.['id']), /^[A-Za-z0-9]{9}$/);
  assert.equal(result?.['tool_call_id'], first?.['id']);
  assert.deepEqual([second?.['id'], ownResult?.['tool_call_id']], ['aB3dE6gH9', 'aB3dE6gH9']);
  assert.deepEqual(answer?.['content'], [thinking('Hm.')]);
  assert.deepEqual(last?.['content'], [thinking('So.'), { type: 'text', text: 'Noon.' }]);
  assert.deepEqual(refusal, { role: 'assistant', content: 'No.' });
});

const CALLED = { id: 'a', index: 0, type: 'function', function: { name: 'look', arguments: '{}' } };

test('MO-09 CC-03 what Mistral has no word for is refused by name', () => {
  const user = { role: 'user', content: 'Hi' };
  const cases: readonly [JsonObject, string][] = [
    [{ logprobs: true }, 'logprobs'],
    [{ logit_bias: { 1: 1 } }, 'logit_bias'],
    [{ top_logprobs: 2 }, 'top_logprobs'],
    [{ verbosity: 'low' }, 'verbosity'],
    [{ seed: -1 }, 'seed'],
    [{ temperature: 1.6 }, 'temperature'],
    [{ reasoning_effort: 'low' }, 'reasoning_effort'],
    [{ tool_choice: { type: 'allowed_tools', allowed_tools: {} } }, 'tool_choice'],
    [{ tools: [{ ...TOOL, cache_control: { type: 'ephemeral' } }] }, 'tools[0].cache_control'],
    [{ messages: [user, { role: 'user', content: 'Hi', name: 'a' }] }, 'messages[1].name'],
    [{ messages: [{ role: 'function', content: 'Hi', name: 'a' }] }, 'messages[0].role'],
    [
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'a', cache_control: {} }] }] },
      'messages[0].content[0].cache_control',
    ],
    [
      { messages: [user, { role: 'assistant', tool_calls: [{ ...CALLED, extra_content: { google: {} } }] }] },
      'messages[1].tool_calls[0].extra_content',
    ],
    [{ top_k: 1 }, 'top_k'],
  ];
  for (const [request, path] of cases) assert.equal(refused(request), path);
});
