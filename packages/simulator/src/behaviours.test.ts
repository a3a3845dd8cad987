import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import OpenAI from 'openai';
import { BEHAVIOURS } from './behaviours.ts';
import { EMBEDDER } from './embeddings.ts';
import { createSimulator, listenOnLoopback } from './simulator.ts';

const server = createSimulator();
const baseURL = `http://127.0.0.1:${await listenOnLoopback(server, 0)}/v1`;
const client = new OpenAI({ baseURL, apiKey: 'anything', maxRetries: 0, logLevel: 'off' });
const messages = [{ role: 'user' as const, content: 'Are you there?' }];

after(() => {
  server.close();
  server.closeAllConnections();
});

function post(body: object, signal: AbortSignal | null = null): Promise<Response> {
  const headers = { authorization: 'Bearer anything' };
  return fetch(`${baseURL}/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ messages, ...body }),
    signal,
  });
}

/** The part of a body that arrived before it ended or broke. */
async function readAll(response: Response): Promise<{ readonly text: string; readonly isBroken: boolean }> {
  let text = '';
  try {
    for await (const bytes of response.body!.pipeThrough(new TextDecoderStream())) text += bytes;
    return { text, isBroken: false };
  } catch {
    return { text, isBroken: true };
  }
}

test('OP-18 the README describes every behaviour verbatim', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  for (const [model, { about }] of [...Object.entries(BEHAVIOURS), [EMBEDDER.model, EMBEDDER] as const])
    assert.ok(readme.includes(`| \`${model}\` | ${about} |`), model);
});

test('OP-01 sim-slow pauses between words', async () => {
  const startMs = performance.now();
  const gone = new AbortController();
  const response = await post({ model: 'sim-slow', stream: true }, gone.signal);
  let frames = 0;
  for await (const bytes of response.body!.pipeThrough(new TextDecoderStream())) {
    frames += bytes.split('\n\n').length - 1;
    if (frames >= 4) break;
  }
  gone.abort();
  assert.ok(performance.now() - startMs >= 290); // Three pauses of 100 ms; timers may fire a little early.
});

test('OP-01 sim-slow delays a buffered answer for as long', async () => {
  const startMs = performance.now();
  const { choices } = await client.chat.completions.create({ model: 'sim-slow', messages, max_tokens: 3 });
  assert.equal(choices[0]?.message.content, 'Hello from t');
  assert.ok(performance.now() - startMs >= 290);
});

test('OP-01 sim-cached reports cached and reasoning tokens consistently', async () => {
  const { usage } = await client.chat.completions.create({ model: 'sim-cached', messages, n: 2 });
  assert.equal(usage?.prompt_tokens_details?.cached_tokens, Math.floor(usage!.prompt_tokens / 2));
  assert.equal(usage?.completion_tokens_details?.reasoning_tokens, 64);
  assert.ok(usage.completion_tokens > 64);
  assert.equal(usage?.total_tokens, usage.prompt_tokens + usage.completion_tokens);
});

test('OP-01 sim-no-usage never reports usage', async () => {
  const plain = await client.chat.completions.create({ model: 'sim-no-usage', messages });
  assert.ok(!('usage' in plain));
  const response = await post({ model: 'sim-no-usage', stream: true, stream_options: { include_usage: true } });
  const { text } = await readAll(response);
  assert.ok(text.endsWith('data: [DONE]\n\n'));
  assert.ok(!text.includes('"usage"'));
});

test('OP-01 sim-truncated ends cleanly without a finish reason', async () => {
  const response = await post({ model: 'sim-truncated', stream: true, stream_options: { include_usage: true } });
  const { text, isBroken } = await readAll(response);
  assert.equal(isBroken, false);
  assert.match(text, /"content":"Hello"/);
  assert.ok(!text.includes('[DONE]') && !text.includes('"finish_reason":"') && !text.includes('"prompt_tokens"'));
  const plain = await client.chat.completions.create({ model: 'sim-truncated', messages });
  assert.equal(plain.choices[0]?.finish_reason, null);
});

test('OP-01 sim-cut breaks the connection halfway through its answer', async () => {
  const stream = await readAll(await post({ model: 'sim-cut', stream: true }));
  assert.equal(stream.isBroken, true);
  assert.match(stream.text, /"content":"Hello".*\n\n$/s);
  assert.ok(!stream.text.includes('[DONE]'));
  const plain = await readAll(await post({ model: 'sim-cut' }));
  assert.equal(plain.isBroken, true);
  assert.match(plain.text, /^\{"id":"chatcmpl-/);
  assert.throws(() => JSON.parse(plain.text));
});

test('OP-01 sim-hangs accepts a request and never answers', async () => {
  const gone = new AbortController();
  const arrived = once(server, 'request');
  const asked = post({ model: 'sim-hangs' }, gone.signal);
  await arrived;
  // A later request is answered meanwhile.
  const answer = post({ model: 'sim-error' }).then(({ status }) => status);
  assert.equal(await Promise.race([asked, answer]), 500);
  gone.abort();
  await assert.rejects(asked, { name: 'AbortError' });
});

test('OP-01 sim-garbage answers 200 with an unreadable body', async () => {
  for (const stream of [false, true]) {
    const response = await post({ model: 'sim-garbage', stream });
    assert.equal(response.status, 200);
    const bytes = Buffer.from(await response.arrayBuffer());
    assert.throws(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    assert.throws(() => JSON.parse(bytes.toString()));
  }
  await assert.rejects(async () => {
    const stream = await client.chat.completions.create({ model: 'sim-garbage', messages, stream: true });
    for await (const _ of stream);
  }, SyntaxError);
});

test('OP-01 sim-throttled, sim-error and sim-rejects refuse in the format’s shape', async () => {
  const throttled = await post({ model: 'sim-throttled' });
  assert.equal(throttled.status, 429);
  assert.equal(throttled.headers.get('retry-after'), '2');
  for (const [model, status] of [
    ['sim-throttled', 429],
    ['sim-error', 500],
    ['sim-rejects', 400],
  ] as const) {
    const response = await post({ model, stream: true });
    assert.equal(response.status, status);
    const { error } = (await response.json()) as { error: object };
    assert.deepEqual(Object.keys(error), ['message', 'type', 'param', 'code']);
    await assert.rejects(client.chat.completions.create({ model, messages }), { status });
  }
});
