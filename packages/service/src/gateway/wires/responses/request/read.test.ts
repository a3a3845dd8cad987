import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fittedOf, messagesOf, readBody, toldOf } from '../../../../../../../tests/support/read-responses.ts';

/** The messages of `input` are these. */
function reads(name: string, input: unknown, messages: unknown): void {
  test(`WI-04 ${name}`, () => assert.deepEqual(messagesOf(input), messages));
}

const USER = { role: 'user', content: 'Look.' };
const call = (id: string, name = 'look', given = '{}') => ({
  type: 'function_call',
  call_id: id,
  name,
  arguments: given,
});
const called = (id: string, name = 'look', given = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: given },
});
const output = (id: string, said: unknown = 'Seen.') => ({ type: 'function_call_output', call_id: id, output: said });
const answered = (id: string, content: unknown = 'Seen.') => ({ role: 'tool', tool_call_id: id, content });
const textOf = (text: string, type = 'output_text') => ({ type, text });
const said = (content: unknown) => ({ type: 'message', role: 'assistant', content });

reads('a text is a message of the user', 'Hello.', [{ role: 'user', content: 'Hello.' }]);
reads(
  'messages keep their roles and their parts',
  [
    { role: 'developer', content: 'Be brief.' },
    { type: 'message', role: 'system', content: [textOf('Be kind.', 'input_text')] },
    {
      role: 'user',
      content: [
        textOf('What is it?', 'input_text'),
        { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'low' },
        { type: 'input_image', image_url: 'https://example.test/a.png', detail: null, file_id: null },
      ],
    },
    said([
      { ...textOf('A cat.'), annotations: [] },
      { type: 'refusal', refusal: 'No more.' },
    ]),
  ],
  [
    { role: 'developer', content: 'Be brief.' },
    { role: 'system', content: [{ type: 'text', text: 'Be kind.' }] },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
        { type: 'image_url', image_url: { url: 'https://example.test/a.png' } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'A cat.' },
        { type: 'refusal', refusal: 'No more.' },
      ],
    },
  ],
);
reads(
  'calls that follow each other are one message, and outputs answer them',
  [
    USER,
    call('a'),
    call('b', 'go', '{"to":1}'),
    output('a'),
    output('b', [textOf('There.', 'input_text')]),
    call('c'),
    output('c', []),
  ],
  [
    USER,
    { role: 'assistant', content: null, tool_calls: [called('a'), called('b', 'go', '{"to":1}')] },
    answered('a'),
    answered('b', [{ type: 'text', text: 'There.' }]),
    { role: 'assistant', content: null, tool_calls: [called('c')] },
    answered('c', ''),
  ],
);
reads(
  'thoughts, a text and calls of one turn are one message',
  [
    USER,
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'sealed' },
    said([textOf('I look.')]),
    call('a'),
    said('And then?'),
    output('a'),
    { type: 'reasoning', id: 'rs_2', summary: [], content: null, encrypted_content: 'later' },
    said([textOf('Done.')]),
    said([textOf('Really.')]),
  ],
  [
    USER,
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'text', text: 'And then?' },
      ],
      tool_calls: [called('a')],
      reasoning_details: [
        { type: 'reasoning.summary', summary: 'Hm.', index: 0, format: 'openai-responses-v1', id: 'rs_1' },
        { type: 'reasoning.encrypted', data: 'sealed', index: 0, format: 'openai-responses-v1', id: 'rs_1' },
      ],
    },
    answered('a'),
    {
      role: 'assistant',
      content: [{ type: 'text', text: 'Done.' }],
      reasoning_details: [
        { type: 'reasoning.encrypted', data: 'later', index: 0, format: 'openai-responses-v1', id: 'rs_2' },
      ],
    },
    { role: 'assistant', content: [{ type: 'text', text: 'Really.' }] },
  ],
);

test('WI-04 parameters are read into those of chat completions', () => {
  const schema = { type: 'object', properties: {} };
  const { request } = fittedOf({
    instructions: 'Be brief.',
    max_output_tokens: 99,
    temperature: 0.5,
    top_p: 0.9,
    reasoning: { effort: 'low', summary: 'auto', context: 'all_turns' },
    text: { verbosity: 'low', format: { type: 'json_schema', name: 'cat', schema, strict: true } },
    include: ['message.output_text.logprobs', 'reasoning.encrypted_content'],
    top_logprobs: 2,
    stream: true,
    stream_options: { include_obfuscation: false },
    store: false,
    metadata: { team: 'a' },
    client_metadata: { any: { thing: 1 } },
    truncation: 'disabled',
    background: false,
    previous_response_id: null,
  });
  assert.deepEqual(request, {
    model: 'm',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello.' },
    ],
    stream: true,
    stream_options: { include_obfuscation: false },
    temperature: 0.5,
    top_logprobs: 2,
    top_p: 0.9,
    max_completion_tokens: 99,
    response_format: { type: 'json_schema', json_schema: { name: 'cat', schema, strict: true } },
    verbosity: 'low',
    reasoning_effort: 'low',
    logprobs: true,
  });
});

test('WI-04 an answer says small settings again, and knows the tools as they were given', () => {
  const { echo } = toldOf({
    tools: [{ type: 'custom', name: 'exec' }],
    text: { format: { type: 'json_schema', name: 'cat', schema: { type: 'object' } }, verbosity: 'low' },
    metadata: { team: 'a' },
    temperature: 1,
    reasoning: { effort: 'low', generate_summary: 'auto' },
    tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'custom', name: 'exec' }] },
    max_output_tokens: null,
  });
  assert.deepEqual(echo, {
    settings: {
      metadata: { team: 'a' },
      temperature: 1,
      reasoning: { effort: 'low' },
      text: { verbosity: 'low', format: { type: 'json_schema', name: 'cat' } },
      tool_choice: { type: 'allowed_tools', mode: 'auto' },
    },
    tools: new Map([['exec', { type: 'custom', name: 'exec', namespace: undefined }]]),
  });
});

test('WI-04 what a model does not take is left out where clients send it unasked', () => {
  const supports = { parameter: (name: string) => name !== 'verbosity' && name !== 'parallel_tool_calls' };
  const tools = [{ type: 'function', name: 'look' }];
  const asked = { text: { verbosity: 'low' }, parallel_tool_calls: false, tools };
  const { request, native, leftOut } = fittedOf(asked, supports);
  assert.deepEqual([request['verbosity'], request['parallel_tool_calls']], [undefined, undefined]);
  assert.deepEqual([native?.['text'], native?.['parallel_tool_calls']], [{}, undefined]);
  assert.deepEqual(leftOut, ['text.verbosity', 'parallel_tool_calls']);
  const taken = fittedOf(asked);
  assert.deepEqual(
    [taken.request['verbosity'], taken.request['parallel_tool_calls'], taken.leftOut],
    ['low', false, []],
  );
});

function joined(fields: Readonly<Record<string, unknown>>): string | undefined {
  const request = readBody(fields);
  return 'joinsBy' in request ? request.joinsBy?.() : undefined;
}

test('CC-14 a repeat is found although its names and `client_metadata` come in another order', () => {
  const first = joined({ tools: [{ type: 'function', name: 'a' }], client_metadata: { a: '1', b: '2' } });
  assert.equal(typeof first, 'string');
  assert.equal(joined({ client_metadata: { b: '3', a: '1' }, tools: [{ name: 'a', type: 'function' }] }), first);
  assert.notEqual(joined({ tools: [{ type: 'function', name: 'b' }] }), first);
});
