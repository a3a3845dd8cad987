import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import OpenAI from 'openai';
import { createSimulator, listenOnLoopback } from './simulator.ts';

const server = createSimulator();
const baseURL = `http://127.0.0.1:${await listenOnLoopback(server, 0)}/v1`;
const client = new OpenAI({ baseURL, apiKey: 'anything', maxRetries: 0 });

after(() => {
  server.close();
  server.closeAllConnections();
});

const weather = functionTool('get_weather', {
  type: 'object',
  properties: {
    city: { type: 'string' },
    days: { type: 'integer', minimum: 3 },
    unit: { enum: ['celsius', 'kelvin'] },
  },
  required: ['city', 'days', 'unit'],
});
const clock = functionTool('get_time', { type: 'object', properties: { zone: { type: 'string' } } });

function functionTool(name: string, parameters: Record<string, unknown>) {
  return { type: 'function' as const, function: { name, description: `The ${name}.`, parameters } };
}

function ask(text: string, options: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {}) {
  return client.chat.completions.create({ model: 'sim-echo', messages: [{ role: 'user', content: text }], ...options });
}

function namesOf(completion: OpenAI.ChatCompletion): readonly string[] {
  return (completion.choices[0]?.message.tool_calls ?? []).map((call) =>
    call.type === 'function' ? call.function.name : '',
  );
}

function callsOf({ choices }: OpenAI.ChatCompletion): unknown {
  return choices[0]?.message.tool_calls?.map((call) => {
    return call.type === 'function' && [call.function.name, call.function.arguments];
  });
}

test('OP-01 the same request always has the same usage', async () => {
  const options = { n: 2, tools: [weather], logprobs: true, stop: ['simulator'] };
  const [first, second] = [await ask('Again?', options), await ask('Again?', options)];
  assert.deepEqual(first.usage, second.usage);
  assert.notEqual(first.id, second.id);
});

test('OP-01 no choice has more tokens than the limit', async () => {
  for (const limit of [1, 5, 10]) {
    for (const name of ['max_tokens', 'max_completion_tokens']) {
      const { choices, usage } = await ask('Tell me more 🙂.', { n: 2, [name]: limit });
      assert.equal(usage?.completion_tokens, 2 * limit);
      assert.deepEqual(
        choices.map((choice) => choice.finish_reason),
        ['length', 'length'],
      );
      assert.equal(Array.from(choices[0]?.message.content ?? '').length, 4 * limit);
    }
  }
  const both = await ask('Both?', { max_tokens: 3, max_completion_tokens: 7 });
  assert.equal(both.usage?.completion_tokens, 3);
});

test('OP-01 an answer fitting the limit exactly is complete', async () => {
  const whole = await ask('Fits?');
  const fitting = await ask('Fits?', { max_completion_tokens: whole.usage!.completion_tokens });
  assert.equal(fitting.choices[0]?.finish_reason, 'stop');
  assert.equal(fitting.choices[0]?.message.content, whole.choices[0]?.message.content);
});

test('OP-01 reasoning tokens count towards the limit', async () => {
  const { usage, choices } = await ask('Think!', { model: 'sim-cached', max_completion_tokens: 20 });
  assert.equal(usage?.completion_tokens, 20);
  assert.equal(usage?.completion_tokens_details?.reasoning_tokens, 20);
  assert.equal(choices[0]?.message.content, '');
  assert.equal(choices[0]?.finish_reason, 'length');
});

test('OP-01 a stop text ends the answer just before the text', async () => {
  const { choices } = await ask('Stop.', { stop: ['nowhere to be found', ' built-in', ' simulator'] });
  assert.equal(choices[0]?.message.content, 'Hello from the');
  assert.equal(choices[0]?.finish_reason, 'stop');
});

test('OP-01 a tool the question names is called with its arguments', async () => {
  const named = await ask('Please get_weather for me.', { tools: [clock, weather] });
  const [call] = named.choices[0]!.message.tool_calls!;
  assert.ok(call?.type === 'function');
  assert.match(call.id, /^call_/);
  assert.deepEqual(JSON.parse(call.function.arguments), { city: 'example', days: 3, unit: 'celsius' });
  assert.equal(named.choices[0]?.message.content, null);
  assert.equal(named.choices[0]?.finish_reason, 'tool_calls');
  assert.deepEqual(namesOf(await ask('Hello.', { tools: [clock, weather] })), []);
});

test('OP-01 the tool choice decides', async () => {
  const tools = [clock, weather];
  const byName = { type: 'function' as const, function: { name: 'get_weather' } };
  assert.deepEqual(namesOf(await ask('get_time', { tools, tool_choice: 'none' })), []);
  assert.deepEqual(namesOf(await ask('Hello.', { tools, tool_choice: 'required' })), ['get_time']);
  assert.deepEqual(namesOf(await ask('get_weather', { tools, tool_choice: 'required' })), ['get_weather']);
  assert.deepEqual(namesOf(await ask('get_time', { tools, tool_choice: byName })), ['get_weather']);
  const allowed = {
    type: 'allowed_tools' as const,
    allowed_tools: { mode: 'required' as const, tools: [{ ...byName }] },
  };
  assert.deepEqual(namesOf(await ask('get_time', { tools, tool_choice: allowed })), ['get_weather']);
});

test('OP-01 several tools are called at once when asked', async () => {
  const options = { tools: [clock, weather], parallel_tool_calls: true };
  assert.deepEqual(namesOf(await ask('get_weather and get_time', options)), ['get_time', 'get_weather']);
  assert.deepEqual(namesOf(await ask('Go.', { ...options, tool_choice: 'required' })), ['get_time', 'get_weather']);
  assert.deepEqual(namesOf(await ask('get_weather and get_time', { tools: options.tools })), ['get_time']);
});

test('OP-01 an agent sending the tool result gets prose', async () => {
  const messages = [
    { role: 'user' as const, content: 'get_weather' },
    {
      role: 'assistant' as const,
      tool_calls: [{ id: 'call_1', type: 'function' as const, function: { name: 'get_weather', arguments: '{}' } }],
    },
    { role: 'tool' as const, tool_call_id: 'call_1', content: 'Rain.' },
  ];
  const { choices } = await client.chat.completions.create({ model: 'sim-echo', messages, tools: [weather] });
  assert.match(choices[0]?.message.content ?? '', /The tool answered “Rain\.”/);
});

test('OP-01 streamed tool calls assemble to the same call', async () => {
  const request = {
    model: 'sim-echo',
    messages: [{ role: 'user' as const, content: 'get_weather get_time' }],
    tools: [weather, clock],
    parallel_tool_calls: true,
  };
  const streamed = await client.chat.completions.stream(request).finalChatCompletion();
  const plain = await client.chat.completions.create(request);
  assert.deepEqual(callsOf(streamed), callsOf(plain));
  assert.equal(streamed.choices[0]?.finish_reason, 'tool_calls');
});

test('OP-01 a tool call is cut at the limit', async () => {
  const whole = await ask('get_weather', { tools: [weather] });
  for (let limit = 1; limit < whole.usage!.completion_tokens; limit += 1) {
    const { choices, usage } = await ask('get_weather', { tools: [weather], max_completion_tokens: limit });
    assert.equal(choices[0]?.finish_reason, 'length');
    assert.ok(usage!.completion_tokens <= limit);
  }
});

test('OP-01 JSON answers are JSON conforming to their schema', async () => {
  const object = await ask('As JSON, please.', { response_format: { type: 'json_object' } });
  assert.equal(JSON.parse(object.choices[0]!.message.content!).echo, 'As JSON, please.');
  const schema = { type: 'object', properties: { score: { type: 'number', maximum: 0.5 } }, required: ['score'] };
  const format = { type: 'json_schema' as const, json_schema: { name: 'score', schema, strict: true } };
  const instance = await ask('As JSON, please.', { response_format: format });
  assert.deepEqual(JSON.parse(instance.choices[0]!.message.content!), { score: 0 });
});

test('OP-01 log probabilities cover the text, buffered and streamed', async () => {
  const request = {
    model: 'sim-echo',
    messages: [{ role: 'user' as const, content: 'Sure 🙂?' }],
    logprobs: true,
    top_logprobs: 2,
  };
  const plain = await client.chat.completions.create(request);
  const streamed = await client.chat.completions.stream(request).finalChatCompletion();
  const entries = plain.choices[0]!.logprobs!.content!;
  assert.deepEqual(streamed.choices[0]?.logprobs, plain.choices[0]?.logprobs);
  assert.equal(entries.map((entry) => entry.token).join(''), plain.choices[0]?.message.content);
  assert.deepEqual(Object.keys(entries[0]!).toSorted(), ['bytes', 'logprob', 'token', 'top_logprobs']);
  assert.ok(entries.every((entry) => entry.top_logprobs.length === 2 && entry.logprob <= 0));
  assert.equal(entries[0]?.top_logprobs[0]?.token, entries[0]?.token);
});

test('OP-01 attachments are counted and never opened', async () => {
  const text = { type: 'text' as const, text: 'Look.' };
  const image = { type: 'image_url' as const, image_url: { url: 'http://127.0.0.1:1/none.png' } };
  const sound = { type: 'input_audio' as const, input_audio: { data: 'AAAA', format: 'wav' as const } };
  const without = await client.chat.completions.create({
    model: 'sim-echo',
    messages: [{ role: 'user', content: [text] }],
  });
  const content = [text, image, sound];
  const withBoth = await client.chat.completions.create({ model: 'sim-echo', messages: [{ role: 'user', content }] });
  assert.equal(withBoth.usage!.prompt_tokens - without.usage!.prompt_tokens, 2 * 85);
  assert.match(withBoth.choices[0]?.message.content ?? '', /your 2 attachments/);
});
