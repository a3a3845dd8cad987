import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import { hasLeft } from '../support/callers-gone.ts';
import { chargeFor } from '../support/catalogue.ts';
import { COMPLETIONS, type Reply, send } from '../support/client.ts';
import { holdFor } from '../support/hold-price.ts';
import { openChat } from '../support/open-chat.ts';
import { payloadsOf } from '../support/open-stream.ts';
import { type Bill, billNamed } from '../support/receipts.ts';
import { completionBody, frame, type UpstreamStep } from '../support/scripted-upstream.ts';
import { sqlValue } from '../support/sql.ts';
import { setStage } from '../support/stage.ts';
import { waitUntil } from '../support/wait-until.ts';

const BALANCE = 1_000_000;
const LIMIT = 20;
/** More bytes than an answer of this many tokens ever has: 128 per token, and 16 KiB for everything else. */
const BYTES_MAX = LIMIT * 128 + 16_384;
const STREAM = { stream: true, stream_options: { include_usage: true } };
/** Shorter than the model's own limit. */
const CALL_MS_MAX = 45_000;
/** A stream that goes on forever unless it is cut. */
const HANG: UpstreamStep = { hang: true };
const DONE: UpstreamStep = { write: frame('[DONE]') };

const { upstream, service, app, newUser } = await setStage({
  model: { timeoutMs: 60_000 }, // So that no stream times out here.
  catalogue: (catalogue) => {
    const [large] = catalogue.models;
    const drained = { ...large, id: 'acme.drained-1', onAbandon: 'drain' };
    const free = { ...large, id: 'acme.free-1', price: undefined, free: true };
    return { ...catalogue, models: [...catalogue.models, drained, free] };
  },
});

function bodyOf(fields: Readonly<Record<string, unknown>> = {}): string {
  const common = { model: 'large', messages: [{ role: 'user', content: 'Hello' }], max_completion_tokens: LIMIT };
  return JSON.stringify({ ...common, ...fields });
}

/** One call of a fresh user, read to its end. Afterwards the wallet holds nothing and the books agree. */
async function call(body: string) {
  const user = await newUser(BALANCE);
  const headers = { 'x-correlation-id': user };
  const reply = await send(COMPLETIONS, {
    url: service.url,
    key: app.liveKey,
    user,
    body,
    headers,
    signal: AbortSignal.timeout(CALL_MS_MAX),
  });
  assert.equal(reply.status, 200, reply.text);
  const bill = await settled(user);
  assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - bill.charged, held: 0, openStreams: 0 });
  assert.deepEqual(await service.check(), []);
  return { user, reply, bill /** The operator's loss to the provider. */, lost: await lostTo(user) };
}

function settled(user: string): Promise<Bill> {
  return waitUntil('it is settled', () => billNamed(service.database, user));
}

async function lostTo(user: string): Promise<number> {
  const lost = await sqlValue<number>(service)`select coalesce(sum(e.amount_micros), 0)::float8 as lost
    from ledger.entries e
    join ledger.wallets w on w.wallet_id = e.wallet_id where w.user_id = ${user} and e.debit = 'loss'`;
  return lost ?? Number.NaN;
}

function says(
  delta: unknown,
  more: { readonly index?: number; readonly finish?: string; readonly usage?: unknown } = {},
) {
  const choice = { index: more.index ?? 0, delta, finish_reason: more.finish ?? null };
  return { write: frame({ id: 'c', object: 'chat.completion.chunk', choices: [choice], usage: more.usage }) };
}

interface Chunk {
  readonly choices: readonly {
    index: number;
    delta: { role?: string; content?: string };
    finish_reason: string | null;
  }[];
  readonly usage?: { readonly completion_tokens: number } | null;
}

/** The chunks of a stream that ended normally. */
function chunksOf({ text }: Reply): readonly Chunk[] {
  const payloads = payloadsOf(text);
  assert.equal(payloads.at(-1), '[DONE]');
  return payloads.slice(0, -1) as Chunk[];
}

function usageOf(prompt: number, completion: number) {
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

/** Chunks of 200 bytes, each of them harmless by itself. */
function wordy(chunks: number): readonly UpstreamStep[] {
  return Array.from({ length: chunks }, () => says({ content: 'word '.repeat(40) }));
}

test("WA-07 usage billed above the hold is the operator's loss", async () => {
  for (const fields of [{}, STREAM]) {
    const content = 'word '.repeat(100);
    const usage = usageOf(10, 5_000);
    upstream.script(
      'stream' in fields
        ? { body: [says({ content }), says({}, { finish: 'stop', usage }), DONE] }
        : { body: completionBody({ model: 'large-upstream', content, usage }) },
    );
    const body = bodyOf(fields);
    const { bill, lost } = await call(body);
    assert.equal(bill.charged, holdFor(body, LIMIT));
    assert.equal(lost, chargeFor({ prompt: 10, completion: 5_000 }) - bill.charged);
    assert.equal(bill.isClamped, true);
  }
});

test('WA-07 a count within the hold is fully charged', async () => {
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi', usage: usageOf(10, LIMIT + 1) }) });
  const { bill } = await call(bodyOf());
  assert.equal(bill.charged, chargeFor({ prompt: 10, completion: LIMIT + 1 }));
  assert.equal(bill.isClamped, true);
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi', usage: usageOf(10, LIMIT) }) });
  assert.equal((await call(bodyOf())).bill.isClamped, false);
});

for (const [what, steps] of [
  ['in one chunk', [says({ content: 'word '.repeat(40_000) }), HANG]],
  ['in many chunks', [says({ role: 'assistant', content: '' }), ...wordy(120), HANG]],
  ['as reasoning', [says({ reasoning_content: '思'.repeat(7_000) }), HANG]],
  [
    'as the arguments of a tool call',
    [says({ tool_calls: [{ index: 0, function: { name: 'f', arguments: ' '.repeat(30_000) } }] }), HANG],
  ],
] as const) {
  test(`WA-07 content past the limit ${what} is cut`, async () => {
    upstream.script({ body: steps });
    const body = bodyOf(STREAM);
    const seen = upstream.requests.length;
    const { reply, bill, lost } = await call(body);
    const request = upstream.requests[seen];
    await waitUntil('the provider is cancelled', () => request?.aborted === true, 5_000);
    assert.deepEqual([bill.outcome, bill.charged, bill.held], ['answered', holdFor(body, LIMIT), bill.charged]);
    assert.deepEqual([bill.isEstimated, bill.isClamped, bill.tokens.completion, lost], [true, true, LIMIT, 0]);
    const chunks = chunksOf(reply);
    const content = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    assert.ok(Buffer.byteLength(content) <= BYTES_MAX);
    assert.equal(chunks.at(-2)?.choices[0]?.finish_reason, 'length');
    assert.deepEqual(chunks.at(-1)?.choices, []);
    assert.equal(chunks.at(-1)?.usage?.completion_tokens, LIMIT);
  });
}

test('WA-07 a stream is cut at the first byte above the bound', async () => {
  for (const [bytes, isCut] of [
    [BYTES_MAX, false],
    [BYTES_MAX + 1, true],
  ] as const) {
    const usage = usageOf(10, LIMIT);
    upstream.script({ body: [says({ content: ' '.repeat(bytes) }), says({}, { finish: 'stop', usage }), DONE] });
    const { reply, bill } = await call(bodyOf(STREAM));
    assert.equal(bill.isClamped, isCut);
    assert.equal(bill.charged === bill.held, isCut);
    assert.equal(reply.text.includes('"length"'), isCut);
  }
});

test('WA-07 only open choices are cut', async () => {
  const steps = [
    says({ role: 'assistant', content: 'A' }),
    says({}, { finish: 'stop' }),
    says({ content: 'B' }, { index: 1 }),
  ];
  upstream.script({ body: [...steps, says({ content: 'x'.repeat(4 * BYTES_MAX) }, { index: 1 }), HANG] });
  const { reply } = await call(bodyOf({ ...STREAM, n: 3 }));
  assert.deepEqual(chunksOf(reply).at(-2)?.choices, [
    { index: 1, delta: {}, finish_reason: 'length' },
    { index: 2, delta: { role: 'assistant', content: '' }, finish_reason: 'length' },
  ]);
});

test('WA-07 a count above the limit cuts the stream', async () => {
  const running = (tokens: number) => says({ content: 'word ' }, { usage: usageOf(10, tokens) });
  upstream.script({ body: [running(LIMIT), running(LIMIT + 1), running(LIMIT + 2), HANG] });
  const { reply, bill, lost } = await call(bodyOf(STREAM));
  assert.equal(reply.text.match(/word /g)?.length, 2);
  assert.deepEqual([bill.charged, bill.isEstimated, bill.isClamped, lost], [bill.held, false, true, 0]);
  assert.equal(bill.tokens.completion, LIMIT + 1);
  const late = says({ content: 'word ' }, { finish: 'stop', usage: usageOf(10, LIMIT + 1) });
  upstream.script({ body: [running(LIMIT), late, DONE] });
  const said = await call(bodyOf(STREAM));
  assert.equal(chunksOf(said.reply).at(-2)?.choices[0]?.finish_reason, 'stop');
  assert.equal(said.bill.charged, chargeFor({ prompt: 10, completion: LIMIT + 1 }));
});

test('WA-07 a cut stream ends properly without usage', async () => {
  upstream.script({ body: [says({ role: 'assistant', content: 'Hi' }), ...wordy(120), HANG] });
  const chunks = chunksOf((await call(bodyOf({ stream: true }))).reply);
  assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, 'length');
  assert.ok(chunks.every((chunk) => !('usage' in chunk)));
});

test('WA-07 an abandoned overrun is charged its hold', async () => {
  const user = await newUser(BALANCE);
  const body = bodyOf({ model: 'acme.drained-1', stream: true });
  const { promise: gone, resolve: leave } = Promise.withResolvers<void>();
  upstream.script({ body: [says({ content: 'First' }), { waitFor: gone }, ...wordy(120), HANG] });
  const seen = upstream.requests.length;
  const chat = openChat({ url: service.url, key: app.liveKey, user, body, correlationId: user });
  await chat.read('First');
  chat.leave();
  await waitUntil('the service has noticed', () => hasLeft(user));
  leave();
  const bill = await settled(user);
  await waitUntil('the provider is cancelled', () => upstream.requests[seen]?.aborted === true);
  assert.deepEqual([bill.outcome, bill.charged, bill.isClamped], ['abandoned', holdFor(body, LIMIT), true]);
});

test('WA-07 a plain answer past its limit is delivered', async () => {
  const content = 'word '.repeat(40_000);
  const { total_tokens: _total, ...partial } = usageOf(10, LIMIT);
  for (const usage of [undefined, partial, { ...usageOf(10, LIMIT), total_tokens: 1 }]) {
    upstream.script({ body: completionBody({ model: 'm', content, usage }) });
    const { reply, bill, lost } = await call(bodyOf());
    assert.ok(reply.text.includes(content));
    assert.deepEqual([bill.charged, bill.isClamped], [holdFor(bodyOf(), LIMIT), true]);
    assert.equal(reply.headers.get('x-service-charge-micros'), String(bill.charged));
    assert.equal(lost, 0);
  }
});

test('CC-23 beside a usage that adds up, size decides nothing', async () => {
  const content = `![](data:image/png;base64,${'iVBO'.repeat(100_000)})`;
  for (const completion of [5, LIMIT]) {
    upstream.script({ body: completionBody({ model: 'm', content, usage: usageOf(10, completion) }) });
    const { reply, bill } = await call(bodyOf());
    assert.ok(reply.text.includes(content));
    assert.deepEqual([bill.charged, bill.isClamped], [chargeFor({ prompt: 10, completion }), false]);
  }
});

test('WA-07 a free model past its limit stays free', async () => {
  upstream.script({ body: [...wordy(120), HANG] });
  const { bill } = await call(bodyOf({ model: 'acme.free-1', ...STREAM }));
  assert.deepEqual([bill.charged, bill.isClamped], [0, true]);
});

test('WA-07 a stock client reads a cut as a reached limit', async () => {
  const user = await newUser(BALANCE);
  upstream.script({ body: [says({ role: 'assistant', content: '' }), ...wordy(120), HANG] });
  const client = new OpenAI({
    baseURL: `${service.url}/v1`,
    apiKey: app.liveKey,
    defaultHeaders: { 'x-service-user': user, 'x-correlation-id': user },
  });
  const stream = client.chat.completions.stream(
    {
      model: 'large',
      messages: [{ role: 'user', content: 'Hello' }],
      max_completion_tokens: LIMIT,
    },
    { timeout: CALL_MS_MAX, signal: AbortSignal.timeout(CALL_MS_MAX) },
  );
  const completion = await stream.finalChatCompletion();
  assert.equal(completion.choices[0]?.finish_reason, 'length');
  assert.ok((completion.choices[0]?.message.content ?? '').startsWith('word word'));
  const bill = await settled(user);
  assert.equal(bill.charged, bill.held);
});
