import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FLASH, HELLO, KEY, messageOf, NEW, setGeminiStage, USAGE } from './gemini/stage.ts';
import type { Json, Part } from './gemini/wire.ts';

const { server, both, bodyOf } = await setGeminiStage();

test('MO-09 CC-13 exactly the parameters Gemini has arrive, in its words', async () => {
  const schema = { type: 'object', properties: { a: { const: 1 } }, required: ['a'], additionalProperties: false };
  await both(HELLO, {
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
        thinkingConfig: { thinkingBudget: 1_024, includeThoughts: true },
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
    accept: '*/*',
    'accept-encoding': 'identity',
    'accept-language': '*',
    connection: 'keep-alive',
    'content-type': 'application/json',
    'sec-fetch-mode': 'cors',
    'user-agent': 'purser/1',
    'x-goog-api-key': KEY,
  });
});

test('MO-08 CC-11 every count arrives, with thoughts as output', async () => {
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
  const { completion, joined } = await both({ ...HELLO, usage });
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

test('CC-23 an answer without usage is charged by our count', async () => {
  const { completion, joined } = await both({ parts: HELLO.parts });
  assert.deepEqual([completion.usage, joined.usage, joined.content], [undefined, undefined, 'Good morning.']);
});

const WEATHER = { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } };
const PARALLEL: readonly Part[] = [
  { functionCall: { id: 'a', name: 'weather', args: { city: 'Oslo', days: [1, 2] } } },
  { functionCall: { id: 'b', name: 'weather', args: { city: 'Rome' } } },
];
const TURN = { tools: [WEATHER], tool_choice: 'auto' };

test('CC-13 parallel tool calls make the round trip', async () => {
  const { completion, joined } = await both({ parts: PARALLEL, usage: USAGE }, TURN, NEW);
  const called = messageOf(completion)['tool_calls'] as Json[];
  assert.equal(completion.choices[0]!.finish_reason, 'tool_calls');
  assert.equal(joined.reason, 'tool_calls');
  assert.equal(joined.signed, 1, 'a client that joins what it gets would spoil a signature that comes twice');
  for (const calls of [called, joined.calls] as const) {
    assert.deepEqual(
      calls.map((call) => [
        call.id,
        (call.function as Json)['name'],
        JSON.parse(String((call.function as Json)['arguments'])),
      ]),
      [
        ['a', 'weather', { city: 'Oslo', days: [1, 2] }],
        ['b', 'weather', { city: 'Rome' }],
      ],
    );
    const results = ['a', 'b'].map((id) => ({ role: 'tool', tool_call_id: id, content: 'sunny' }));
    const history = [
      { role: 'user', content: 'Where?' },
      { role: 'assistant', content: null, tool_calls: calls },
    ];
    // The server takes no signature but those that it gave.
    await both(HELLO, { ...TURN, messages: [...history, ...results] }, NEW);
    const [, model, user] = bodyOf()['contents'] as { parts: Json[] }[];
    assert.deepEqual(
      model!.parts.map((part) => typeof part['thoughtSignature']),
      ['string', 'undefined'],
    );
    assert.deepEqual(
      user!.parts.map((part) => (part['functionResponse'] as Json)['id']),
      ['a', 'b'],
    );
  }
});

test('CC-13 thoughts are shown only with an effort', async () => {
  const thought = { text: 'They greet me. I greet them.', thought: true };
  const answer = { parts: [thought, { text: 'Good morning.' }], usage: USAGE };
  const { completion, joined } = await both(answer, { reasoning_effort: 'minimal' }, NEW);
  assert.deepEqual((bodyOf()['generationConfig'] as Json)['thinkingConfig'], {
    thinkingLevel: 'minimal',
    includeThoughts: true,
  });
  const whole = messageOf(completion);
  for (const { content, reasoning_content: shown, reasoning_details: details } of [whole, joined]) {
    assert.deepEqual([content, shown], ['Good morning.', thought.text]);
    const said = { role: 'assistant', content, reasoning_details: details };
    const messages = [{ role: 'user', content: 'Hello' }, said, { role: 'user', content: 'And now?' }];
    await both(HELLO, { messages }, NEW);
    const [, { parts }] = bodyOf()['contents'] as [unknown, { parts: Json[] }];
    const signature = (details as Json[]).find((item) => item['signature'] !== undefined)?.['signature'];
    assert.equal(typeof signature, 'string');
    assert.deepEqual(parts, [{ text: 'Good morning.', thoughtSignature: signature }]);
  }
});

test('CC-13 a history without signatures is accepted', async () => {
  const call = { id: 'x', type: 'function', function: { name: 'weather', arguments: '' } };
  const history = [
    { role: 'user', content: 'Where?' },
    { role: 'assistant', content: 'Let me see.', tool_calls: [call, { ...call, id: 'y' }] },
    {
      role: 'tool',
      tool_call_id: 'x',
      content: [
        { type: 'text', text: 'sun' },
        { type: 'text', text: 'rain' },
      ],
    },
    { role: 'tool', tool_call_id: 'y', content: 'snow' },
  ];
  for (const model of [NEW, FLASH]) {
    const { joined } = await both(HELLO, { ...TURN, messages: history }, model);
    assert.equal(joined.content, 'Good morning.');
    const [, said, results] = bodyOf()['contents'] as { parts: Json[] }[];
    const responses = results!.parts.map((part) => ((part['functionResponse'] as Json)['response'] as Json)['content']);
    assert.deepEqual(responses, ['sun\nrain', 'snow']);
    const signature = model === NEW ? 'skip_thought_signature_validator' : undefined;
    assert.deepEqual(
      said!.parts.map((part) => part['thoughtSignature']),
      [undefined, signature, undefined],
    );
  }
});

test('CC-13 tool choices, image data and JSON schemas arrive', async () => {
  const png = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64');
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } };
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] }];
  const choices = [
    ['none', { mode: 'NONE' }],
    ['required', { mode: 'ANY' }],
    [
      { type: 'function', function: { name: 'weather' } },
      { mode: 'ANY', allowedFunctionNames: ['weather'] },
    ],
  ] as const;
  for (const [choice, functionCallingConfig] of choices) {
    await both(HELLO, { ...TURN, messages, tool_choice: choice });
    assert.deepEqual(bodyOf()['toolConfig'], { functionCallingConfig });
  }
  assert.deepEqual(bodyOf()['contents'], [
    { role: 'user', parts: [{ text: 'What is it?' }, { inlineData: { mimeType: 'image/png', data: png } }] },
  ]);

  const schema = { type: 'object', properties: { city: { type: 'string' } } };
  const format = { type: 'json_schema', json_schema: { name: 'place', schema } };
  const old = await both(
    { parts: [{ functionCall: { name: 'json', args: { city: 'Oslo' } } }], usage: USAGE },
    { ...TURN, response_format: format },
  );
  for (const content of [messageOf(old.completion)['content'], old.joined.content]) {
    assert.equal(content, '{"city":"Oslo"}', 'Gemini 2.5 takes no schema beside tools, so the schema is a tool too');
  }
  assert.deepEqual([old.completion.choices[0]!.finish_reason, old.joined.reason], ['stop', 'stop']);
  await both(HELLO, { ...TURN, response_format: format }, NEW);
  assert.deepEqual((bodyOf()['generationConfig'] as Json)['responseJsonSchema'], schema);
});
