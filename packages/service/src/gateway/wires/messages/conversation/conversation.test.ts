import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fittedOf, messagesOf, refusalOf } from '../../../../../../../tests/support/read-messages.ts';
import { packed } from '#gateway/wires/messages/conversation/thought-signatures.ts';

/** The messages are these. */
function reads(name: string, messages: unknown, expected: unknown): void {
  test(`WI-08 ${name}`, () => assert.deepEqual(messagesOf(messages), expected));
}

const USER = { role: 'user', content: 'Look.' };
const text = (said: string) => ({ type: 'text', text: said });
const user = (...content: readonly unknown[]) => ({ role: 'user', content });
const assistant = (...content: readonly unknown[]) => ({ role: 'assistant', content });
const use = (id: string, input: unknown = {}, name = 'look') => ({ type: 'tool_use', id, name, input });
const called = (id: string, given = '{}', name = 'look') => ({
  id,
  type: 'function',
  function: { name, arguments: given },
});
const result = (id: string, content?: unknown, more: object = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  ...(content === undefined ? {} : { content }),
  ...more,
});
const answered = (id: string, content: unknown) => ({ role: 'tool', tool_call_id: id, content });
const PNG = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
const PICTURE = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };

reads(
  'texts and images keep their order, and a lone text is a string',
  [
    USER,
    { role: 'assistant', content: 'At what?' },
    user(
      text('At this:'),
      { type: 'image', source: PNG },
      { type: 'image', source: { type: 'url', url: 'https://a.test' } },
    ),
    assistant(text('A cat.')),
    user(text('And this?')),
  ],
  [
    USER,
    { role: 'assistant', content: 'At what?' },
    {
      role: 'user',
      content: [text('At this:'), PICTURE, { type: 'image_url', image_url: { url: 'https://a.test' } }],
    },
    { role: 'assistant', content: 'A cat.' },
    { role: 'user', content: 'And this?' },
  ],
);
reads(
  'results follow the calls they answer, before what else is said',
  [
    USER,
    assistant(text('I look.'), use('a'), use('b', { to: 1 }, 'go')),
    { role: 'system', content: 'Be quick.' },
    user(result('a', 'Seen.'), result('b', [text('There.'), text('Here.')]), text('Go on.')),
    assistant(use('c')),
    user(result('c')),
  ],
  [
    USER,
    { role: 'assistant', content: 'I look.', tool_calls: [called('a'), called('b', '{"to":1}', 'go')] },
    answered('a', 'Seen.'),
    answered('b', [text('There.'), text('Here.')]),
    { role: 'user', content: '<system-reminder>\nBe quick.\n</system-reminder>' },
    { role: 'user', content: 'Go on.' },
    { role: 'assistant', content: null, tool_calls: [called('c')] },
    answered('c', ''),
  ],
);
reads(
  'a result says that it failed, and its images are sent by the user',
  [
    USER,
    assistant(use('a'), use('b'), use('c')),
    user(
      result('a', 'No such file.', { is_error: true }),
      result('b', [{ type: 'image', source: PNG }]),
      result('c', [{ type: 'tool_reference', tool_name: 'find' }], { is_error: false }),
      result('d', [], { is_error: true }),
    ),
  ],
  [
    USER,
    { role: 'assistant', content: null, tool_calls: [called('a'), called('b'), called('c')] },
    answered('a', 'Error: No such file.'),
    answered('b', ''),
    answered('c', 'find'),
    answered('d', 'Error:'),
    { role: 'user', content: [PICTURE] },
  ],
);
reads(
  'messages of the assistant in a row are one, and an empty one is none',
  [USER, assistant(use('a')), assistant(text('I looked.')), user(result('a', 'Seen.')), assistant()],
  [USER, { role: 'assistant', content: 'I looked.', tool_calls: [called('a')] }, answered('a', 'Seen.')],
);
reads(
  'system messages before all others stay what they are',
  [{ role: 'system', content: [text('Be brief.')], output_config: { effort: 'low' } }, USER],
  [{ role: 'system', content: 'Be brief.' }, USER],
);
reads(
  'documents are their text',
  [
    user(
      {
        type: 'document',
        title: 'Cats',
        context: null,
        source: { type: 'text', media_type: 'text/plain', data: 'Meow.' },
      },
      { type: 'document', source: { type: 'content', content: [text('One.'), text('Two.')] } },
      { type: 'search_result', source: 'https://a.test', title: 'Found', content: [text('Three.')] },
    ),
  ],
  [
    {
      role: 'user',
      content: ['Cats', 'Meow.', 'One.', 'Two.', 'Found', 'https://a.test', 'Three.'].map(text),
    },
  ],
);
reads(
  'what tools at a vendor have left is passed over',
  [
    USER,
    assistant(
      { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
      { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
      text('Found.'),
    ),
    USER,
  ],
  [USER, { role: 'assistant', content: 'Found.' }, USER],
);

test('WI-08 Claude gets its thoughts back with their signatures, at their places', () => {
  const [, said] = messagesOf([
    USER,
    assistant(
      { type: 'thinking', thinking: 'Hm.', signature: 'sig-1' },
      text('I look.'),
      { type: 'redacted_thinking', data: 'data-1' },
      use('a'),
      { type: 'thinking', thinking: '', signature: 'sig-2' },
      { type: 'thinking', thinking: 'Unsealed.', signature: '' },
      use('b'),
    ),
  ]) as readonly { readonly reasoning_details: unknown }[];
  const format = 'anthropic-claude-v1';
  assert.deepEqual(said?.reasoning_details, [
    { type: 'reasoning.text', index: 0, format, text: 'Hm.', signature: 'sig-1' },
    { type: 'reasoning.encrypted', index: 2, format, data: 'data-1' },
    { type: 'reasoning.text', index: 4, format, text: '', signature: 'sig-2' },
  ]);
});

test('WI-08 other vendors get back what they wanted in the place of a signature', () => {
  const detail = { type: 'reasoning.encrypted', data: 'x', index: 0, format: 'google-gemini-v1' };
  const extra = { type: 'tool_call.extra_content', id: 'a', extra_content: { google: 1 } };
  const signature = packed([detail, { type: 'message.reasoning_content' }, extra]);
  const messages = [USER, assistant({ type: 'thinking', thinking: 'Hm.', signature }, use('a'))];
  assert.deepEqual(messagesOf(messages), [
    USER,
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ ...called('a'), extra_content: { google: 1 } }],
      reasoning_content: 'Hm.',
      reasoning_details: [detail],
    },
  ]);
});

test('WI-08 marks for a cache stand where they stood', () => {
  const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } };
  const fields = {
    system: [text('x-anthropic-billing-header: cc_version=2.1'), { ...text('Be brief.'), ...mark }],
    tools: [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' }, ...mark, defer_loading: true }],
    messages: [
      USER,
      assistant(use('a')),
      user(result('a', 'Seen.', { cache_control: { type: 'ephemeral', scope: 'global' } }), {
        ...text('Go.'),
        ...mark,
      }),
    ],
  };
  const { messages, tools } = fittedOf(fields).request;
  assert.deepEqual(messages, [
    { role: 'system', content: [{ ...text('Be brief.'), ...mark }] },
    USER,
    { role: 'assistant', content: null, tool_calls: [called('a')] },
    { ...answered('a', 'Seen.'), cache_control: { type: 'ephemeral' } },
    { role: 'user', content: [{ ...text('Go.'), ...mark }] },
  ]);
  const described = { name: 'look', description: 'Looks.', parameters: { type: 'object' } };
  assert.deepEqual(tools, [{ type: 'function', function: described, ...mark }]);
  const supports = {
    parameter: (_name: string, value?: unknown) => !JSON.stringify(value ?? '').includes('cache_control'),
  };
  assert.doesNotMatch(JSON.stringify(fittedOf(fields, supports).request), /cache_control/);
});

test('WI-08 a mark within a result is one of the result', () => {
  const content = [{ ...text('a'), cache_control: { type: 'ephemeral' } }, text('b')];
  const [, , read] = messagesOf([USER, assistant(use('a')), user(result('a', content))]) as readonly unknown[];
  assert.deepEqual(read, { ...answered('a', [text('a'), text('b')]), cache_control: { type: 'ephemeral' } });
});

test('WI-08 a fault in a message is named by its place', () => {
  const cases: readonly (readonly [unknown, string])[] = [
    [[], 'messages'],
    ['Hello.', 'messages'],
    [['Hello.'], 'messages[0]'],
    [[{ role: 'tool', content: '' }], 'messages[0].role'],
    [[{ role: 'user' }], 'messages[0].content'],
    [[{ role: 'user', content: [] }], 'messages[0].content'],
    [[assistant()], 'messages'],
    [[user('Hello.')], 'messages[0].content[0]'],
    [[user({ type: 'audio' })], 'messages[0].content[0].type'],
    [[USER, user(text('a'), { type: 'text' })], 'messages[1].content[1].text'],
    [[user({ type: 'image', source: { type: 'file', file_id: 'f' } })], 'messages[0].content[0].source.type'],
    [[user({ type: 'image', source: { ...PNG, media_type: 'text/html' } })], 'messages[0].content[0].source'],
    [
      [user({ type: 'document', source: { ...PNG, media_type: 'application/pdf' } })],
      'messages[0].content[0].source.type',
    ],
    [[user({ ...text('a'), cache_control: { type: 'forever' } })], 'messages[0].content[0].cache_control'],
    [[assistant({ type: 'text', text: null }, use('a'))], 'messages[0].content[0].text'],
    [[assistant({ ...text(''), cache_control: '' })], 'messages[0].content[0].cache_control'],
    [[USER, assistant(use('a'), { ...use('b'), input: 'x' })], 'messages[1].content[1].input'],
    [[USER, assistant(use('a'), { ...use('b'), name: 7 })], 'messages[1].content[1].name'],
    [[USER, assistant({ ...use('b'), id: 7 })], 'messages[1].content[0].id'],
    [[USER, assistant({ type: 'thinking', thinking: 'a', signature: 7 })], 'messages[1].content[0].signature'],
    [[USER, assistant(use('a')), user(result('a', [{ type: 'audio' }]))], 'messages[2].content[0].content[0].type'],
    [[USER, assistant(use('a')), user({ type: 'tool_result', content: 'a' })], 'messages[2].content[0].tool_use_id'],
    [[{ role: 'system', content: [{ type: 'image', source: PNG }] }], 'messages[0].content[0]'],
  ];
  for (const [messages, param] of cases) assert.equal(refusalOf({ messages })[0], param, JSON.stringify(messages));
  assert.equal(refusalOf({ system: 7 })[0], 'system');
  assert.equal(refusalOf({ system: [text('a'), 'b'] })[0], 'system[1]');
});
