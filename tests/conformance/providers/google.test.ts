import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inspect } from 'node:util';
import { type GeminiServer, startGeminiServer } from '../../support/gemini/server.ts';
import { FAILURES, type GeminiAnswer, type Json, type Part } from '../../support/gemini/wire.ts';
import { createGeminiApi } from '../../../packages/service/src/providers/google/adapter.ts';
import type { Chunk, Completion } from '../../../packages/service/src/providers/completion.ts';
import { fixedKey } from '../../../packages/service/src/providers/keys/key-source.ts';
import { type Provider, UpstreamError } from '../../../packages/service/src/providers/provider.ts';
import { createVendorHttp } from '../../../packages/service/src/providers/vendor-fetch.ts';

const KEY = 'gemini-key';
const FLASH = 'gemini-2.5-flash';
const NEW = 'gemini-3.5-flash';
const http = createVendorHttp();
let server: GeminiServer;
let provider: Provider;

before(async () => {
  server = await startGeminiServer({ apiKey: KEY });
  provider = createGeminiApi({ http, baseUrl: `${server.origin}/v1beta`, key: fixedKey('gemini', KEY) });
});
after(async () => {
  http.close();
  await server.close();
});

const USAGE = { promptTokenCount: 20, candidatesTokenCount: 7, thoughtsTokenCount: 5, totalTokenCount: 32 };
const HELLO = { parts: [{ text: 'Good morning.' }], usage: USAGE } satisfies GeminiAnswer;

function callOf(request: Json, providerModel = FLASH) {
  const messages = request['messages'] ?? [{ role: 'user', content: 'Hello' }];
  const whole = { ...request, messages };
  const requestText = JSON.stringify(whole);
  const outputLimitParameter = 'max_completion_tokens' as const;
  return { request: whole, requestText, providerModel, outputTokens: 500, outputLimitParameter, timeoutMs: 5_000 };
}

async function streamOf(call: ReturnType<typeof callOf>): Promise<Chunk[]> {
  const source = await provider.stream(call, new AbortController().signal);
  const chunks = [...((await source.first()) ?? [])];
  await source.rest((more) => {
    chunks.push(...more);
    return true;
  });
  return chunks as Chunk[];
}

/** The same call plain and streamed. */
async function bothOf(answer: GeminiAnswer, request: Json = {}, model = FLASH) {
  server.script(answer);
  const completion = await provider.complete(callOf(request, model));
  const chunks = await streamOf(callOf(request, model));
  return { completion, chunks, joined: joined(chunks) };
}

/** What a client makes of the deltas. */
function joined(chunks: readonly Chunk[]) {
  const calls: { id?: unknown; function: { name: string; arguments: string }; extra_content?: unknown }[] = [];
  let content = '';
  for (const { delta } of chunks.flatMap(({ choices }) => choices)) {
    if (typeof delta['content'] === 'string') content += delta['content'];
    for (const piece of (delta['tool_calls'] ?? []) as (Json & { index: number; function?: Json })[]) {
      const { index, function: called = {}, ...rest } = piece;
      const call = (calls[index] ??= { function: { name: '', arguments: '' } });
      call.function.name += String(called['name'] ?? '');
      call.function.arguments += String(called['arguments'] ?? '');
      Object.assign(call, rest);
    }
  }
  const usage = chunks.findLast((chunk) => chunk.usage !== undefined)?.usage;
  return { content, calls, usage, reason: chunks.at(-1)?.choices[0]?.finish_reason };
}

function messageOf({ choices }: Completion): Json {
  assert.equal(choices.length, 1);
  return choices[0]!.message;
}

function bodyOf(index = -1): Json {
  return server.requests.at(index)!.body;
}

test('MO-09 CC-13 each parameter that Gemini has arrives in its words, and nothing else does', async () => {
  const schema = { type: 'object', properties: { a: { const: 1 } }, required: ['a'], additionalProperties: false };
  await bothOf(HELLO, {
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'developer', content: 'Be kind.' },
      { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
    ],
    temperature: 0.5,
    top_p: 0.9,
    seed: 7,
    stop: ['END', 'STOP'],
    reasoning_effort: 'low',
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
    presence_penalty: 0,
    user: 'somebody',
  });
  for (const index of [-1, -2]) {
    assert.deepEqual(bodyOf(index), {
      contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
      systemInstruction: { parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] },
      generationConfig: {
        maxOutputTokens: 500,
        temperature: 0.5,
        topP: 0.9,
        seed: 7,
        stopSequences: ['END', 'STOP'],
        thinkingConfig: { thinkingBudget: 1_024 },
        responseMimeType: 'application/json',
        // Gemini's schemas have no `const`.
        responseJsonSchema: { ...schema, properties: { a: { enum: [1] } } },
      },
    });
  }
  const { headers, path } = server.requests.at(-1)!;
  assert.equal(path, `/v1beta/models/${FLASH}:streamGenerateContent?alt=sse`);
  const { host: _, 'content-length': __, ...sent } = headers;
  assert.deepEqual(sent, {
    'accept': '*/*',
    'accept-encoding': 'identity',
    'accept-language': '*',
    'connection': 'keep-alive',
    'content-type': 'application/json',
    'sec-fetch-mode': 'cors',
    'user-agent': 'purser/1',
    'x-goog-api-key': KEY,
  });
});

test('MO-08 CC-11 every count arrives, plain and streamed: thoughts are output beside the candidates', async () => {
  const usage = {
    promptTokenCount: 3_000,
    cachedContentTokenCount: 2_048,
    toolUsePromptTokenCount: 40,
    candidatesTokenCount: 90,
    thoughtsTokenCount: 700,
    totalTokenCount: 3_830,
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: 2_400 },
      { modality: 'IMAGE', tokenCount: 600 },
    ],
    cacheTokensDetails: [
      { modality: 'TEXT', tokenCount: 1_790 },
      { modality: 'IMAGE', tokenCount: 258 },
    ],
    candidatesTokensDetails: [{ modality: 'TEXT', tokenCount: 90 }],
  } as const;
  const { completion, joined } = await bothOf({ ...HELLO, usage });
  for (const report of [completion.usage, joined.usage]) {
    const { counts, isContradictory } = report!;
    const told = Object.entries(counts).filter(([, count]) => count !== undefined);
    assert.deepEqual(Object.fromEntries(told), {
      prompt: 3_040,
      cached: 2_048,
      imageInput: 342,
      completion: 790,
      reasoning: 700,
      total: 3_830,
    });
    assert.equal(isContradictory, false);
  }
});

test('CC-11 without any usage there is no report, so that our own count is charged', async () => {
  const { completion, joined } = await bothOf({ parts: HELLO.parts });
  assert.deepEqual([completion.usage, joined.usage, joined.content], [undefined, undefined, 'Good morning.']);
});

const WEATHER = { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } };
const PARALLEL: readonly Part[] = [
  { functionCall: { id: 'a', name: 'weather', args: { city: 'Oslo', days: [1, 2] } } },
  { functionCall: { id: 'b', name: 'weather', args: { city: 'Rome' } } },
];
const TURN = { tools: [WEATHER], tool_choice: 'auto' };

test('CC-13 parallel tool calls, their ids and Gemini’s signature make the round trip, plain and streamed', async () => {
  const { completion, joined } = await bothOf({ parts: PARALLEL, usage: USAGE }, TURN, NEW);
  const called = messageOf(completion)['tool_calls'] as Json[];
  assert.equal(completion.choices[0]!.finish_reason, 'tool_calls');
  assert.equal(joined.reason, 'tool_calls');
  for (const calls of [called, joined.calls] as const) {
    assert.deepEqual(
      calls.map((call) => [call.id, (call.function as Json)['name'], JSON.parse(String((call.function as Json)['arguments']))]),
      [
        ['a', 'weather', { city: 'Oslo', days: [1, 2] }],
        ['b', 'weather', { city: 'Rome' }],
      ],
    );
    const results = ['a', 'b'].map((id) => ({ role: 'tool', tool_call_id: id, content: 'sunny' }));
    const history = [{ role: 'user', content: 'Where?' }, { role: 'assistant', content: null, tool_calls: calls }];
    // The server takes no signature but those that it gave.
    await bothOf(HELLO, { ...TURN, messages: [...history, ...results] }, NEW);
    const [, model, user] = bodyOf()['contents'] as { parts: Json[] }[];
    assert.deepEqual(model!.parts.map((part) => typeof part['thoughtSignature']), ['string', 'undefined']);
    assert.deepEqual(user!.parts.map((part) => (part['functionResponse'] as Json)['id']), ['a', 'b']);
  }
});

test('CC-13 a history without signatures is taken all the same, with the word that Google has for it', async () => {
  const call = { id: 'x', type: 'function', function: { name: 'weather', arguments: '' } };
  const history = [
    { role: 'user', content: 'Where?' },
    { role: 'assistant', content: 'Let me see.', tool_calls: [call, { ...call, id: 'y' }] },
    { role: 'tool', tool_call_id: 'x', content: [{ type: 'text', text: 'sun' }, { type: 'text', text: 'rain' }] },
    { role: 'tool', tool_call_id: 'y', content: 'snow' },
  ];
  for (const model of [NEW, FLASH]) {
    const { joined } = await bothOf(HELLO, { ...TURN, messages: history }, model);
    assert.equal(joined.content, 'Good morning.');
    const [, said] = bodyOf()['contents'] as { parts: Json[] }[];
    const signature = model === NEW ? 'skip_thought_signature_validator' : undefined;
    assert.deepEqual(said!.parts.map((part) => part['thoughtSignature']), [undefined, signature, undefined]);
  }
});

test('CC-13 tool choices, an image as data, and a JSON schema beside tools', async () => {
  const png = `${Buffer.from('89504e470d0a1a0a', 'hex').toString('base64')}`;
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } };
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] }];
  const choices = [
    ['none', { mode: 'NONE' }],
    ['required', { mode: 'ANY' }],
    [{ type: 'function', function: { name: 'weather' } }, { mode: 'ANY', allowedFunctionNames: ['weather'] }],
  ] as const;
  for (const [choice, functionCallingConfig] of choices) {
    await bothOf(HELLO, { ...TURN, messages, tool_choice: choice });
    assert.deepEqual(bodyOf()['toolConfig'], { functionCallingConfig });
  }
  assert.deepEqual(bodyOf()['contents'], [
    { role: 'user', parts: [{ text: 'What is it?' }, { inlineData: { mimeType: 'image/png', data: png } }] },
  ]);

  const schema = { type: 'object', properties: { city: { type: 'string' } } };
  const format = { type: 'json_schema', json_schema: { name: 'place', schema } };
  const old = await bothOf(
    { parts: [{ functionCall: { name: 'json', args: { city: 'Oslo' } } }], usage: USAGE },
    { ...TURN, response_format: format },
  );
  for (const content of [messageOf(old.completion)['content'], old.joined.content]) {
    assert.equal(content, '{"city":"Oslo"}', 'Gemini 2.5 takes no schema beside tools, so the schema is a tool too');
  }
  assert.deepEqual([old.completion.choices[0]!.finish_reason, old.joined.reason], ['stop', 'stop']);
  await bothOf(HELLO, { ...TURN, response_format: format }, NEW);
  assert.deepEqual((bodyOf()['generationConfig'] as Json)['responseJsonSchema'], schema);
});

test('CC-11 ER-03 every reason to finish is told or is a failure; none of the failures is a `stop`', async () => {
  const told = { STOP: 'stop', MAX_TOKENS: 'length', SAFETY: 'content_filter', RECITATION: 'content_filter' };
  const withheld = ['PROHIBITED_CONTENT', 'BLOCKLIST', 'SPII', 'LANGUAGE', 'IMAGE_SAFETY', 'MODEL_ARMOR'];
  for (const [reason, ours] of [...Object.entries(told), ...withheld.map((one) => [one, 'content_filter'] as const)]) {
    const { completion, joined } = await bothOf({ ...HELLO, finishReason: reason });
    assert.deepEqual([reason, completion.choices[0]!.finish_reason, joined.reason], [reason, ours, ours]);
  }
  for (const reason of ['OTHER', 'MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'NEW_REASON', null]) {
    server.script({ ...HELLO, finishReason: reason });
    await assert.rejects(provider.complete(callOf({})), { kind: 'cut' }, String(reason));
    await assert.rejects(streamOf(callOf({})), { kind: 'cut' }, String(reason));
  }
  const usage = { promptTokenCount: 20, totalTokenCount: 20 };
  const blocked = await bothOf({ blockReason: 'PROHIBITED_CONTENT', usage });
  assert.deepEqual([blocked.completion.choices[0]!.finish_reason, blocked.joined.reason], ['content_filter', 'content_filter']);
  assert.deepEqual([blocked.joined.usage?.counts.prompt, blocked.joined.usage?.counts.completion], [20, 0]);
});

test('CC-09 CC-17 ER-03 each failure has the kind that Google’s code says, the wait that Google asks for, and none of its text', async () => {
  const kinds = [
    ['exhausted', 'throttled', 17.4],
    ['contextOverflow', 'too-long', undefined],
    ['keyInvalid', 'unauthorized', undefined],
    ['noPermission', 'unauthorized', undefined],
    ['notFound', 'unauthorized', undefined],
    ['notServedHere', 'unauthorized', undefined],
    ['overloaded', 'outage', undefined],
    ['internal', 'outage', undefined],
  ] as const;
  for (const [name, kind, retryAfterSeconds] of kinds) {
    const error = FAILURES[name];
    server.script({ error });
    for (const call of [() => provider.complete(callOf({})), () => streamOf(callOf({}))]) {
      await assert.rejects(call(), (fault) => {
        assert.ok(fault instanceof UpstreamError);
        assert.deepEqual([name, fault.kind, fault.status, fault.retryAfterSeconds], [name, kind, error.code, retryAfterSeconds]);
        assert.ok(!inspect(fault).includes(error.message), inspect(fault));
        return true;
      });
    }
  }
  const refused: string[] = [];
  const key = { ...fixedKey('gemini', 'wrong'), refused: (one: string) => void refused.push(one) };
  const wrong = createGeminiApi({ http, baseUrl: `${server.origin}/v1beta`, key });
  await assert.rejects(wrong.complete(callOf({})), { kind: 'unauthorized', status: 400 });
  assert.deepEqual(refused, ['wrong'], 'a key that is read from a file is read again');
  server.script(HELLO);
  await assert.rejects(provider.complete(callOf({ stop: ['1', '2', '3', '4', '5', '6'] })), { kind: 'rejected' });
});

test('CC-11 a stream that breaks after its first chunk is a failure, never the end of an answer', async () => {
  const breaks = [
    [FAILURES.exhausted, 'throttled'],
    [FAILURES.overloaded, 'outage'],
    ['end', 'cut'],
    ['reset', 'outage'],
  ] as const;
  for (const [breakBy, kind] of breaks) {
    server.script({ ...HELLO, breakBy });
    await assert.rejects(streamOf(callOf({})), { kind });
  }
});

test('WA-07 an answer that could go on is not continued by a second request', async () => {
  server.script({ ...HELLO, finishReason: 'CONTINUATION', continuationToken: 'more' });
  const before = server.requests.length;
  const completion = await provider.complete(callOf({}));
  const { content, reason, usage } = joined(await streamOf(callOf({})));
  assert.equal(server.requests.length - before, 2, 'one request for each call');
  assert.deepEqual([messageOf(completion)['content'], completion.choices[0]!.finish_reason], ['Good morning.', 'length']);
  assert.deepEqual([content, reason], ['Good morning.', 'length']);
  assert.deepEqual([completion.usage?.counts.total, usage?.counts.total], [32, 32]);
});
