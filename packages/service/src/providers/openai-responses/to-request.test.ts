import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#kernel/text/json.ts';
import { createToResponsesRequest } from '#providers/openai-responses/to-request.ts';
import type { ProviderCall } from '#providers/port/provider.ts';

const FORMAT = 'openai-responses-v1';

function bodyOf(
  request: JsonObject,
  settings: Parameters<typeof createToResponsesRequest>[0] = {},
  more: Partial<ProviderCall> = {},
): JsonObject {
  const call: ProviderCall = {
    request,
    requestText: JSON.stringify(request),
    providerModel: 'm',
    apis: ['responses'],
    outputTokens: 50,
    outputLimitParameter: 'max_tokens',
    timeoutMs: 1_000,
    ...more,
  };
  return JSON.parse(createToResponsesRequest(settings)(call, false)) as JsonObject;
}

function inputOf(...messages: readonly JsonObject[]): unknown {
  return bodyOf({ messages })['input'];
}

const sealed = (index: number, data: string, id = `rs_${index}`) => ({
  type: 'reasoning.encrypted',
  index,
  id,
  format: FORMAT,
  data,
});
const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '' } });
const called = (id: string) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' });

test('WI-03 each item of reasoning goes back before what followed from it', () => {
  const reasoning_details = [sealed(0, 'a'), sealed(2, 'b'), sealed(4, 'c')];
  const answer = { role: 'assistant', content: 'First.', tool_calls: [call('c1'), call('c2')], reasoning_details };
  assert.deepEqual(inputOf(answer), [
    { type: 'reasoning', id: 'rs_0', summary: [], encrypted_content: 'a' },
    { type: 'message', role: 'assistant', content: 'First.' },
    { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'b' },
    called('c1'),
    { type: 'reasoning', id: 'rs_4', summary: [], encrypted_content: 'c' },
    called('c2'),
  ]);
  // The last thing that was said stays behind all of it, wherever it stood.
  const late = { role: 'assistant', content: null, tool_calls: [call('c1')], reasoning_details: [sealed(7, 'd')] };
  assert.deepEqual(inputOf(late), [
    { type: 'reasoning', id: 'rs_7', summary: [], encrypted_content: 'd' },
    called('c1'),
  ]);
});

test('WI-03 reasoning that its vendor cannot take back stays here', () => {
  const details: readonly JsonObject[] = [
    { ...sealed(0, 'a'), format: 'anthropic-claude-v1' },
    { type: 'reasoning.summary', index: 1, id: 'rs_1', format: FORMAT, summary: 'Unsealed.' },
  ];
  const said = { type: 'message', role: 'assistant', content: 'Yes.' };
  assert.deepEqual(inputOf({ role: 'assistant', content: 'Yes.', reasoning_details: details }), [said]);
  // Reasoning alone would be refused.
  assert.deepEqual(inputOf({ role: 'assistant', content: '', reasoning_details: [sealed(0, 'a')] }), []);
  // Servers of open weights seal nothing, and take the text.
  const text = { type: 'reasoning.text', index: 0, id: 'rs_0', format: FORMAT, text: 'Hm.' };
  assert.deepEqual(inputOf({ role: 'assistant', content: 'Yes.', reasoning_details: [text] }), [
    { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
    said,
  ]);
});

const piece = (summary: string) => ({ type: 'reasoning.summary', index: 0, id: 'rs_0', format: FORMAT, summary });

test('WI-03 pieces of a stream that a client sends back are one item', () => {
  const reasoning_details = [piece('It is '), piece('there.'), sealed(0, 'a')];
  assert.deepEqual(inputOf({ role: 'assistant', content: 'Yes.', reasoning_details }), [
    {
      type: 'reasoning',
      id: 'rs_0',
      summary: [{ type: 'summary_text', text: 'It is there.' }],
      encrypted_content: 'a',
    },
    { type: 'message', role: 'assistant', content: 'Yes.' },
  ]);
});

test('WI-03 long ids of calls are shortened alike for a call and its result', () => {
  const id = `toolu_${'x'.repeat(80)}`;
  const image = { type: 'image_url', image_url: { url: 'https://a.test/b.png' } };
  const content = [{ type: 'text', text: 'Seen.' }, image];
  const [first, result] = inputOf(
    { role: 'assistant', content: null, tool_calls: [call(id)] },
    { role: 'tool', tool_call_id: id, content },
  ) as readonly JsonObject[];
  const short = String(first?.['call_id']);
  assert.ok(short.length <= 64 && short.startsWith('call_'));
  assert.deepEqual(result, {
    type: 'function_call_output',
    call_id: short,
    output: [
      { type: 'input_text', text: 'Seen.' },
      { type: 'input_image', image_url: 'https://a.test/b.png', detail: 'auto' },
    ],
  });
});

test('WI-03 an entry’s settings are joined with what the caller asks', () => {
  const extraBody = { reasoning: { summary: 'auto', effort: 'low' }, service_tier: 'flex', store: true, input: 'x' };
  const settings = { extraBody, developerRole: 'system' } as const;
  const messages = [{ role: 'developer', content: 'Be brief.' }];
  assert.deepEqual(bodyOf({ messages, reasoning_effort: 'high' }, settings), {
    model: 'm',
    max_output_tokens: 50,
    store: false,
    input: [{ type: 'message', role: 'system', content: 'Be brief.' }],
    include: ['reasoning.encrypted_content'],
    reasoning: { summary: 'auto', effort: 'high' },
    service_tier: 'flex',
  });
  const native = { api: 'responses', text: '{"input":"Hi","service_tier":"auto"}' } as const;
  assert.deepEqual(bodyOf({ messages }, settings, { native }), {
    model: 'm',
    max_output_tokens: 50,
    store: false,
    reasoning: { summary: 'auto', effort: 'low' },
    input: 'Hi',
    service_tier: 'auto',
  });
});

test('WI-03 a choice among tools and the plain formats are in the words of Responses', () => {
  const tools = [{ type: 'function', function: { name: 'f' } }];
  const allowed = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools } };
  const messages = [{ role: 'user', content: 'Hi' }];
  const body = bodyOf({ messages, tools, tool_choice: allowed, response_format: { type: 'json_object' } });
  assert.deepEqual(body['tool_choice'], {
    type: 'allowed_tools',
    mode: 'required',
    tools: [{ type: 'function', name: 'f' }],
  });
  assert.deepEqual(body['text'], { format: { type: 'json_object' } });
  assert.deepEqual(bodyOf({ messages }, {}, { isReasoning: true })['include'], ['reasoning.encrypted_content']);
  assert.equal(bodyOf({ messages })['include'], undefined);
});
