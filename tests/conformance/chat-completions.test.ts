import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chargeFor } from '../support/catalogue.ts';
import type { Reply } from '../support/client.ts';
import { payloadsOf } from '../support/open-stream.ts';
import { completionBody, frame, streamSteps } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';

const USAGE = {
  prompt_tokens: 20,
  completion_tokens: 8,
  total_tokens: 28,
  prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 2 },
};
const CHARGE = chargeFor({ prompt: 20, cached: 4, completion: 8 });

const { upstream, service, app, callAs } = await setStage({ model: { imageTokensMax: 1_000 } });
await service.fund(app, 'u', 100_000_000);

function ask(fields: Readonly<Record<string, unknown>> = {}): Promise<Reply> {
  return callAs('u', fields);
}

type Payload = Record<string, unknown>;

async function askForStream(fields: Readonly<Record<string, unknown>> = {}): Promise<readonly Payload[]> {
  const reply = await ask({ stream: true, ...fields });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  const payloads = payloadsOf(reply.text);
  assert.equal(payloads.at(-1), '[DONE]');
  return payloads.slice(0, -1) as Payload[];
}

const FULL_COMPLETION = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'large-upstream',
  system_fingerprint: 'fp_1',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'Größe: \u{1F600} "quoted"\n',
        refusal: null,
        annotations: [],
        reasoning_content: 'Hm.',
      },
      logprobs: { content: [{ token: 'a', logprob: -0.5, bytes: [97], top_logprobs: [] }], refusal: null },
      finish_reason: 'stop',
    },
    {
      index: 1,
      message: {
        role: 'assistant',
        content: null,
        refusal: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'find', arguments: '{"a":1}' } }],
      },
      logprobs: null,
      finish_reason: 'tool_calls',
    },
  ],
  usage: USAGE,
};

test('CC-01 a completion matches the provider’s, under the resolved identifier', async () => {
  upstream.script({ body: JSON.stringify(FULL_COMPLETION) });
  const reply = await ask({ n: 2 });
  assert.equal(reply.status, 200, reply.text);
  assert.deepEqual(reply.body, { ...FULL_COMPLETION, model: 'acme.large-1' });
  assert.equal(reply.headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(reply.headers.get('x-service-charge-micros'), String(CHARGE));
  assert.match(reply.headers.get('x-service-call-id') ?? '', /^[0-9a-f-]{36}$/);
  assert.equal(reply.headers.get('x-service-max-output-tokens'), null);
});

/** What other gateways and vendors add, and what it would show: what the operator pays, and to whom. */
const PURCHASE = { provider: 'Cheap', organization: 'org-1', service_tier: 'flex', x_groq: { usage: { cost: 2 } } };
const COSTLY_USAGE = {
  ...USAGE,
  prompt_tokens_details: { ...USAGE.prompt_tokens_details, cost: 3 },
  cost: 0.000_123,
  cost_details: { upstream_inference_cost: 1 },
  is_byok: false,
};

test('CC-21 an app gets only format fields, and no provider costs', async () => {
  const choices = FULL_COMPLETION.choices.map((choice) => ({
    ...choice,
    native_finish_reason: 'end_turn',
    cost: 1,
    message: { ...choice.message, provider_specific_fields: { cost: 1 } },
  }));
  upstream.script({ body: JSON.stringify({ ...FULL_COMPLETION, ...PURCHASE, choices, usage: COSTLY_USAGE }) });
  const plain = await ask({ n: 2 });
  assert.deepEqual(plain.body, { ...FULL_COMPLETION, model: 'acme.large-1' });
  const added = (chunk: Payload) => {
    const [choice] = chunk['choices'] as Payload[];
    const delta = { ...(choice?.['delta'] as object), hidden_cost: 'dear' };
    return { ...chunk, ...PURCHASE, choices: [{ ...choice, cost: 1, delta }] };
  };
  // Chunks that differ only in their text are recognised without parsing: they must lose the same fields.
  const alike = Array.from({ length: 5 }, (_, index) => ({ ...chunkOf(0, { content: `t${index}` }), ...PURCHASE }));
  const all = [...CHUNKS.slice(0, 5).map(added), ...alike, ...CHUNKS.slice(5).map(added)];
  const usageChunk = { ...HEAD, ...PURCHASE, choices: [], usage: COSTLY_USAGE };
  upstream.script({ body: [{ write: framesOf([...all, usageChunk]) }] });
  const streamed = await askForStream({ n: 2, stream_options: { include_usage: true } });
  const texts = alike.map((_, index) => chunkOf(0, { content: `t${index}` }));
  assert.deepEqual(streamed, [
    ...[...CHUNKS.slice(0, 5), ...texts, ...CHUNKS.slice(5)].map((chunk) => ({
      ...chunk,
      model: 'acme.large-1',
      usage: null,
    })),
    { ...HEAD, model: 'acme.large-1', choices: [], usage: USAGE, charge_micros: CHARGE },
  ]);
});

const HEAD = { id: 'chatcmpl-2', object: 'chat.completion.chunk', created: 1_700_000_001, model: 'large-upstream' };

function chunkOf(index: number, delta: object, reason: string | null = null): Payload {
  const choice = { index, delta, logprobs: null, finish_reason: reason };
  return { ...HEAD, system_fingerprint: 'fp_2', choices: [choice] };
}

const TOOL = { index: 0, id: 'call_1', type: 'function', function: { name: 'find', arguments: '' } };
const CHUNKS: readonly Payload[] = [
  chunkOf(0, { role: 'assistant', content: '' }),
  chunkOf(1, { role: 'assistant', content: null, tool_calls: [TOOL] }),
  chunkOf(0, { content: 'Grö\u{1F600}' }),
  chunkOf(1, { tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] }),
  chunkOf(1, { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
  chunkOf(0, {}, 'stop'),
  chunkOf(1, {}, 'tool_calls'),
];

function framesOf(payloads: readonly unknown[]): string {
  return [...payloads, '[DONE]'].map((payload) => frame(payload)).join('');
}

test('CC-01 a stream matches the provider’s, under the resolved identifier', async () => {
  upstream.script({ body: [{ write: framesOf([...CHUNKS, { ...HEAD, choices: [], usage: USAGE }]) }] });
  const payloads = await askForStream({ n: 2 });
  assert.deepEqual(
    payloads,
    CHUNKS.map((chunk) => ({ ...chunk, model: 'acme.large-1' })),
  );
});

test('CC-01 a stream arrives piece by piece, wherever it is cut', async () => {
  const bytes = Buffer.from(framesOf([...CHUNKS, { ...HEAD, choices: [], usage: USAGE }]));
  const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) =>
    bytes.subarray(index * 7, index * 7 + 7),
  );
  upstream.script({ body: pieces.map((write) => ({ write })) });
  const payloads = await askForStream({ n: 2 });
  assert.deepEqual(
    payloads,
    CHUNKS.map((chunk) => ({ ...chunk, model: 'acme.large-1' })),
  );
});

test('CC-01 comments, other fields and line endings do not disturb a stream', async () => {
  const lines = framesOf([...CHUNKS, { ...HEAD, choices: [], usage: USAGE }]).split('\n\n');
  const text = `: ping\r\n\r\n${lines.map((line) => `event: chunk\r\nid: 1\r\nretry: 5\r\n${line}`).join('\r\n\r\n')}`;
  upstream.script({ body: [{ write: text }] });
  assert.equal((await askForStream({ n: 2 })).length, CHUNKS.length);
});

for (const name of ['large', 'acme.large-1']) {
  test(`CC-02 a call for ${name} gets the resolved identifier in every chunk`, async () => {
    upstream.script({ body: completionBody({ model: 'large-upstream', content: 'Hi.', usage: USAGE }) });
    const plain = await ask({ model: name });
    assert.equal(plain.body['model'], 'acme.large-1');
    const facts = { model: 'large-upstream', pieces: ['a', 'b'], usage: USAGE, includeUsageChunk: true };
    upstream.script({ body: streamSteps(facts) });
    const payloads = await askForStream({ model: name, stream_options: { include_usage: true } });
    assert.equal(payloads.length, 5);
    for (const { model } of payloads) assert.equal(model, 'acme.large-1');
    for (const { body } of upstream.requests.slice(-2)) assert.equal((body as Payload)['model'], 'large-upstream');
    assert.ok(!plain.text.includes('upstream') && !JSON.stringify(payloads).includes('upstream'));
  });
}

const FACTS = { model: 'm', pieces: ['a', 'b'], usage: USAGE };

test('CC-12 requested usage comes in one last chunk', async () => {
  upstream.script({ body: streamSteps({ ...FACTS, includeUsageChunk: true }) });
  const payloads = await askForStream({ stream_options: { include_usage: true } });
  const last = payloads.at(-1);
  assert.deepEqual(last?.['choices'], []);
  assert.deepEqual(last?.['usage'], USAGE);
  assert.equal(last?.['id'], payloads[0]?.['id']);
  assert.equal(last?.['object'], 'chat.completion.chunk');
  for (const payload of payloads.slice(0, -1)) {
    assert.equal(payload['usage'], null);
    assert.equal((payload['choices'] as unknown[]).length, 1);
  }
});

for (const options of [undefined, null, {}, { include_usage: false }]) {
  test(`CC-12 with stream_options ${JSON.stringify(options)} no frame contains usage, and the call is charged`, async () => {
    upstream.script({ body: streamSteps({ ...FACTS, includeUsageChunk: true }) });
    const before = await service.wallet(app, 'u');
    const payloads = await askForStream({ stream_options: options });
    assert.equal(payloads.length, 4);
    for (const payload of payloads) assert.ok(!('usage' in payload), JSON.stringify(payload));
    assert.equal(before.balance - (await service.wallet(app, 'u')).balance, CHARGE);
    const sent = upstream.requests.at(-1)?.body as Payload;
    assert.deepEqual(sent['stream_options'], { include_usage: true });
    assert.equal(sent['stream'], true);
  });
}

test('CC-12 usage on the last choice gets its own chunk or is removed', async () => {
  const withUsage = { ...chunkOf(0, {}, 'stop'), usage: USAGE };
  upstream.script({ body: [{ write: framesOf([chunkOf(0, { content: 'Hi' }), withUsage]) }] });
  const asked = await askForStream({ stream_options: { include_usage: true } });
  assert.deepEqual(
    asked.map(({ usage }) => usage),
    [null, null, USAGE],
  );
  const unasked = await askForStream();
  assert.equal(unasked.length, 2);
  assert.ok(unasked.every((payload) => !('usage' in payload)));
});

test('CC-12 our own count replaces missing provider usage', async () => {
  upstream.script({ body: streamSteps({ ...FACTS, pieces: ['eight by', 'tes here'], includeUsageChunk: false }) });
  const before = await service.wallet(app, 'u');
  const payloads = await askForStream({ stream_options: { include_usage: true } });
  const usage = payloads.at(-1)?.['usage'] as Record<string, number>;
  assert.equal(usage['completion_tokens'], 4); // 14 letters, about four to a token.
  assert.ok((usage['prompt_tokens'] ?? 0) > 0);
  assert.equal(usage['total_tokens'], (usage['prompt_tokens'] ?? 0) + 4);
  const charge = chargeFor({ prompt: usage['prompt_tokens'] ?? 0, completion: 4 });
  assert.equal(before.balance - (await service.wallet(app, 'u')).balance, charge);
});

test('CC-12 a buffered call is not streamed, and its answer’s usage is charged', async () => {
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi.', usage: USAGE }) });
  for (const stream of [undefined, null, false]) {
    const reply = await ask({ stream });
    assert.deepEqual(reply.body['usage'], USAGE);
    const sent = upstream.requests.at(-1)?.body as Payload;
    assert.ok(sent['stream'] !== true && !('stream_options' in sent));
  }
  assert.deepEqual(await service.check(), []);
});
