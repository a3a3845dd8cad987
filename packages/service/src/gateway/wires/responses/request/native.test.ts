import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byOf, fittedOf, SEALED_IDS } from '../../../../../../../tests/support/read-responses.ts';

test('WI-02 the caller’s own form has what they wrote, without what names the payer', () => {
  const input = [
    { type: 'message', role: 'developer', id: 'msg_1', content: [{ type: 'input_text', text: 'Hi.' }] },
    { type: 'message', role: 'assistant', id: 'msg_2', phase: 'commentary', content: 'Yes?', status: 'completed' },
  ];
  const kept = {
    instructions: 'Be brief.',
    parallel_tool_calls: false,
    reasoning: { effort: 'low', summary: 'auto' },
    service_tier: 'auto',
    temperature: 1,
    text: { format: { type: 'text' }, verbosity: 'low' },
    tool_choice: 'auto',
    tools: [{ type: 'custom', name: 'exec', format: { type: 'grammar', syntax: 'lark', definition: 'a' } }],
    truncation: 'disabled',
  };
  const { native } = fittedOf({
    ...kept,
    input,
    client_metadata: { user: 'anna' },
    metadata: { user: 'anna' },
    user: 'anna',
    safety_identifier: 'anna',
    prompt_cache_key: 'anna',
    max_output_tokens: 5,
    stream: true,
    store: false,
    top_p: null,
  });
  assert.deepEqual(native, { ...kept, input, include: ['reasoning.encrypted_content'] });
  assert.doesNotMatch(JSON.stringify(native), /anna/);
});

test('WI-04 no tool of a vendor hides in a namespace or in an item', () => {
  const [look, search] = [{ type: 'function', name: 'look' }, { type: 'web_search' }];
  const space = { type: 'namespace', name: 'n', tools: [look, search, { type: 'mcp', server_url: 'https://a.test' }] };
  const found = { type: 'tool_search_output', call_id: 'a', tools: [search, look] };
  const added = { type: 'additional_tools', role: 'developer', tools: [space, { type: 'code_interpreter' }] };
  const question = { role: 'user', content: 'Hi.' };
  const { native } = fittedOf({ input: [question, found, added], tools: [space] }, { ownForm: true });
  const offered = { ...space, tools: [look] };
  const input = [question, { ...found, tools: [look] }, { ...added, tools: [offered] }];
  assert.deepEqual([native?.['tools'], native?.['input']], [[offered], input]);
  // Where searches have a price, no more are made than the hold covers, wherever they are offered.
  const supports = { ownForm: true, webSearch: true, searchesMax: 2 };
  for (const fields of [{ tools: [space] }, { input: [question, found] }, { input: [question, added] }]) {
    assert.equal(fittedOf(fields, supports).native?.['max_tool_calls'], 2, JSON.stringify(fields));
  }
  assert.equal(fittedOf({ tools: [look] }, supports).native?.['max_tool_calls'], undefined);
});

test('WI-02 sealed reasoning is asked for where a model may reason', () => {
  const plain = { parameter: (name: string) => name !== 'reasoning_effort' };
  const asked = 'reasoning.encrypted_content';
  assert.equal(fittedOf({}, plain).native?.['include'], undefined);
  assert.deepEqual(fittedOf({ reasoning: { summary: 'auto' } }, plain).native?.['include'], [asked]);
  assert.deepEqual(fittedOf({}).native?.['include'], [asked]);
  const include = ['message.output_text.logprobs', asked];
  assert.deepEqual(fittedOf({ include }).native?.['include'], include);
});

test('WI-02 vendors get no id and no seal of ours, and no reasoning without its seal', () => {
  const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] };
  const call = { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' };
  const sealed = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'of the vendor' };
  const ours = SEALED_IDS.ofThoughts([{ type: 'reasoning.text', text: 'Hm.', signature: 's' }], byOf());
  const input = [
    { ...message, id: SEALED_IDS.ofItem(message, byOf()) },
    sealed,
    { ...call, id: 'fc_1' },
    { type: 'reasoning', id: 'rs_2', summary: [] },
    { type: 'reasoning', id: 'rs_3', summary: [], encrypted_content: ours },
    { type: 'web_search_call', id: 'ws_1', status: 'completed' },
    { type: 'function_call_output', call_id: 'a', output: 'Seen.' },
    { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: null },
  ];
  assert.deepEqual(fittedOf({ input }).native?.['input'], [message, sealed, { ...call, id: 'fc_1' }, input[6]]);
});
