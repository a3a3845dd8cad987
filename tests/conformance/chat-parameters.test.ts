import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KNOWN_PARAMETERS } from '../../packages/service/src/gateway/parameters/parameters.ts';
import { COMPLETIONS, type Reply } from '../support/client.ts';
import { PARAMETER_TABLE } from '../support/parameter-table.ts';
import { scenariosOf } from '../support/scenarios.ts';
import { completionBody, streamSteps } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';

const USAGE = { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 };

const OWN_LIST = ['temperature', 'max_tokens', 'max_completion_tokens', 'stop'];

/** A model that takes everything, even images; one with its own list; one that says nothing of the name of its limit. */
const stage = await setStage({
  model: { imageTokensMax: 1_000 },
  catalogue: ({ models, ...rest }) => {
    const { imageTokensMax: _, ...plain } = models[0] as Record<string, unknown>;
    const few = { ...plain, id: 'acme.few-1', providerModel: 'few-upstream', parameters: OWN_LIST };
    const old = { ...plain, id: 'acme.old-1', providerModel: 'old-upstream', outputLimitParameter: undefined };
    return { ...rest, models: [...models, few, old] };
  },
});
const { upstream, service, app, callAs } = stage;
const scenarios = scenariosOf(stage);
await service.fund(app, 'u', 100_000_000);
upstream.script(({ body }) => {
  const isStream = (body as Record<string, unknown>)['stream'] === true;
  const facts = { model: 'm', usage: USAGE };
  return {
    body: isStream
      ? streamSteps({ ...facts, pieces: ['Hi'], includeUsageChunk: true })
      : completionBody({ ...facts, content: 'Hi' }),
  };
});

async function sentFor(fields: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> {
  const reply = await callAs('u', fields);
  assert.equal(reply.status, 200, reply.text);
  return upstream.requests.at(-1)?.body as Record<string, unknown>;
}

const SCHEMA = { type: 'object', properties: { a: { type: 'array', items: { type: 'number' } } }, required: ['a'] };
const TOOL = { type: 'function', function: { name: 'find', description: 'Finds.', strict: true, parameters: SCHEMA } };

/** A value for every forwarded parameter, one that differs from its default if possible. */
const PASSED = Object.fromEntries(
  PARAMETER_TABLE.filter(({ kind, name }) => kind === 'forwarded' || name === 'modalities').map(
    ({ name, accepted, defaults = [] }) => [name, accepted.find((value) => !defaults.includes(value)) ?? accepted[0]],
  ),
);

for (const stream of [false, true]) {
  test(`CC-13 all parameters are passed on, plus model, limit and usage, streamed: ${stream}`, async () => {
    const messages = [{ role: 'user', content: 'Hello' }];
    const sent = await sentFor({ ...PASSED, logprobs: true, top_logprobs: 20, messages, stream });
    assert.deepEqual(sent, {
      ...PASSED,
      logprobs: true,
      top_logprobs: 20,
      messages,
      model: 'large-upstream',
      max_completion_tokens: 1_000,
      ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    });
  });
}

const CONVERSATION = [
  { role: 'developer', content: 'Be brief.' },
  { role: 'system', content: [{ type: 'text', text: 'Be kind.' }], name: 'house' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'What is this? Größe \u{1F600} \u0000' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' } },
      { type: 'image_url', image_url: { url: 'https://example.test/a.png' } },
    ],
  },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'find', arguments: '{"a":[1]}' } }],
  },
  { role: 'tool', tool_call_id: 'call_1', content: '[]' },
  { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
  { role: 'assistant', tool_calls: [{ id: 'call_2', type: 'function', function: { name: 'find', arguments: '' } }] },
  { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: 'Nothing.' }] },
  { role: 'user', content: '', name: 'anna' },
];

test('CC-13 messages of every role pass through unchanged', async () => {
  const sent = await sentFor({ messages: CONVERSATION, tools: [TOOL] });
  assert.deepEqual(sent['messages'], CONVERSATION);
});

test('CC-13 fields within messages and `response_format` reach the compatible format', async () => {
  const messages = [{ role: 'user', content: 'Hi', foo: { a: 1 } }];
  const format = { type: 'json_object', schema: SCHEMA, foo: 1 };
  const sent = await sentFor({ messages, response_format: format });
  assert.deepEqual([sent['messages'], sent['response_format']], [messages, format]);
});

test('CC-07 a body of 229 kB with 20,801 members is as valid as any other', async () => {
  const properties = Object.fromEntries(Array.from({ length: 20_801 }, (_, at) => [`n${at}`, 0.5]));
  const tools = [
    { ...TOOL, function: { ...TOOL.function, strict: false, parameters: { type: 'object', properties } } },
  ];
  assert.ok(JSON.stringify(tools).length > 225_000);
  const sent = await sentFor({ tools });
  assert.deepEqual(sent['tools'], tools);
});

test('CC-13 parameters about the caller’s users and records are not forwarded', async () => {
  const ours = {
    user: 'CANARY',
    safety_identifier: 'CANARY',
    prompt_cache_key: 'CANARY',
    metadata: { key: 'CANARY' },
    store: false,
  };
  await sentFor(ours);
  assert.doesNotMatch(upstream.requests.at(-1)?.rawBody.toString() ?? '', /CANARY|metadata|store/);
});

for (const [given, limit] of [
  [{}, 1_000],
  [{ max_tokens: 7 }, 7],
  [{ max_completion_tokens: 9 }, 9],
  [{ max_tokens: 7, max_completion_tokens: 9 }, 9],
  [{ max_tokens: 1_000_000 }, 1_000],
] as const) {
  test(`WA-07 with ${JSON.stringify(given)} the provider receives a limit of ${limit}`, async () => {
    const asNew = await sentFor(given);
    assert.equal(asNew['max_completion_tokens'], limit);
    assert.ok(!('max_tokens' in asNew));
    const asOld = await sentFor({ ...given, model: 'acme.old-1' });
    assert.equal(asOld['max_tokens'], limit);
    assert.ok(!('max_completion_tokens' in asOld));
  });
}

function listedIn(reply: Reply): readonly string[] {
  const list = /Supported: (.*)\.$/.exec(String(reply.error['message']))?.[1] ?? '';
  return list.split(', ').map((name) => name.replaceAll('`', ''));
}

scenarios(
  { as: ['key', 'test key'], code: 'BAD_REQUEST', hasLink: false },
  ['temperatur', 'Temperature', 'unheard_of', ''].map((name) => ({
    name: `CC-03 the parameter "${name}" is refused by name, with the known ones listed`,
    steps: [{ chat: { [name]: 1 } }, { chat: { [name]: null } }],
    param: name,
    contains: [new RegExp(`^\`${name}\` is not a supported parameter\\.`)],
    and: (reply) => assert.deepEqual(listedIn(reply).toSorted(), [...KNOWN_PARAMETERS].toSorted()),
  })),
);

const bodyWith = (name: string) => `{"model":"large","messages":[{"role":"user","content":"Hi"}],"${name}":{"a":1}}`;

scenarios({ as: 'key', request: `POST ${COMPLETIONS}`, code: 'BAD_REQUEST' }, [
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty'].map((param) => ({
    name: `CC-03 the inherited name ${param} is a parameter like any other`,
    body: bodyWith(param),
    param,
  })),
  {
    name: 'CC-03 a caller who sends `input` is told which interface this is',
    body: { model: 'large', input: 'Hello' },
    param: 'input',
    contains: ['takes `messages`'],
  },
]);

scenarios(
  { as: 'key', code: 'BAD_REQUEST' },
  ['seed', 'top_p', 'tools', 'n'].map((name) => ({
    name: `CC-03 ${name} is refused with the parameters of a model that does not take it`,
    chat: { model: 'acme.few-1', [name]: PASSED[name] },
    param: name,
    and: (reply) => {
      const listed = listedIn(reply);
      for (const own of [...OWN_LIST, 'model', 'messages', 'stream']) assert.ok(listed.includes(own), own);
      for (const other of ['seed', 'top_p', 'tools', 'n', 'logprobs']) assert.ok(!listed.includes(other), other);
    },
  })),
);

test('CC-03 a model takes its listed parameters and the gateway’s own', async () => {
  const own = { temperature: 1, max_tokens: 5, stop: 'x' };
  const sent = await sentFor({ model: 'acme.few-1', ...own, stream: true, user: 'u', metadata: {}, seed: null });
  assert.deepEqual([sent['temperature'], sent['stop']], [1, 'x']);
  assert.ok(!('seed' in sent));
});

/** A message with one of these parts after a text. */
const saying = (part: object) => [{ role: 'user', content: [{ type: 'text', text: 'a' }, part] }];
const image = (url: string) => ({ model: 'acme.few-1', messages: saying({ type: 'image_url', image_url: { url } }) });

scenarios({ as: 'key', name: 'CC-13 a model without an image price refuses', code: 'BAD_REQUEST', param: 'messages' }, [
  { name: 'an address', chat: image('https://example.test/a.png') },
  { name: 'a picture', chat: image('data:image/png;base64,AAAA') },
]);

scenarios(
  { as: 'key', code: 'BAD_REQUEST', param: 'messages[0].content[1].type' },
  ['input_audio', 'file', 'video_url'].map((type) => ({
    name: `CC-13 ${type} is refused by the path of the part`,
    chat: { messages: saying({ type, [type]: {} }) },
  })),
);
