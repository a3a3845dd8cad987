import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chat, COMPLETIONS, type Reply } from '../support/client.ts';
import { scenariosOf } from '../support/scenarios.ts';
import { completionBody } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';

/** The accepted messages and bodies; each fault is reported by its path. */

const stage = await setStage({ model: { imageTokensMax: 1_000 } });
const scenarios = scenariosOf(stage);
const { upstream, service, app } = stage;
const user = await stage.newUser(100_000_000);
upstream.script({
  body: completionBody({ model: 'm', content: 'Hi', usage: { prompt_tokens: 1, completion_tokens: 1 } }),
});

function ask(fields: Readonly<Record<string, unknown>>): Promise<Reply> {
  return chat({ url: service.url, key: app.liveKey, user }, fields);
}

async function assertPasses(fields: Readonly<Record<string, unknown>>): Promise<void> {
  const reply = await ask(fields);
  assert.equal(reply.status, 200, `${JSON.stringify(fields)} ${reply.text}`);
  const text = upstream.requests.at(-1)?.rawBody.toString('utf8') ?? '';
  for (const [name, value] of Object.entries(fields)) {
    assert.ok(text.includes(`${JSON.stringify(name)}:${JSON.stringify(value)}`), text);
  }
}

const call = { id: 'call_1', type: 'function', function: { name: 'find', arguments: '{"a":1}' } };
const text = (words: string) => ({ type: 'text', text: words });
const image = (more: object = {}) => ({ type: 'image_url', image_url: { url: 'https://example.test/a.png', ...more } });

const GOOD: readonly (readonly [string, object])[] = [
  ['developer', { role: 'developer', content: 'Be brief.', name: 'house' }],
  ['system content in parts', { role: 'system', content: [text('Be'), text('brief.')] }],
  ['user, empty', { role: 'user', content: '' }],
  [
    'user with an image of each detail',
    { role: 'user', content: ['auto', 'low', 'high', 'original'].map((detail) => image({ detail })) },
  ],
  [
    'user with images of each kind',
    {
      role: 'user',
      content: ['png', 'JPEG', 'webp', 'gif'].map((kind) => image({ url: `data:image/${kind};base64,AA==` })),
    },
  ],
  [
    'assistant',
    { role: 'assistant', content: 'Hi', name: null, refusal: null, tool_calls: null, function_call: null, audio: null },
  ],
  ['assistant with a tool call', { role: 'assistant', content: null, tool_calls: [call, { ...call, id: 'call_2' }] }],
  ['assistant with a tool call and no content', { role: 'assistant', tool_calls: [call] }],
  ['assistant with a refusal', { role: 'assistant', content: null, refusal: 'No.' }],
  ['assistant with a refusal in a part', { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }],
  ['assistant in the old form', { role: 'assistant', content: null, function_call: { name: 'find', arguments: '' } }],
  ['function in the old form', { role: 'function', name: 'find', content: null }],
  ['tool', { role: 'tool', tool_call_id: 'call_1', content: '' }],
  ['tool content in parts', { role: 'tool', tool_call_id: 'call_1', content: [text('a')] }],
  [
    'fields that the format does not have',
    { role: 'assistant', content: 'a', reasoning_content: 'b', thinking: [{ c: 1 }] },
  ],
];

for (const [what, message] of GOOD) {
  test(`CC-13 a message passes through unchanged: ${what}`, () =>
    assertPasses({ messages: [{ role: 'user', content: 'Hello' }, message] }));
}

const said = (part: unknown) => ({ role: 'user', content: [text('a'), part] });
const called = (more: object) => ({ role: 'assistant', content: null, tool_calls: [call, { ...call, ...more }] });

/** The path within the message, its fault, and a word of the refusal. */
const BAD: readonly (readonly [path: string, message: unknown, word?: RegExp])[] = [
  ['', null],
  ['', 'Hello'],
  ['', []],
  ['.role', {}],
  ['.role', { role: 'User', content: 'a' }],
  ['.role', { role: 1, content: 'a' }],
  ['.name', { role: 'user', content: 'a', name: 1 }],
  ['.content', { role: 'user' }],
  ['.content', { role: 'user', content: null }],
  ['.content', { role: 'tool', tool_call_id: 'a' }],
  ['.content', { role: 'user', content: {} }],
  ['.content', { role: 'user', content: [] }],
  ['.content', { role: 'assistant', content: 7 }],
  ['.content[1]', said('a')],
  ['.content[1]', said(null)],
  ['.content[1].text', said({ type: 'text' })],
  ['.content[1].text', said({ type: 'text', text: 1 })],
  ['.content[1].refusal', said({ type: 'refusal', text: 'a' })],
  ['.content[1].type', said({ text: 'a' })],
  ['.content[1].type', said({ type: 'input_audio', input_audio: { data: '', format: 'wav' } }), /no price/],
  ['.content[1].type', said({ type: 'file', file: { file_id: 'a' } }), /no price/],
  ['.content[1].type', said({ type: 'video_url', video_url: { url: 'https://a.test' } }), /no price/],
  ['.content[1].type', said({ type: 'input_text', text: 'a' }), /Responses interface/],
  ['.content[1].type', said({ type: 'input_image', image_url: 'https://a.test' }), /Responses interface/],
  ['.content[1].type', said({ type: 'image', source: {} }), /another interface/],
  ['.content[1].image_url.url', said({ type: 'image_url', image_url: 'https://example.test/a.png' })],
  ['.content[1].image_url.url', said(image({ url: undefined }))],
  ['.content[1].image_url.url', said(image({ url: 'data:application/pdf;base64,AA==' }))],
  ['.content[1].image_url.url', said(image({ url: 'file:///etc/passwd' }))],
  ['.content[1].image_url.detail', said(image({ detail: 1 }))],
  ['.audio', { role: 'assistant', content: 'a', audio: { id: 'a' } }, /no price/],
  ['.refusal', { role: 'assistant', content: null, refusal: 1 }],
  ['.tool_call_id', { role: 'tool', content: 'a' }],
  ['.tool_calls', { role: 'assistant', content: null, tool_calls: {} }],
  ['.tool_calls', { role: 'assistant', content: null, function_call: { name: 'a', arguments: '{}' }, tool_calls: {} }],
  ['.tool_calls[0]', { role: 'assistant', content: null, tool_calls: ['a'] }],
  ['.tool_calls[1].id', called({ id: undefined })],
  ['.tool_calls[1].type', called({ type: 'custom', custom: { name: 'a', input: '' } })],
  ['.tool_calls[1].function', called({ function: undefined })],
  ['.tool_calls[1].function.name', called({ function: { arguments: '' } })],
  ['.tool_calls[1].function.arguments', called({ function: { name: 'find', arguments: { a: 1 } } }), /as JSON/],
  ['.function_call.name', { role: 'assistant', content: null, function_call: {} }],
];

/** A user whose calls are all refused. */
const unspent = await stage.newUser(1_000_000);
const REFUSED = { as: { key: app.liveKey, user: unspent }, code: 'BAD_REQUEST', hasLink: false, asked: 0 } as const;

/** A refusal that begins with the path of what is at fault. */
const at = (param: string, word = /./) => ({ param, contains: [new RegExp(`^\`${escaped(param)}\` must be `), word] });
const escaped = (path: string) => path.replaceAll(/[.[\]]/g, String.raw`\$&`);

scenarios(
  REFUSED,
  BAD.map(([path, message, word]) => ({
    name: `CC-07 a fault in a message is reported by its path: ${path} of ${JSON.stringify(message).slice(0, 60)}`,
    chat: { messages: [{ role: 'user', content: 'Hello' }, message] },
    ...at(`messages[1]${path}`, word),
  })),
);

scenarios(
  { ...REFUSED, name: 'CC-07 a `messages` value that is no message list is refused', ...at('messages') },
  [undefined, null, [], {}, 'Hello', 7].map((messages) => ({ chat: { messages } })),
);

const tools = [{ type: 'function', name: 'find', parameters: {} }];
const body = { model: 'large', temperature: 1, tools, instructions: 'a' };
const RESPONSES = { ...REFUSED, name: 'CC-03 a Responses body is told which interface this is' };
const contains = ['takes `messages`: choose the chat-completions interface'];

scenarios({ ...RESPONSES, request: `POST ${COMPLETIONS}`, body, contains }, [
  { body: { input: [{ role: 'user', content: [{ type: 'input_text', text: 'a' }] }] }, param: 'input' },
  { body: { prompt: 'Hello' }, param: 'prompt' },
  { body: { contents: [] }, param: 'contents' },
]);

scenarios(RESPONSES, [{ chat: { tools }, ...at('tools[0].function', /Responses interface/) }]);

const bodyWith = (fields: string) => `{"model":"large","messages":[{"role":"user","content":"Hi"}],${fields}}`;
const schema = (properties: string) =>
  `"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":${properties}}}}]`;
const AT = 'tools[0].function.parameters.properties';

const UNSAFE: readonly (readonly [fields: string, path: string])[] = [
  ['"__proto__":{"isAdmin":true}', '__proto__'],
  ['"__proto__":null', '__proto__'],
  ['"metadata":{"__proto__":"a"}', 'metadata.__proto__'],
  ['"\\u005f_proto_\\u005f":{}', '__proto__'],
  [schema('{"__proto__":{"type":"string"}}'), `${AT}.__proto__`],
  [schema('{"a":[1,{"b":[[],{"__proto__":1}]}]}'), `${AT}.a[1].b[1].__proto__`],
  ['"constructor":{"prototype":{"isAdmin":true}}', 'constructor.prototype'],
  [schema('{"constructor":{"prototype":1}}'), `${AT}.constructor.prototype`],
  ['"temperature":1e400', 'temperature'],
  ['"temperature":-1e400', 'temperature'],
  [schema('{"a":{"maximum":1e400}}'), `${AT}.a.maximum`],
  [schema('{"a":{"enum":[1,-1e999]}}'), `${AT}.a.enum[1]`],
];

scenarios(
  { ...REFUSED, request: `POST ${COMPLETIONS}` },
  UNSAFE.map(([fields, path]) => ({
    name: `CC-07 an unsafe value is refused at any place: ${path}`,
    body: bodyWith(fields),
    ...at(path),
  })),
);

test('CC-07 a refused message costs nothing', async () => {
  assert.deepEqual(await service.wallet(app, unspent), { balance: 1_000_000, held: 0, openStreams: 0 });
});

test('CC-13 schemas and texts may contain the same words', async () => {
  const properties = {
    constructor: { type: 'object', properties: { prototype: { const: '__proto__' } } },
    toString: {},
  };
  const parameters = { type: 'object', properties, required: ['constructor', 'prototype', '__proto__'] };
  await assertPasses({
    messages: [{ role: 'user', content: '{"__proto__":{"constructor":{"prototype":1e400}}}' }],
    tools: [{ type: 'function', function: { name: 'constructor', description: '__proto__', parameters } }],
  });
  assert.deepEqual(Object.keys(Object.prototype), []);
});

test('CC-13 numbers reach the provider as doubles, in shortest form', async () => {
  const body = bodyWith(`${schema('{"a":{"enum":[1e20,1.50,-0,0.1,12345678901234567890,5e-324]}}')},"temperature":1.0`);
  assert.equal((await chat({ url: service.url, key: app.liveKey, user, body })).status, 200);
  const sent = upstream.requests.at(-1)?.rawBody.toString() ?? '';
  assert.ok(sent.includes('"enum":[100000000000000000000,1.5,0,0.1,12345678901234567000,5e-324]'), sent);
  assert.ok(sent.includes('"temperature":1,') || sent.includes('"temperature":1}'), sent);
});
