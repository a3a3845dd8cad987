// What counts as a whole answer, and what is read of its usage, over real HTTP.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import { chargeFor } from '../support/catalogue.ts';
import { estimatedCharge } from '../support/hold-price.ts';
import { payloadsOf } from '../support/open-stream.ts';
import { estimatedPromptOf } from '../support/prompt-size.ts';
import { frame } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';

const BALANCE = 1_000_000;
const USAGE = { prompt_tokens: 30, completion_tokens: 20, total_tokens: 50 };
const CHARGE = chargeFor({ prompt: 30, completion: 20 });

type Payload = Record<string, unknown>;

const { upstream, service, app, newUser, callAs } = await setStage({
  catalogue: (catalogue) => {
    const [large] = catalogue.models;
    const price = { ...large?.price, cacheWriteMicrosPerMillion: 2_000_000 };
    const long = { ...price, cacheWriteLongMicrosPerMillion: 3_000_000 };
    const writing = { ...large, id: 'acme.writing-1', price };
    return { ...catalogue, models: [...catalogue.models, writing, { ...writing, id: 'acme.long-1', price: long }] };
  },
});

async function streamOf(chunks: readonly unknown[], fields: Payload = {}) {
  const user = await newUser(BALANCE);
  upstream.script({ body: [{ write: [...chunks, '[DONE]'].map(frame).join('') }] });
  const reply = await callAs(user, { stream: true, ...fields });
  return { user, reply };
}

async function plainOf(completion: unknown, fields: Payload = {}) {
  const user = await newUser(BALANCE);
  upstream.script({ body: JSON.stringify(completion) });
  return { user, reply: await callAs(user, fields) };
}

async function expectCharged(user: string, charge: number): Promise<void> {
  assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - charge, held: 0, openStreams: 0 });
}

/** What a server sends that gives one finish reason for two choices. */
const ONE_REASON = [
  { choices: [{ index: 0, delta: { role: 'assistant', content: 'one' }, finish_reason: null }] },
  { choices: [{ index: 1, delta: { role: 'assistant', content: 'two' }, finish_reason: null }] },
  { choices: [{ index: 1, delta: {}, finish_reason: 'stop' }] },
  { choices: [], usage: USAGE },
];

test('CC-11 a stream with one of two finish reasons is charged', async () => {
  const { user, reply } = await streamOf(ONE_REASON, { n: 2 });
  assert.equal(payloadsOf(reply.text).at(-1), '[DONE]');
  await expectCharged(user, CHARGE);
  const client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: app.liveKey, maxRetries: 0 });
  const headers = { 'x-service-user': user };
  const messages = [{ role: 'user' as const, content: 'Hello' }];
  const stream = client.chat.completions.stream({ model: 'large', n: 2, messages }, { headers });
  const said = (await stream.finalChatCompletion()).choices.map((one) => [one.message.content, one.finish_reason]);
  assert.deepEqual(said, [
    ['one', 'stop'],
    ['two', 'stop'],
  ]);
  await expectCharged(user, 2 * CHARGE);
});

test('CC-11 a choice without a finish reason gets one', async () => {
  const calls = [{ index: 0, id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }];
  const full = { ...USAGE, completion_tokens: 16, total_tokens: 46 };
  for (const [said, usage, reason] of [
    [{ content: 'x' }, USAGE, 'stop'],
    [{ content: null, tool_calls: calls }, USAGE, 'tool_calls'],
    [{ content: 'x' }, full, 'length'],
  ] as const) {
    const limit = usage === full ? { max_tokens: 16 } : {};
    const charge = chargeFor({ prompt: 30, completion: usage.completion_tokens });
    const streamed = await streamOf([{ choices: [{ delta: said }] }, { choices: [], usage }], limit);
    const chunks = payloadsOf(streamed.reply.text) as { choices?: { finish_reason: string | null }[] }[];
    assert.equal(chunks.at(-2)?.choices?.[0]?.finish_reason, reason, streamed.reply.text);
    await expectCharged(streamed.user, charge);
    const plain = await plainOf({ choices: [{ message: said }], usage }, limit);
    assert.equal((plain.reply.body['choices'] as Payload[])[0]?.['finish_reason'], reason, plain.reply.text);
    await expectCharged(plain.user, charge);
  }
});

/** Usage in the words of vendors, plain and in the last chunk, with what it is charged and what the caller reads. */
const VENDORS: readonly (readonly [vendor: string, plain: Payload, last: Payload, charge: number, told: Payload])[] = [
  [
    'Gemini, whose thoughts stand in the total alone',
    { usage: { prompt_tokens: 10, completion_tokens: 278, total_tokens: 990 } },
    { choices: [], usage: { prompt_tokens: 10, completion_tokens: 278, total_tokens: 990 } },
    chargeFor({ prompt: 10, completion: 980 }),
    { completion_tokens: 980, total_tokens: 990, completion_tokens_details: { reasoning_tokens: 702 } },
  ],
  [
    'DeepSeek, whose cache has names of its own',
    { usage: { ...USAGE, prompt_cache_hit_tokens: 20, prompt_cache_miss_tokens: 10, prompt_tokens_details: {} } },
    { choices: [], usage: { ...USAGE, prompt_cache_hit_tokens: 20, prompt_tokens_details: { cached_tokens: 0 } } },
    chargeFor({ prompt: 30, cached: 20, completion: 20 }),
    { prompt_tokens: 30, prompt_tokens_details: { cached_tokens: 20 } },
  ],
  [
    'Moonshot, which reports in the last choice',
    { usage: { ...USAGE, cached_tokens: 20 } },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: { ...USAGE, cached_tokens: 20 } }] },
    chargeFor({ prompt: 30, cached: 20, completion: 20 }),
    { prompt_tokens: 30, prompt_tokens_details: { cached_tokens: 20 } },
  ],
];

for (const [vendor, plain, last, charge, told] of VENDORS) {
  test(`MO-08 CC-12 usage of ${vendor}, is charged and shown`, async () => {
    const message = { content: 'x' };
    const whole = await plainOf({ choices: [{ message, finish_reason: 'stop' }], ...plain });
    assert.partialDeepStrictEqual(whole.reply.body['usage'], told);
    await expectCharged(whole.user, charge);
    const chunks = [{ choices: [{ index: 0, delta: message, finish_reason: 'stop' }] }, last];
    const streamed = await streamOf(chunks, { stream_options: { include_usage: true } });
    const payloads = payloadsOf(streamed.reply.text) as Payload[];
    assert.partialDeepStrictEqual(payloads.at(-2)?.['usage'], told);
    assert.equal(streamed.reply.text.match(/"total_tokens"/g)?.length, 1);
    await expectCharged(streamed.user, charge);
  });
}

function bodyOf(content: string, more: object = {}): object {
  return { model: 'large', messages: [{ role: 'user', content }], ...more };
}

/** A call without usage, which is charged by our own count. */
async function chargedFor(body: string): Promise<number> {
  const user = await newUser(BALANCE);
  upstream.script({ body: JSON.stringify({ choices: [{ message: { content: 'word' }, finish_reason: 'stop' }] }) });
  const reply = await callAs(user, {}, { body });
  assert.equal(reply.status, 200, reply.text);
  return Number(reply.headers.get('x-service-charge-micros'));
}

test('CC-23 our prompt count ignores JSON spelling', async () => {
  const english = 'Tell me about the history of the lighthouse at the end of the bay. '.repeat(8);
  const plain = await chargedFor(JSON.stringify(bodyOf(english)));
  assert.equal(plain, estimatedCharge(JSON.stringify(bodyOf(english)), 'word'));
  // Six hundred bytes make some 140 tokens. As bytes of the padded body, they would be thousands.
  assert.ok(plain > 140 && plain < 180, `${plain}`);
  assert.equal(await chargedFor(JSON.stringify(bodyOf(english), undefined, ' '.repeat(500))), plain);
  assert.equal(await chargedFor(JSON.stringify(bodyOf(english, { metadata: { note: 'x'.repeat(500) } }))), plain);
  const russian = JSON.stringify(bodyOf('Расскажи мне об истории маяка в конце залива. '.repeat(8)));
  const escaped = russian.replace(/[^\0-~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  assert.equal(await chargedFor(escaped), await chargedFor(russian));
});

test('WA-07 CC-23 our own answer count never exceeds the limit sent', async () => {
  const user = await newUser(BALANCE);
  const content = 'word '.repeat(40);
  upstream.script({ body: JSON.stringify({ choices: [{ message: { content }, finish_reason: 'stop' }] }) });
  const body = JSON.stringify({ model: 'large', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 10 });
  await callAs(user, {}, { body });
  await expectCharged(user, chargeFor({ prompt: estimatedPromptOf(body), completion: 10 }));
});

test('MO-08 a cache mark is sent only if priced', async () => {
  const mark = { cache_control: { type: 'ephemeral' } };
  const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } };
  const messages = [
    { role: 'system', content: [{ type: 'text', text: 'Long.', ...hour }], ...mark },
    { role: 'user', content: 'Hi', name: 'a' },
  ];
  const usage = { ...USAGE, prompt_tokens_details: { cache_creation_input_tokens: 10 } };
  for (const [model, marks, charge] of [
    ['acme.large-1', 0, CHARGE],
    ['acme.writing-1', 1, 132], // 20 tokens at 1 micro, 10 at 2 and 20 at 4, and the margin.
    ['acme.long-1', 2, 132],
  ] as const) {
    const answer = { choices: [{ message: { content: 'x' }, finish_reason: 'stop' }], usage };
    const { user, reply } = await plainOf(answer, { model, messages });
    assert.equal(reply.status, 200, reply.text);
    const request = upstream.requests.at(-1);
    const sent = request?.rawBody.toString() ?? '';
    assert.equal(sent.split('cache_control').length - 1, marks, sent);
    const told = (request?.body as Payload | undefined)?.['messages'];
    assert.partialDeepStrictEqual(told, [{ role: 'system', content: [{ type: 'text', text: 'Long.' }] }, messages[1]]);
    await expectCharged(user, charge);
  }
});

test('MO-08 an unpriced mark is removed only where servers read it', async () => {
  const mark = { cache_control: { type: 'ephemeral' } };
  const parameters = { type: 'object', properties: { cache_control: { type: 'string' } } };
  const described = { name: 'look', parameters };
  const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } };
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: null, tool_calls: [{ ...call, ...mark, function: { ...call.function, ...mark } }] },
    { role: 'tool', tool_call_id: 'a', content: 'Seen.' },
  ];
  const tools = [{ type: 'function', function: { ...described, ...mark } }];
  const answer = { choices: [{ message: { content: 'x' }, finish_reason: 'stop' }], usage: USAGE };
  const { reply } = await plainOf(answer, { model: 'acme.large-1', messages, tools });
  assert.equal(reply.status, 200, reply.text);
  const sent = upstream.requests.at(-1)?.body as Payload | undefined;
  assert.deepEqual(sent?.['tools'], [{ type: 'function', function: described }]);
  assert.deepEqual(sent['messages'], [messages[0], { ...messages[1], tool_calls: [call] }, messages[2]]);
});
