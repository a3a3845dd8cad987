// Chat completions whose upstream serves Responses alone, over real HTTP.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callItem, messageItem, reasoningItem, responding, streaming } from '../support/responses-upstream.ts';
import { CHARGE, BALANCE, joined, QUESTION, setResponsesStage, WITH_USAGE } from '../support/responses-stage.ts';
import { completionBody, type NextScript } from '../support/scripted-upstream.ts';

const USAGE = {
  prompt_tokens: 20,
  completion_tokens: 11,
  total_tokens: 31,
  prompt_tokens_details: { cached_tokens: 8 },
  completion_tokens_details: { reasoning_tokens: 6 },
};

const { upstream, newUser, callAs, call, sent } = await setResponsesStage();

test('WI-03 a response is answered as a completion, and its usage charged', async () => {
  const { reply, bill } = await call(responding([messageItem('In Rome.')]), { temperature: 0.5, max_tokens: 50 });
  assert.equal(reply.status, 200, reply.text);
  const [choice] = reply.body['choices'] as readonly unknown[];
  const message = { role: 'assistant', content: 'In Rome.', refusal: null };
  assert.deepEqual(choice, { index: 0, message, logprobs: null, finish_reason: 'stop' });
  assert.deepEqual(reply.body['usage'], USAGE);
  assert.deepEqual([bill.charged, bill.isEstimated, bill.isClamped], [CHARGE, false, false]);
  assert.deepEqual(bill.tokens, { prompt: 20, cached: 8, cacheWrite: 0, completion: 11, reasoning: 6 });
  assert.equal(upstream.requests.at(-1)?.path, '/v1/responses');
  assert.deepEqual(sent(), {
    model: 'new-upstream',
    max_output_tokens: 50,
    store: false,
    input: [{ type: 'message', role: 'user', content: 'Where?' }],
    temperature: 0.5,
  });
});

test('WI-03 a stream of events is told as chunks as they come', async () => {
  const { reply, bill } = await call(streaming([messageItem('In Rome, I think.')]), WITH_USAGE);
  const told = joined(reply);
  assert.deepEqual([told.content, told.reasons, told.isDone], ['In Rome, I think.', ['stop'], true]);
  assert.deepEqual(told.usage, USAGE);
  assert.deepEqual([bill.charged, bill.outcome, bill.isEstimated], [CHARGE, 'answered', false]);
  assert.deepEqual([sent()['stream'], sent()['store'], sent()['stream_options']], [true, false, undefined]);
});

test('WI-03 tools go out and their calls come back, plain and streamed', async () => {
  const output = [callItem('find', '{"city":"Rome"}'), callItem('count', '{}', 'call_2')];
  const tools = [
    { type: 'function', function: { name: 'find', description: 'Finds.', parameters: { type: 'object' } } },
    { type: 'function', function: { name: 'count', strict: true } },
  ];
  const fields = { tools, tool_choice: { type: 'function', function: { name: 'find' } }, parallel_tool_calls: false };
  const { reply } = await call(responding(output), fields);
  const [choice] = reply.body['choices'] as readonly { message: Record<string, unknown>; finish_reason: string }[];
  const calls = [
    { id: 'call_1', type: 'function', function: { name: 'find', arguments: '{"city":"Rome"}' } },
    { id: 'call_2', type: 'function', function: { name: 'count', arguments: '{}' } },
  ];
  assert.deepEqual([choice?.finish_reason, choice?.message['tool_calls']], ['tool_calls', calls]);
  assert.deepEqual(sent()['tools'], [
    { type: 'function', name: 'find', description: 'Finds.', parameters: { type: 'object' }, strict: false },
    { type: 'function', name: 'count', parameters: { type: 'object', properties: {} }, strict: true },
  ]);
  assert.deepEqual([sent()['tool_choice'], sent()['parallel_tool_calls']], [{ type: 'function', name: 'find' }, false]);

  const streamed = joined((await call(streaming(output), { ...fields, ...WITH_USAGE })).reply);
  assert.deepEqual(streamed.calls, [
    { id: 'call_1', name: 'find', arguments: '{"city":"Rome"}' },
    { id: 'call_2', name: 'count', arguments: '{}' },
  ]);
  assert.deepEqual(streamed.reasons, ['tool_calls']);
});

// The vendor wants its reasoning back in the next turn, unchanged and before what followed from it.
for (const stream of [false, true]) {
  test(`WI-03 sealed reasoning goes back over a second turn, stream ${stream}`, async () => {
    const output = [reasoningItem(['It is in', 'Italy.'], 'sealed-1'), callItem('find', '{"city":"Rome"}')];
    const tools = [{ type: 'function', function: { name: 'find' } }];
    const first = { model: 'acme.sealing-1', tools, stream, reasoning_effort: 'high' };
    const { reply } = await call(stream ? streaming(output) : responding(output), first);
    assert.deepEqual([sent()['include'], sent()['reasoning']], [['reasoning.encrypted_content'], { effort: 'high' }]);
    const message = stream
      ? joined(reply)
      : ((reply.body['choices'] as { message: Record<string, unknown> }[])[0]?.message ?? {});
    assert.equal(message['reasoning_content' as never], 'It is in\n\nItaly.');
    const details = message[(stream ? 'details' : 'reasoning_details') as never] as unknown;
    const answer = {
      role: 'assistant',
      content: null,
      reasoning_details: details,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'find', arguments: '{"city":"Rome"}' } }],
    };
    const messages = [...QUESTION, answer, { role: 'tool', tool_call_id: 'call_1', content: '41.9 N' }];
    await call(responding([messageItem('41.9 N')]), { model: 'acme.sealing-1', tools, messages });
    assert.deepEqual((sent()['input'] as unknown[]).slice(1), [
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'It is in\n\nItaly.' }],
        encrypted_content: 'sealed-1',
      },
      { type: 'function_call', call_id: 'call_1', name: 'find', arguments: '{"city":"Rome"}' },
      { type: 'function_call_output', call_id: 'call_1', output: '41.9 N' },
    ]);
    assert.deepEqual(sent()['include'], ['reasoning.encrypted_content']);
  });
}

test('WI-03 roles, images, refusals and formats reach Responses in its words', async () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'developer', content: [{ type: 'text', text: 'Say where.' }] },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'This?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' } },
      ],
    },
    { role: 'assistant', content: null, refusal: 'No.' },
    { role: 'user', content: 'Please.' },
  ];
  const json_schema = { name: 'place', schema: { type: 'object' }, strict: true };
  const format = { type: 'json_schema', json_schema };
  const { reply } = await call(responding([messageItem('{}')]), {
    messages,
    response_format: format,
    verbosity: 'low',
  });
  assert.equal(reply.status, 200, reply.text);
  assert.deepEqual(sent()['input'], [
    { type: 'message', role: 'system', content: 'Be brief.' },
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Say where.' }] },
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'This?' },
        { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' },
      ],
    },
    { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
    { type: 'message', role: 'user', content: 'Please.' },
  ]);
  assert.deepEqual(sent()['text'], {
    format: { type: 'json_schema', name: 'place', schema: { type: 'object' }, strict: true },
    verbosity: 'low',
  });
});

// The same prompt and usage cost the same by either interface.
test('WI-01 a call costs the same by each interface of its upstream', async () => {
  const usage = { prompt_tokens: 20, completion_tokens: 11, prompt_tokens_details: { cached_tokens: 8 } };
  const chat = { body: completionBody({ model: 'm', content: 'In Rome.', usage }) };
  const bills = [
    (await call(chat, { model: 'acme.chat-1' })).bill,
    (await call(responding([messageItem('In Rome.')]))).bill,
  ];
  assert.deepEqual(
    bills.map(({ charged, held }) => [charged, held]),
    [
      [CHARGE, bills[0]?.held],
      [CHARGE, bills[0]?.held],
    ],
  );
});

const onlyChat: NextScript = ({ path }) =>
  path.endsWith('/responses')
    ? { status: 503, body: '{}' }
    : {
        body: completionBody({
          model: 'm',
          content: 'In Rome.',
          usage: { prompt_tokens: 20, completion_tokens: 11 },
        }),
      };

test('WI-03 a call fails over from Responses to chat completions and is charged once', async () => {
  const { reply, bill } = await call(onlyChat, { model: 'acme.both-1' });
  assert.deepEqual([reply.status, bill.charged], [200, 31]);
  assert.deepEqual(
    upstream.requests.slice(-2).map(({ path, body }) => [path, (body as { model: string }).model]),
    [
      ['/v1/responses', 'newest-upstream'],
      ['/v1/chat/completions', 'older-upstream'],
    ],
  );
});

test('MO-09 what Responses has no word for is refused, or sent elsewhere', async () => {
  const user = await newUser(BALANCE);
  const refused = {
    n: 2,
    stop: ['x'],
    seed: 1,
    presence_penalty: 1,
    frequency_penalty: 1,
    logit_bias: { 1: 1 },
    logprobs: true,
  };
  for (const [name, value] of Object.entries(refused)) {
    const reply = await callAs(user, { model: 'acme.new-1', [name]: value });
    assert.deepEqual([reply.status, reply.error['code'], reply.error['param']], [400, 'BAD_REQUEST', name]);
  }
  const named = await callAs(user, { model: 'acme.new-1', messages: [{ role: 'user', name: 'Ann', content: 'Hi' }] });
  assert.equal(named.error['param'], 'messages[0].name');
  const short = await callAs(user, { model: 'acme.new-1', max_tokens: 15 });
  assert.equal(short.error['param'], 'max_tokens');
  const { reply } = await call(
    { body: completionBody({ model: 'm', content: 'a', usage: { prompt_tokens: 1, completion_tokens: 1 } }) },
    {
      model: 'acme.both-1',
      stop: ['x'],
    },
  );
  assert.deepEqual([reply.status, upstream.requests.at(-1)?.path], [200, '/v1/chat/completions']);
});
