import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { afterEach, beforeEach, test } from 'node:test';
import OpenAI from 'openai';
import {
  completionBody,
  frame,
  type ScriptedUpstream,
  startScriptedUpstream,
  streamSteps,
} from './scripted-upstream.ts';

let upstream: ScriptedUpstream;
beforeEach(async () => {
  upstream = await startScriptedUpstream();
});
afterEach(() => upstream.close());

function post(body: string, signal: AbortSignal | null = null): Promise<Response> {
  return fetch(`${upstream.baseUrl}/chat/completions?a=1`, {
    method: 'POST',
    body,
    signal,
    headers: { 'x-mark': 'yes' },
  });
}

test('a request is recorded as it came', async () => {
  upstream.script({ status: 418, headers: { 'x-one': '1', 'x-two': ['a', 'b'] }, body: Buffer.from([0, 255]) });
  const response = await post('{"a": 1}');
  assert.equal(response.status, 418);
  assert.equal(response.headers.get('x-one'), '1');
  assert.equal(response.headers.get('x-two'), 'a, b');
  assert.equal(response.headers.get('content-type'), null);
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), Buffer.from([0, 255]));

  const [request] = upstream.requests;
  await request?.closed;
  assert.equal(request?.method, 'POST');
  assert.equal(request.path, '/v1/chat/completions?a=1');
  assert.equal(request.headers['x-mark'], 'yes');
  assert.equal(request.rawBody.toString(), '{"a": 1}');
  assert.deepEqual(request.body, { a: 1 });
  assert.equal(request.aborted, false);
});

test('a script can decide by request and index', async () => {
  upstream.script((request, index) => ({ body: `${index} ${String(request.body)}` }));
  assert.equal(await (await post('7')).text(), '0 7');
  assert.equal(await (await post('not JSON')).text(), '1 undefined');
});

test('any usage, or none, is sent verbatim', async () => {
  const usages = [{}, null, { prompt_tokens: 0 }, { total_tokens: -1, prompt_tokens: 9e15 }, 'free'];
  for (const usage of usages) {
    const { usage: sent } = JSON.parse(completionBody({ model: 'm', content: 'Hi.', usage }));
    assert.deepEqual(sent, usage);
    const steps = streamSteps({ model: 'm', pieces: [], usage, includeUsageChunk: true });
    assert.ok(steps.at(-2)?.write.endsWith(`"choices":[],"usage":${JSON.stringify(usage)}}\n\n`));
  }
  assert.ok(!completionBody({ model: 'm', content: 'Hi.' }).includes('usage'));
  const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown };
  assert.ok(completionBody({ model: 'm', content: '', usage: { prompt_tokens: rawJSON('1e999') } }).includes('1e999'));
});

test('the stock client understands the builders', async () => {
  const client = new OpenAI({ baseURL: upstream.baseUrl, apiKey: 'anything', maxRetries: 0 });
  const question = { model: 'm', messages: [{ role: 'user' as const, content: 'Hello?' }] };
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 4 };
  upstream.script({ body: completionBody({ model: 'm', content: 'Hello.', usage }) });
  const completion = await client.chat.completions.create(question);
  assert.equal(completion.choices[0]?.message.content, 'Hello.');
  assert.deepEqual(completion.usage, usage);

  upstream.script({ body: streamSteps({ model: 'm', pieces: ['Hel', 'lo.'], usage, includeUsageChunk: true }) });
  const streamed = await client.chat.completions.stream(question).finalChatCompletion();
  assert.equal(streamed.choices[0]?.message.content, 'Hello.');
  assert.deepEqual(streamed.usage, usage);
});

test('steps are sent one by one, when the test allows it', async () => {
  const gate = Promise.withResolvers<void>();
  upstream.script({ body: [{ write: 'one' }, { waitFor: gate.promise }, { waitMs: 1 }, { write: 'two' }] });
  const reader = (await post('')).body!.getReader();
  assert.equal(Buffer.from((await reader.read()).value).toString(), 'one');
  gate.reject(new Error('Settled either way.'));
  assert.equal(Buffer.from((await reader.read()).value).toString(), 'two');
  assert.equal((await reader.read()).done, true);
});

test('a reset comes after the written bytes', async () => {
  upstream.script({ body: [{ write: frame('one') }, { destroy: true }] });
  for (let round = 0; round < 20; round += 1) {
    const reader = (await post('')).body!.getReader();
    assert.equal(Buffer.from((await reader.read()).value).toString(), 'data: one\n\n');
    await assert.rejects(reader.read());
  }
  upstream.script({ body: [{ destroy: true }] });
  await assert.rejects(post(''));
  const last = upstream.requests.at(-1);
  await last?.closed;
  assert.equal(last?.aborted, false);
});

test('the record says when the other side leaves', async () => {
  upstream.script({ body: [{ write: '' }, { hang: true }] });
  const gone = new AbortController();
  const response = await post('', gone.signal);
  gone.abort();
  await assert.rejects(response.text());
  const request = await upstream.arrival(0);
  await request.closed;
  assert.equal(request.aborted, true);
});

test('a body that stops halfway is recorded too', async () => {
  const half = httpRequest(upstream.baseUrl, { method: 'POST', headers: { 'content-length': 10 } }).on(
    'error',
    () => {},
  );
  await new Promise((resolve) => half.write('half', resolve));
  half.destroy();
  const request = await upstream.arrival(0);
  await request.closed;
  assert.equal(request.rawBody.toString(), 'half');
  assert.equal(request.aborted, true);
});

test('a script’s error is thrown again at the end', async () => {
  const own = await startScriptedUpstream();
  own.script(() => {
    throw new Error('A mistake in the test.');
  });
  await assert.rejects(fetch(own.baseUrl));
  await assert.rejects(own.close(), /A mistake in the test/);
});

test('closing breaks off hanging requests', async () => {
  const own = await startScriptedUpstream();
  own.script({ body: [{ waitFor: new Promise(() => {}) }] });
  const answer = assert.rejects(fetch(own.baseUrl));
  await own.arrival(0);
  await own.close();
  await answer;
});
