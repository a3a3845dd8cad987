// Vectors of texts over real HTTP: what the provider gets, what a call holds and costs, and what a client of the format reads.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import { type Reply, send } from '../support/client.ts';
import { billNamed } from '../support/receipts.ts';
import { assertRefusal } from '../support/refusal.ts';
import { readSandboxWallet } from '../support/sandbox-wallet.ts';
import type { UpstreamScript } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ask, WIRES } from '../support/wires.ts';

const BALANCE = 10_000_000;
const CONTEXT = 8_192;
/** What a provider may add to a prompt, by the default of an entry. */
const OVERHEAD = 512;

const stage = await setStage({
  checksBooks: true,
  catalogue: (catalogue) => {
    const model = {
      ...catalogue.models[0],
      apis: ['embeddings'],
      price: { inputMicrosPerMillion: 1_500_000, outputMicrosPerMillion: 0 },
      marginBasisPoints: 1_000,
      contextTokens: CONTEXT,
      maxOutputTokens: 1,
      dimensionsMax: 3_072,
    };
    const models = [
      ...catalogue.models,
      { ...model, id: 'acme.vectors-1', providerModel: 'vectors-upstream' },
      { ...model, id: 'acme.dear-1', providerModel: 'dear-upstream', resale: 'reserved' },
    ];
    return { ...catalogue, models, aliases: { ...catalogue.aliases, vectors: 'acme.vectors-1' } };
  },
});
const { upstream, service, app, newUser } = stage;

type Fields = Readonly<Record<string, unknown>>;

/** What tokens of input cost: 1.5 micros each and a tenth on top, rounded up. */
const costOf = (tokens: number): number => Math.ceil((tokens * 165) / 100);
/** A list of vectors as a provider sends it. */
const vectors = (data: readonly unknown[], usage?: unknown): UpstreamScript => ({
  body: JSON.stringify({
    object: 'list',
    data: data.map((embedding, index) => ({ object: 'embedding', index, embedding, secret: 'SECRET' })),
    model: 'vectors-upstream',
    ...(usage === undefined ? {} : { usage }),
    secret: 'SECRET',
  }),
});
const used = (tokens: number) => ({ prompt_tokens: tokens, total_tokens: tokens });

function embed(user: string, fields: Fields, key = app.liveKey): Promise<Reply> {
  const body = { model: 'vectors', ...fields };
  return send('/v1/embeddings', { url: service.url, key, user, body, headers: { 'x-correlation-id': user } });
}

/** A call of a fresh user, with its bill. The wallet has the rest, and nothing is held. */
async function billed(script: UpstreamScript, fields: Fields) {
  const user = await newUser(BALANCE);
  upstream.script(script);
  const reply = await embed(user, fields);
  const bill = await waitUntil('it is settled', () => billNamed(service.database, user));
  assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - bill.charged, held: 0, openStreams: 0 });
  return { reply, bill, sent: upstream.requests.at(-1) };
}

async function refusedUntouched(fields: Fields, param: string | null, says: RegExp): Promise<void> {
  const user = await newUser(BALANCE);
  const before = upstream.requests.length;
  const reply = await embed(user, fields);
  assertRefusal(reply, { code: 'BAD_REQUEST', param });
  assert.match(String(reply.error['message']), says);
  assert.equal(upstream.requests.length, before);
  assert.deepEqual(await service.wallet(app, user), { balance: BALANCE, held: 0, openStreams: 0 });
}

test('WI-11 embeddings cost the input that was reported, and no more is held than its bytes', async () => {
  const { reply, bill, sent } = await billed(vectors([[0.5, -0.25]], used(7)), {
    input: 'The sea',
    dimensions: 2,
    user: 'canary',
  });
  assert.equal(reply.status, 200, reply.text);
  assert.deepEqual(reply.body, {
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [0.5, -0.25] }],
    model: 'acme.vectors-1',
    usage: used(7),
  });
  assert.equal(sent?.path, '/v1/embeddings');
  assert.deepEqual(sent.body, { model: 'vectors-upstream', input: 'The sea', dimensions: 2 });
  assert.equal(reply.headers.get('x-service-charge-micros'), String(costOf(7)));
  assert.equal(reply.headers.get('x-service-max-output-tokens'), null);
  const inner = JSON.stringify({ messages: [{ role: 'user', content: 'The sea' }] });
  const native = JSON.stringify({ input: 'The sea', dimensions: 2 });
  const { held, charged, tokens, isClamped, isEstimated } = bill;
  assert.equal(held, costOf(Math.max(inner.length, native.length) + OVERHEAD));
  assert.deepEqual([charged, tokens.prompt, tokens.completion], [costOf(7), 7, 0]);
  assert.deepEqual([isClamped, isEstimated], [false, false]);
});

test('WI-11 each text of a batch has a context of its own', async () => {
  const text = 'x'.repeat(2 * CONTEXT);
  const both = await billed(vectors([[1], [1]], used(2 * CONTEXT)), { input: [text, text] });
  assert.deepEqual([both.bill.held, both.bill.charged], [costOf(2 * CONTEXT), costOf(2 * CONTEXT)]);
  const one = await billed(vectors([[1]], used(CONTEXT)), { input: text });
  assert.deepEqual([one.bill.held, one.bill.charged], [costOf(CONTEXT), costOf(CONTEXT)]);
});

test('WI-11 tokens by their numbers are one input or several', async () => {
  const one = await billed(vectors([[1]], used(3)), { input: [11, 22, 33] });
  assert.deepEqual([one.reply.status, one.bill.charged], [200, costOf(3)]);
  const several = await billed(vectors([[1], [2]], used(3)), { input: [[11, 22], [33]] });
  assert.equal(several.reply.status, 200, several.reply.text);
  assert.partialDeepStrictEqual(several.sent?.body, { input: [[11, 22], [33]] });
});

test('WI-11 without a report, the input is charged by our estimate', async () => {
  const { reply, bill } = await billed(vectors([[1], [2]]), { input: ['four score', 'and seven'] });
  // Sixteen letters of names around the message and nineteen of the texts, four to a token.
  const estimate = Math.ceil(('roleusercontent'.length + 19) / 4);
  assert.deepEqual([bill.charged, bill.isEstimated, bill.isClamped], [costOf(estimate), true, false]);
  assert.deepEqual(reply.body['usage'], used(estimate));
  const total = await billed(vectors([[1]], { total_tokens: 5 }), { input: 'x' });
  assert.deepEqual([total.bill.charged, total.bill.isEstimated], [costOf(5), false]);
});

test('WI-11 the openai client reads vectors in the encoding that it asks for', async () => {
  const user = await newUser(BALANCE);
  const client = new OpenAI({
    baseURL: `${service.url}/v1`,
    apiKey: app.liveKey,
    defaultHeaders: { 'x-service-user': user },
  });
  const numbers = [0.5, -0.25, 3];
  const packed = Buffer.from(new Float32Array(numbers).buffer).toString('base64');
  for (const sent of [numbers, packed]) {
    for (const encoding of [undefined, 'float', 'base64'] as const) {
      upstream.script(vectors([sent], used(4)));
      const { data, usage, model } = await client.embeddings.create({
        model: 'vectors',
        input: ['Hello'],
        ...(encoding && { encoding_format: encoding }),
      });
      const [first] = data;
      assert.deepEqual(first?.embedding, encoding === 'base64' ? packed : numbers, `${encoding}`);
      assert.deepEqual([usage, model], [used(4), 'acme.vectors-1']);
    }
  }
  const { balance } = await service.wallet(app, user);
  assert.equal(balance, BALANCE - 6 * costOf(4));
});

test('WI-11 WA-07 a wallet that cannot pay for the input is refused, with the link', async () => {
  const input = 'word '.repeat(100);
  const bytes = JSON.stringify({ messages: [{ role: 'user', content: input }] }).length;
  const user = await newUser(costOf(bytes + OVERHEAD) - 1);
  const before = upstream.requests.length;
  const reply = await embed(user, { input });
  assertRefusal(reply, { code: 'PAYMENT_REQUIRED', param: null });
  assert.ok(String(reply.error['message']).endsWith(String(reply.error['topupUrl'])));
  assert.equal(upstream.requests.length, before);
});

for (const [what, fields, param, says] of [
  ['no input', {}, 'input', /a text/],
  ['an empty text', { input: '' }, 'input', /not empty/],
  ['an empty list', { input: [] }, 'input', /not empty/],
  ['an empty text in a list', { input: ['a', ''] }, 'input[1]', /not empty/],
  ['texts beside tokens', { input: ['a', 1] }, 'input[1]', /a text/],
  ['tokens beside texts', { input: [1, 'a'] }, 'input[1]', /number of a token/],
  ['a fraction of a token', { input: [[1], [1.5]] }, 'input[1][0]', /number of a token/],
  ['an empty list of tokens', { input: [[]] }, 'input[0]', /not empty/],
  ['too many texts', { input: Array.from({ length: 2_049 }, () => 'a') }, 'input', /2048/],
  ['no dimensions at all', { input: 'a', dimensions: 0 }, 'dimensions', /whole number/],
  ['more dimensions than there are', { input: 'a', dimensions: 3_073 }, 'dimensions', /at most 3072/],
  ['another encoding', { input: 'a', encoding_format: 'int8' }, 'encoding_format', /"float", "base64"/],
  ['a stream', { input: 'a', stream: true }, 'stream', /not a supported parameter/],
  ['a model of text', { model: 'large', input: 'a' }, 'model', /makes no embeddings/],
  ['more vectors than an answer can hold', { input: many(200) }, 'input', /at most 150 texts.*base64/],
] as const) {
  test(`WI-11 ${what} is refused before a hold`, () => refusedUntouched(fields, param, says));
}

function many(count: number): readonly string[] {
  return Array.from({ length: count }, () => 'a');
}

test('WI-11 in base64 an answer holds more vectors', async () => {
  await refusedUntouched({ input: many(1_005), encoding_format: 'base64' }, 'input', /at most 1004 texts/);
  const data = many(1_000).map(() => 'A'.repeat(8_192)); // Each has 1,536 numbers.
  const { reply } = await billed(vectors(data, used(1_000)), { input: many(1_000), encoding_format: 'base64' });
  assert.equal((reply.body['data'] as readonly unknown[]).length, 1_000);
});

test('WI-11 a model of embeddings is refused where text is asked for', async () => {
  const options = { url: service.url, key: app.liveKey, user: await newUser(BALANCE) };
  const before = upstream.requests.length;
  for (const wire of WIRES) {
    const reply = await ask(wire, options, { model: 'vectors' });
    assertRefusal(reply, { code: 'BAD_REQUEST', param: 'model' });
    assert.match(String(reply.error['message']), /`POST \/v1\/embeddings`/);
  }
  assert.equal(upstream.requests.length, before);
});

for (const [what, script, code] of [
  ['throttles', { status: 429, body: '{}' }, 'UPSTREAM_THROTTLED'],
  ['is down', { status: 500, body: '{}' }, 'UPSTREAM_PROVIDER_ERROR'],
  ['sends no vectors', { body: '{"object":"list"}' }, 'UPSTREAM_PROVIDER_ERROR'],
  ['sends too few vectors', vectors([[1]], used(2)), 'UPSTREAM_PROVIDER_ERROR'],
  ['sends something else than numbers', vectors([[1], ['SECRET']], used(2)), 'UPSTREAM_PROVIDER_ERROR'],
  ['sends an error with status 200', { body: '{"error":{"message":"SECRET"}}' }, 'UPSTREAM_PROVIDER_ERROR'],
  ['sends far too much', { body: `{"data":["${'A'.repeat(17_000_000)}"]}` }, 'UPSTREAM_PROVIDER_ERROR'],
] as const) {
  test(`WI-11 CC-09 a provider that ${what} costs nothing`, async () => {
    const { reply, bill } = await billed(script, { input: ['a', 'b'] });
    assertRefusal(reply, { code, param: null });
    assert.deepEqual([bill.outcome, bill.charged], ['failed', 0]);
    assert.doesNotMatch(reply.text, /SECRET/);
  });
}

test('WI-11 CC-15 a rejection is remembered with the settings of its request', async () => {
  const user = await newUser(BALANCE);
  upstream.script({ status: 400, body: '{"error":{"message":"no dimensions"}}' });
  assert.equal((await embed(user, { input: 'a', dimensions: 5 })).status, 502);
  upstream.script(vectors([[1]], used(1)));
  assert.equal((await embed(user, { input: 'a' })).status, 200);
});

test('WI-11 CC-14 a retry with the same key gets the same vectors and pays once', async () => {
  const user = await newUser(BALANCE);
  upstream.script(vectors([[1]], used(9)));
  const once = () =>
    send('/v1/embeddings', {
      url: service.url,
      key: app.liveKey,
      user,
      body: { model: 'vectors', input: 'a' },
      headers: { 'idempotency-key': 'once' },
    });
  const first = await once();
  const second = await once();
  assert.deepEqual([second.text, second.headers.get('x-service-replayed')], [first.text, 'true']);
  assert.equal((await service.wallet(app, user)).balance, BALANCE - costOf(9));
});

test('WI-11 SB-02 a test key gets fixed vectors', async () => {
  const before = upstream.requests.length;
  const plain = await embed('test-vectors', { input: ['a', 'b'] }, app.testKey);
  const data = plain.body['data'] as readonly { embedding: readonly number[] }[];
  assert.deepEqual(
    data.map(({ embedding }) => embedding.length),
    [8, 8],
  );
  const packed = await embed('test-vectors', { input: 'a', dimensions: 3, encoding_format: 'base64' }, app.testKey);
  const [{ embedding } = { embedding: '' }] = packed.body['data'] as readonly { embedding: string }[];
  assert.equal(Buffer.from(embedding, 'base64').length, 12);
  const charged = [plain, packed].map(({ headers }) => Number(headers.get('x-service-charge-micros')));
  assert.deepEqual(charged, [costOf(Math.ceil(17 / 4)), costOf(Math.ceil(16 / 4))]);
  const wallet = await readSandboxWallet(service.database, app, 'test-vectors');
  assert.equal(wallet?.held, 0);
  const failed = await embed('test-vectors', { model: 'sandbox/error', input: 'a' }, app.testKey);
  assertRefusal(failed, { code: 'UPSTREAM_PROVIDER_ERROR', param: null });
  assert.equal(upstream.requests.length, before);
});
