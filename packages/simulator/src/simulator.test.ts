import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import OpenAI from 'openai';
import { createSimulator, listenOnLoopback } from './simulator.ts';

const server = createSimulator();
const port = await listenOnLoopback(server, 0);
const baseURL = `http://127.0.0.1:${port}/v1`;
const client = new OpenAI({ baseURL, apiKey: 'anything', maxRetries: 0 });
const question = [{ role: 'user' as const, content: 'What is a purser?' }];

after(() => {
  server.close();
  server.closeAllConnections();
});

function post(
  body: unknown,
  headers: Record<string, string> = { authorization: 'Bearer anything' },
): Promise<Response> {
  return fetch(`${baseURL}/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function streamedChunks(body: object): Promise<readonly Record<string, unknown>[]> {
  const response = await post({ model: 'sim-echo', messages: question, stream: true, ...body });
  assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
  const frames = (await response.text()).split('\n\n');
  assert.equal(frames.pop(), '');
  assert.equal(frames.pop(), 'data: [DONE]');
  return frames.map((frame) => JSON.parse(frame.replace(/^data: /, '')) as Record<string, unknown>);
}

function textsOf({ choices }: OpenAI.ChatCompletion): readonly (string | null)[] {
  return choices.map((choice) => choice.message.content);
}

test('OP-01 a completion has exactly the format’s fields', async () => {
  const body = await (await post({ model: 'sim-echo', messages: question })).json();
  const { id, created, choices, usage, ...rest } = body as Record<string, unknown>;
  assert.match(String(id), /^chatcmpl-/);
  assert.ok(Math.abs(Number(created) - Date.now() / 1000) < 10);
  assert.deepEqual(rest, { object: 'chat.completion', model: 'sim-echo', system_fingerprint: 'fp_simulator' });

  const [{ message, ...choice }] = choices as [{ message: { content: string } }];
  assert.deepEqual(choice, { index: 0, logprobs: null, finish_reason: 'stop' });
  assert.deepEqual({ ...message, content: '' }, { role: 'assistant', content: '', refusal: null });
  assert.match(message.content, /built-in simulator.*“What is a purser\?”/);

  const completionTokens = Math.ceil(message.content.length / 4);
  assert.deepEqual(usage, {
    prompt_tokens: 9, // 4 for the message, plus 17 characters.
    completion_tokens: completionTokens,
    total_tokens: 9 + completionTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  });
});

test('OP-01 a stream is role, words, finish reason and end', async () => {
  const chunks = await streamedChunks({});
  const choices = chunks.map((chunk) => (chunk['choices'] as Record<string, unknown>[])[0]);
  assert.deepEqual(choices[0], {
    index: 0,
    delta: { role: 'assistant', content: '', refusal: null },
    logprobs: null,
    finish_reason: null,
  });
  assert.deepEqual(choices.at(-1), { index: 0, delta: {}, logprobs: null, finish_reason: 'stop' });
  assert.deepEqual(choices[1], { index: 0, delta: { content: 'Hello' }, logprobs: null, finish_reason: null });
  assert.equal(new Set(chunks.map(({ id, created, object }) => JSON.stringify([id, created, object]))).size, 1);
  assert.equal(chunks[0]?.['object'], 'chat.completion.chunk');
  assert.ok(chunks.every((chunk) => !('usage' in chunk)));
});

test('OP-01 the usage chunk comes on request and has no choices', async () => {
  const chunks = await streamedChunks({ stream_options: { include_usage: true } });
  const last = chunks.at(-1);
  const plain = await client.chat.completions.create({ model: 'sim-echo', messages: question });
  assert.deepEqual(last?.['choices'], []);
  assert.deepEqual(last?.['usage'], plain.usage);
  assert.ok(chunks.slice(0, -1).every((chunk) => chunk['usage'] === null));
});

test('OP-01 the stock client reads the same text, streamed or not', async () => {
  const request = { model: 'sim-echo', messages: question, n: 3 };
  const plain = await client.chat.completions.create(request);
  const streamed = await client.chat.completions.stream(request).finalChatCompletion();
  assert.deepEqual(textsOf(streamed), textsOf(plain));
  assert.equal(new Set(textsOf(plain)).size, 3);
});

test('OP-01 models are listed, and retrieved singly', async () => {
  const listed: OpenAI.Model[] = [];
  for await (const model of client.models.list()) listed.push(model);
  assert.equal(listed[0]?.id, 'sim-echo');
  assert.deepEqual(await client.models.retrieve('sim-echo'), listed[0]);
  await assert.rejects(client.models.retrieve('constructor'), { status: 404, code: 'model_not_found' });
});

test('OP-01 a call without a key is a 401', async () => {
  for (const authorization of ['', 'Bearer ', 'Basic abc']) {
    const response = await post({ model: 'sim-echo', messages: question }, { authorization });
    assert.equal(response.status, 401, authorization);
  }
});

test('OP-01 an unknown model, address or method has its own refusal', async () => {
  await assert.rejects(client.chat.completions.create({ model: '__proto__', messages: question }), { status: 404 });
  const headers = { authorization: 'Bearer anything' };
  assert.equal((await fetch(`${baseURL}/images`, { headers })).status, 404);
  const wrongMethod = await fetch(`${baseURL}/chat/completions`, { headers });
  assert.equal(wrongMethod.status, 405);
  assert.equal(wrongMethod.headers.get('allow'), 'POST');
});

test('OP-01 a body over 2 MB is a 413 that keeps the connection', async () => {
  const socket = connect(port, '127.0.0.1');
  const bodyBytes = 8 * 1024 * 1024;
  const key = 'host: x\r\nauthorization: Bearer a\r\n';
  socket.write(`POST /v1/chat/completions HTTP/1.1\r\n${key}content-length: ${bodyBytes}\r\n\r\n`);
  socket.write(Buffer.alloc(bodyBytes, 'a'));
  socket.write(`GET /v1/models HTTP/1.1\r\n${key}connection: close\r\n\r\n`);
  const statuses = (await text(socket)).match(/HTTP\/1\.1 \d+/g);
  assert.deepEqual(statuses, ['HTTP/1.1 413', 'HTTP/1.1 200']);
});

test('OP-01 a client that leaves at any moment does no harm', async () => {
  const body = JSON.stringify({ model: 'sim-slow', messages: question, stream: true });
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer a\r\ncontent-length: ${body.length}\r\n\r\n`;
  const whole = head + body;
  for (let length = 0; length <= whole.length; length += 7) {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    await new Promise((resolve) => socket.write(whole.slice(0, length), resolve));
    socket.resetAndDestroy();
  }
  for (const noise of [
    '\0\0\0',
    'GET',
    'CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n',
    'POST // HTTP/1.1\r\nhost: x\r\n\r\n',
  ]) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.end(noise);
    await once(socket.resume(), 'close');
  }
  assert.equal((await client.chat.completions.create({ model: 'sim-echo', messages: question })).choices.length, 1);
});

test('OP-01 nothing of an answer keeps running after its client leaves', async () => {
  const fresh = createSimulator();
  const freshPort = await listenOnLoopback(fresh, 0);
  for (const model of ['sim-slow', 'sim-hangs']) {
    const gone = new AbortController();
    const arrived = once(fresh, 'request');
    const answer = fetch(`http://127.0.0.1:${freshPort}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer a' },
      body: JSON.stringify({ model, messages: question }),
      signal: gone.signal,
    });
    const [, response] = await arrived;
    await once(response.req, 'end');
    gone.abort();
    await assert.rejects(answer);
    await once(response, 'close');
  }
  fresh.close();
  await once(fresh, 'close');
  const timers = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout');
  assert.deepEqual(timers, []);
});
