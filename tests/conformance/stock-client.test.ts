import assert from 'node:assert/strict';
import { test } from 'node:test';
import type OpenAI from 'openai';
import { APIError, InternalServerError, RateLimitError } from 'openai';
import { chargeFor } from '../support/catalogue.ts';
import { SIMULATED, setSimulatedStage } from '../support/simulated-service.ts';

/** An unmodified client library and answered calls. The matrix has the scenarios for all clients. */

const simulated = await setSimulatedStage();
const client = simulated.clientOf(simulated.app.liveKey, 'anna');

const messages = [{ role: 'user' as const, content: 'How much is the fish?' }];

function costOf(usage: OpenAI.CompletionUsage | null | undefined): number {
  assert.ok(usage);
  const cached = usage.prompt_tokens_details?.cached_tokens ?? 0;
  return chargeFor({ prompt: usage.prompt_tokens, cached, completion: usage.completion_tokens });
}

for (const model of ['echo', 'sim.echo-1', 'cached']) {
  test(`CC-01 a buffered completion of ${model} is charged by its reported usage`, async () => {
    let answered: { data: OpenAI.ChatCompletion; request_id: string | null } | undefined;
    const spent = await simulated.spentBy('anna', async () => {
      answered = await client.chat.completions.create({ model, messages }).withResponse();
    });
    assert.ok(answered);
    const { data: completion, request_id: requestId } = answered;
    assert.equal(completion.model, model.startsWith('sim.') ? model : `sim.${model}-1`);
    assert.equal(completion.object, 'chat.completion');
    assert.ok((completion.choices[0]?.message.content ?? '').length > 0);
    assert.equal(completion.choices[0]?.finish_reason, 'stop');
    assert.equal(spent, costOf(completion.usage));
    assert.match(requestId ?? '', /^[A-Za-z0-9._:-]{1,128}$/);
  });
}

test('CC-12 a stock client reads usage from the last chunk', async () => {
  const plain = await client.chat.completions.create({ model: 'echo', messages });
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  const spent = await simulated.spentBy('anna', async () => {
    const options = { include_usage: true };
    const stream = await client.chat.completions.create({
      model: 'echo',
      messages,
      stream: true,
      stream_options: options,
    });
    for await (const chunk of stream) chunks.push(chunk);
  });
  assert.ok(chunks.length > 3);
  assert.ok(chunks.every(({ model, object }) => model === 'sim.echo-1' && object === 'chat.completion.chunk'));
  const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
  assert.equal(text, plain.choices[0]?.message.content);
  assert.ok(chunks.slice(0, -1).every(({ usage }) => usage === null));
  assert.equal(spent, costOf(chunks.at(-1)?.usage));
});

test('CC-12 a stock client gets no usage without asking', async () => {
  const plain = await client.chat.completions.create({ model: 'echo', messages });
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  const spent = await simulated.spentBy('anna', async () => {
    const stream = await client.chat.completions.create({ model: 'echo', messages, stream: true });
    for await (const chunk of stream) chunks.push(chunk);
  });
  assert.ok(chunks.every((chunk) => !('usage' in chunk) && chunk.choices.length === 1));
  assert.equal(spent, costOf(plain.usage));
});

test('CC-13 a stock client’s stream helper assembles several choices', async () => {
  const whole = await client.chat.completions.stream({ model: 'echo', messages, n: 3 }).finalChatCompletion();
  assert.equal(whole.choices.length, 3);
  assert.ok(whole.choices.every(({ message }) => (message.content ?? '').length > 0));
});

test('CC-13 log probabilities reach a stock client', async () => {
  const completion = await client.chat.completions.create({ model: 'echo', messages, logprobs: true, top_logprobs: 2 });
  assert.equal(completion.choices[0]?.logprobs?.content?.[0]?.top_logprobs.length, 2);
});

test('MO-01 a stock client lists and retrieves models', async () => {
  const ids = (await client.models.list()).data.map(({ id }) => id);
  assert.deepEqual(ids, [...SIMULATED, ...SIMULATED.map((name) => `sim.${name}-1`)].toSorted());
  const model = await client.models.retrieve('echo');
  assert.deepEqual([model.id, model.object, model.created, model.owned_by], ['echo', 'model', 0, 'sim']);
});

test('SB-02 a test key gives a stock client the canned answer', async () => {
  const sandbox = simulated.clientOf(simulated.app.testKey, 'anna');
  const { data, response } = await sandbox.chat.completions.create({ model: 'echo', messages }).withResponse();
  assert.equal(response.headers.get('x-service-mode'), 'sandbox');
  const streamed = await sandbox.chat.completions.stream({ model: 'echo', messages }).finalChatCompletion();
  assert.equal(streamed.choices[0]?.message.content, data.choices[0]?.message.content);
});

test('SB-02 a stock client recognises each sandbox outcome', async () => {
  const sandbox = simulated.clientOf(simulated.app.testKey, 'anna', { maxRetries: 0 });
  const tools = [{ type: 'function' as const, function: { name: 'find' } }];
  const ask = (name: string) => sandbox.chat.completions.create({ model: `sandbox/${name}`, messages, tools });
  const read = async (name: string): Promise<OpenAI.ChatCompletion> =>
    sandbox.chat.completions.stream({ model: `sandbox/${name}`, messages, tools }).finalChatCompletion();

  await assert.rejects(ask('throttled'), { constructor: RateLimitError, code: 'UPSTREAM_THROTTLED' });
  await assert.rejects(ask('error'), { constructor: InternalServerError, code: 'UPSTREAM_PROVIDER_ERROR' });
  await assert.rejects(read('throttled-midway'), { constructor: APIError, code: 'UPSTREAM_THROTTLED' });
  for (const name of ['error-midway', 'unfinished']) {
    await assert.rejects(read(name), { constructor: APIError, code: 'UPSTREAM_PROVIDER_ERROR' }, name);
  }
  for (const get of [ask, read]) {
    const [called] = (await get('tool-call')).choices;
    const [call] = called?.message.tool_calls ?? [];
    assert.deepEqual(call?.type === 'function' && [call.function.name, call.function.arguments], [
      'find',
      '{"sandbox":true}',
    ]);
    assert.equal(called?.finish_reason, 'tool_calls');
    assert.match((await get('refusal')).choices[0]?.message.refusal ?? '', /cannot/);
    assert.equal((await get('content-filter')).choices[0]?.finish_reason, 'content_filter');
    assert.equal((await get('no-usage')).choices[0]?.finish_reason, 'stop');
  }
});
