import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AskedBy, Reply, Takes, WireRequest } from '#gateway/call/wire.ts';
import type { Echo, Sealing } from '#gateway/wires/responses/echo.ts';
import { createRead } from '#gateway/wires/responses/read.ts';
import { createSealedIds } from '#gateway/wires/responses/sealed-ids.ts';
import { appIdFrom, parseEndUserId } from '#kernel/ids.ts';
import type { JsonObject } from '#kernel/json.ts';
import { createKeys, keptKeysBy } from '#kernel/keys.ts';
import { Refusal } from '#kernel/refusal.ts';

const sealedIds = createSealedIds(
  createKeys(
    { secret: Buffer.alloc(32, 1) },
    keptKeysBy(() => Buffer.alloc(32, 1)),
  ),
);
const REPLY = {} as Reply;
let told: { readonly echo: Echo; readonly sealing: Sealing } | undefined;
const read = createRead({
  sealedIds,
  replyOf: (echo, sealing) => {
    told = { echo, sealing };
    return REPLY;
  },
});

function byOf(user = 'anna', userAgent?: string): AskedBy {
  const userId = parseEndUserId(user);
  assert.ok(userId !== undefined);
  return { appId: appIdFrom('notes'), mode: 'live', userId, userAgent };
}

const ALL: Takes = { parameter: () => true, webSearch: false };
const HELLO = { model: 'm', input: 'Hello.' };

function readOf(fields: JsonObject, by = byOf()): WireRequest {
  const request = read({ ...HELLO, ...fields }, by);
  if (request instanceof Refusal) throw new Error(request.message);
  return request;
}

function fittedOf(fields: JsonObject, takes: Partial<Takes> = {}, by = byOf()) {
  const fitted = readOf(fields, by).fit({ ...ALL, ...takes });
  if (fitted instanceof Refusal) throw new Error(fitted.message);
  return fitted;
}

function messagesOf(input: unknown, fields: JsonObject = {}, by = byOf()) {
  return fittedOf({ input, ...fields }, {}, by).request['messages'];
}

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
  readOf({
    tools: [{ type: 'custom', name: 'exec' }],
    text: { format: { type: 'json_schema', name: 'cat', schema: { type: 'object' } } },
    metadata: { team: 'a' },
    temperature: 1,
  });
  assert.deepEqual(told?.echo, {
    settings: { metadata: { team: 'a' }, temperature: 1, text: { format: { type: 'json_schema', name: 'cat' } } },
    tools: new Map([['exec', { type: 'custom', name: 'exec', namespace: undefined }]]),
  });
});
