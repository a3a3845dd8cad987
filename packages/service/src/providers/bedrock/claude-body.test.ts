import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#kernel/text/json.ts';
import { countBody, invokeBody } from '#providers/bedrock/claude-body.ts';
import type { ProviderCall } from '#providers/port/provider.ts';

const BETAS =
  'interleaved-thinking-2025-05-14, context-management-2025-06-27,effort-2025-11-24,context-1m-2025-08-07,advanced-tool-use-2025-11-20,output-128k-2025-02-19';

function callOf(providerModel: string, fields: JsonObject, betas = BETAS): ProviderCall {
  const messages = [{ role: 'user', content: 'Hello' }];
  const text = JSON.stringify({ messages, ...fields });
  return {
    request: {},
    requestText: '{}',
    providerModel,
    native: { api: 'messages', text, headers: { 'anthropic-beta': betas } },
    outputTokens: 9,
    outputLimitParameter: 'max_tokens',
    timeoutMs: 1,
  };
}

function bodyOf(providerModel: string, fields: JsonObject = {}, betas?: string): JsonObject {
  return JSON.parse(invokeBody(callOf(providerModel, fields, betas))) as JsonObject;
}

function result(content: JsonObject): JsonObject {
  return { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [content] }] }] };
}

const [THINKING, EDITS, EFFORT, LONG] = BETAS.split(/, ?/);
const TOOLS = ['tool-search-tool-2025-10-19', 'tool-examples-2025-10-29'];

/** The names of models, as AWS writes them, and the betas that they get. */
const MODELS: readonly (readonly [model: string, betas: readonly (string | undefined)[] | undefined])[] = [
  ['anthropic.claude-3-7-sonnet-20250219-v1:0', ['output-128k-2025-02-19']],
  ['us.anthropic.claude-sonnet-4-20250514-v1:0', [THINKING, EDITS, LONG]],
  ['eu.anthropic.claude-opus-4-1-20250805-v1:0', [THINKING, EDITS]],
  ['anthropic.claude-haiku-4-5-20251001-v1:0', [THINKING, EDITS]],
  ['global.anthropic.claude-sonnet-4-5-20250929-v1:0', [THINKING, EDITS, LONG, ...TOOLS]],
  ['global.anthropic.claude-opus-4-5-20251101-v1:0', [THINKING, EDITS, EFFORT, ...TOOLS]],
  ['us.anthropic.claude-opus-4-6-v1', [THINKING, LONG, ...TOOLS]],
  ['us.anthropic.claude-sonnet-4-6', [THINKING, LONG, ...TOOLS]],
  ['eu.anthropic.claude-opus-4-7', [EDITS]],
  ['eu.anthropic.claude-opus-4-8', undefined],
  ['global.anthropic.claude-opus-5-5', undefined],
];

for (const [model, betas] of MODELS) {
  test(`WI-12 ${model} gets the betas that it takes`, () => {
    assert.deepEqual(bodyOf(model)['anthropic_beta'], betas);
  });
}

test('WI-12 Bedrock gets the edits of a context that it has, with their beta', () => {
  const clear = { type: 'clear_tool_uses_20250919' };
  const fields = { context_management: { edits: [{ type: 'clear_thinking_20251015' }, clear] } };
  const model = 'anthropic.claude-haiku-4-5-20251001-v1:0';
  assert.deepEqual(bodyOf(model, fields)['context_management'], { edits: [clear] });
  assert.equal(bodyOf(model, fields, '')['context_management'], undefined);
  assert.equal(bodyOf('anthropic.claude-sonnet-4-6', fields)['context_management'], undefined);
});

test('WI-12 where Bedrock finds no tools, a reference becomes the name of its tool', () => {
  const fields = result({ type: 'tool_reference', tool_name: 'look' });
  const { messages } = result({ type: 'text', text: 'look' });
  assert.deepEqual(bodyOf('anthropic.claude-opus-4-8', fields)['messages'], messages);
  assert.deepEqual(bodyOf('anthropic.claude-opus-4-6-v1', fields)['messages'], fields['messages']);
});

test('WI-12 marks of old models at Bedrock have no lifetime', () => {
  const system = [{ type: 'text', text: 'Look.', cache_control: { type: 'ephemeral', ttl: '1h' } }];
  const without = [{ type: 'text', text: 'Look.', cache_control: { type: 'ephemeral' } }];
  assert.deepEqual(bodyOf('anthropic.claude-opus-4-1-20250805-v1:0', { system })['system'], without);
  assert.deepEqual(bodyOf('anthropic.claude-haiku-4-5-20251001-v1:0', { system })['system'], system);
});

test('WI-10 a count at Bedrock has a limit above what the model may think', () => {
  const thinking = { type: 'enabled', budget_tokens: 2_000 };
  const { input } = JSON.parse(countBody(callOf('anthropic.claude-haiku-4-5-20251001-v1:0', { thinking }))) as {
    readonly input: { readonly invokeModel: { readonly body: string } };
  };
  const body = JSON.parse(Buffer.from(input.invokeModel.body, 'base64').toString()) as JsonObject;
  assert.equal(body['max_tokens'], 2_001);
});
