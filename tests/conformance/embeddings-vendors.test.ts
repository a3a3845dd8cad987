// Vectors of vendors with a format of their own: what each is sent, what comes back, what a call costs, and what is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Reply, send } from '../support/client.ts';
import { billNamed } from '../support/receipts.ts';
import { assertRefusal } from '../support/refusal.ts';
import { setStage } from '../support/stage.ts';
import { waitUntil } from '../support/wait-until.ts';
import { KEYS, providersAt, vectorsOf } from './providers/vendors/vectors.ts';

const BALANCE = 10_000_000;
const MODELS = {
  google: ['google', 'gemini-embedding-001'],
  vertex: ['vertex', 'text-embedding-005'],
  'vertex-one': ['vertex', 'gemini-embedding-001'],
  'vertex-newer': ['vertex', 'gemini-embedding-2'],
  titan: ['bedrock', 'amazon.titan-embed-text-v2:0'],
  'titan-older': ['bedrock', 'amazon.titan-embed-text-v1'],
  cohere: ['bedrock', 'cohere.embed-v4:0'],
  'cohere-older': ['bedrock', 'cohere.embed-english-v3'],
  mistral: ['mistral', 'codestral-embed'],
} as const;
type Name = keyof typeof MODELS;
const NAMES = Object.keys(MODELS) as readonly Name[];

const stage = await setStage({
  checksBooks: true,
  environment: KEYS,
  catalogue: (catalogue) => {
    const { origin } = new URL(catalogue.providers.upstream.baseUrl);
    const common = {
      resale: 'open',
      apis: ['embeddings'],
      price: { inputMicrosPerMillion: 1_500_000, outputMicrosPerMillion: 0 },
      contextTokens: 8_192,
      maxOutputTokens: 1,
      dimensionsMax: 1_024,
      timeoutMs: 30_000,
    };
    const models = NAMES.map((name) => {
      const [provider, providerModel] = MODELS[name];
      return { ...common, id: `acme.${name}`, provider, providerModel };
    });
    const [google, titan] = [
      { provider: 'google', providerModel: 'gemini-embedding-001' },
      { provider: 'upstream', providerModel: 'vectors-upstream' },
    ];
    const either = { ...common, id: 'acme.either', upstreams: [google, titan] };
    return {
      ...catalogue,
      providers: { ...catalogue.providers, ...providersAt(origin) },
      models: [...catalogue.models, ...models, either],
    };
  },
});
const { upstream, service, app, newUser } = stage;

/** What tokens of input cost: 1.5 micros each, rounded up. */
const costOf = (tokens: number): number => Math.ceil(tokens * 1.5);

function embed(user: string, name: Name | 'either', fields: Readonly<Record<string, unknown>>): Promise<Reply> {
  const body = { model: `acme.${name}`, ...fields };
  const headers = { 'x-correlation-id': user };
  return send('/v1/embeddings', { url: service.url, key: app.liveKey, user, body, headers });
}

/** A call of a fresh user, with its bill and the requests that it made. */
async function billed(name: Name, fields: Readonly<Record<string, unknown>>, manner = {}) {
  const user = await newUser(BALANCE);
  const before = upstream.requests.length;
  upstream.script((request) => vectorsOf(request, manner));
  const reply = await embed(user, name, fields);
  const bill = await waitUntil('it is settled', () => billNamed(service.database, user));
  assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - bill.charged, held: 0, openStreams: 0 });
  return { reply, bill, sent: upstream.requests.slice(before) };
}

function vectorsIn(reply: Reply): readonly unknown[] {
  assert.equal(reply.status, 200, reply.text);
  const data = reply.body['data'] as readonly { readonly embedding: unknown; readonly index: number }[];
  assert.deepEqual(
    data.map(({ index }) => index),
    [...data.keys()],
  );
  return data.map(({ embedding }) => embedding);
}

for (const name of NAMES) {
  test(`WI-11 MO-09 vectors of ${name} cost the tokens that it counted`, async () => {
    const { reply, bill, sent } = await billed(name, { input: ['four', 'score!'] });
    assert.deepEqual(vectorsIn(reply), [
      [4, -0.5, -0.5],
      [6, -0.5, -0.5],
    ]);
    assert.deepEqual([bill.charged, bill.tokens.prompt, bill.isEstimated, bill.isClamped], [15, 10, false, false]);
    assert.deepEqual(reply.body['usage'], { prompt_tokens: 10, total_tokens: 10 });
    const isOneByOne = name.startsWith('titan') || name === 'vertex-one' || name === 'vertex-newer';
    assert.equal(sent.length, isOneByOne ? 2 : 1);
  });
}

for (const name of ['google', 'vertex', 'vertex-newer', 'titan', 'cohere', 'mistral'] as const) {
  test(`WI-11 ${name} makes vectors of the size and encoding that were asked for`, async () => {
    const { reply } = await billed(name, { input: 'seven', dimensions: 256, encoding_format: 'base64' });
    const [packed] = vectorsIn(reply);
    const bytes = Buffer.from(String(packed), 'base64');
    assert.deepEqual([bytes.length, bytes.readFloatLE(0), bytes.readFloatLE(4)], [1_024, 5, -0.5]);
  });
}

for (const name of ['google', 'vertex-newer', 'cohere'] as const) {
  test(`WI-11 vectors of ${name} without a count cost our estimate`, async () => {
    const { bill } = await billed(name, { input: ['four score', 'and seven'] }, { isSilent: true });
    const estimate = Math.ceil(('roleusercontent'.length + 19) / 4);
    assert.deepEqual([bill.charged, bill.isEstimated], [costOf(estimate), true]);
  });
}

test('WI-11 a batch is sent in the requests that its vendor takes', async () => {
  const texts = Array.from({ length: 250 }, (_, place) => 'x'.repeat(1 + (place % 7)));
  const lengths = texts.map(({ length }) => length);
  const tokens = lengths.reduce((sum, length) => sum + length, 0);
  for (const [name, requests] of [
    ['google', 3],
    ['vertex', 1],
    ['cohere', 3],
  ] as const) {
    const { reply, bill, sent } = await billed(name, { input: texts });
    assert.deepEqual(
      vectorsIn(reply).map((vector) => (vector as number[])[0]),
      lengths,
    );
    assert.deepEqual([sent.length, bill.charged], [requests, costOf(tokens)], name);
  }
});

test('WI-11 CC-09 a batch of which one request fails costs nothing', async () => {
  const texts = Array.from({ length: 40 }, (_, place) => `text ${place}`);
  const user = await newUser(BALANCE);
  const before = upstream.requests.length;
  const over = Promise.withResolvers<void>();
  upstream.script((request) => {
    const script = vectorsOf(request, { fails: 'text 2' });
    if (script.status === undefined)
      return { ...script, body: [{ waitFor: over.promise }, { write: script.body as string }] };
    void request.closed.then(over.resolve);
    return script;
  });
  const reply = await embed(user, 'titan', { input: texts });
  assertRefusal(reply, { code: 'UPSTREAM_PROVIDER_ERROR', param: null });
  const { outcome, charged } = await waitUntil('it is settled', () => billNamed(service.database, user));
  assert.deepEqual([outcome, charged], ['failed', 0]);
  assert.deepEqual(await service.wallet(app, user), { balance: BALANCE, held: 0, openStreams: 0 });
  // Four are under way at once, and those that ended before the failure was known may have begun one more each.
  assert.ok(upstream.requests.length - before <= 7);
});

for (const [what, name, fields, param, says] of [
  ['tokens', 'google', { input: [1, 2] }, 'input', /Send texts/],
  ['lists of tokens', 'titan', { input: [[1], [2]] }, 'input', /Send texts/],
  ['tokens', 'vertex', { input: [1] }, 'input', /Send texts/],
  ['tokens', 'mistral', { input: [1] }, 'input', /Send texts/],
  ['too large a batch', 'titan', { input: Array.from({ length: 129 }, () => 'a') }, 'input', /at most 128 texts/],
  ['a size', 'titan-older', { input: 'a', dimensions: 256 }, 'dimensions', /one size/],
  ['a size', 'cohere-older', { input: 'a', dimensions: 256 }, 'dimensions', /one size/],
  ['an unknown size', 'titan', { input: 'a', dimensions: 300 }, 'dimensions', /256, 512, 1024/],
] as const) {
  test(`WI-11 MO-09 ${name} refuses ${what} by name, before a hold`, async () => {
    const user = await newUser(BALANCE);
    const before = upstream.requests.length;
    const reply = await embed(user, name, fields);
    assertRefusal(reply, { code: 'BAD_REQUEST', param });
    assert.match(String(reply.error['message']), says);
    assert.equal(upstream.requests.length, before);
    assert.deepEqual(await service.wallet(app, user), { balance: BALANCE, held: 0, openStreams: 0 });
  });
}

test('WI-11 MO-09 tokens go to the upstream that takes them', async () => {
  const user = await newUser(BALANCE);
  const data = [{ object: 'embedding', index: 0, embedding: [1] }];
  upstream.script({ body: JSON.stringify({ object: 'list', data, usage: { prompt_tokens: 2, total_tokens: 2 } }) });
  const reply = await embed(user, 'either', { input: [7, 8] });
  assert.deepEqual([vectorsIn(reply), upstream.requests.at(-1)?.path], [[[1]], '/v1/embeddings']);
});
