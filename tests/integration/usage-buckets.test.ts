import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { chargeFor } from '../support/catalogue.ts';
import { type Reply, send } from '../support/client.ts';
import { payloadsOf } from '../support/open-stream.ts';
import { type Bill, billNamed } from '../support/receipts.ts';
import { completionBody, frame, streamSteps } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';

const seed = Number(process.env['PURSER_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const CALLS = 60;
const BALANCE = 100_000_000;

const { upstream, service, app, callAs } = await setStage();
let calls = 0;

after(() => {
  console.log(`${CALLS} usages, seed ${seed}`);
});

interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details?: { readonly cached_tokens: number };
  readonly completion_tokens_details?: { readonly reasoning_tokens: number };
}

/** One call whose provider reports this usage. Returns the usage that the caller sees, and the bill. */
async function callReporting(user: string, usage: unknown, isStream: boolean): Promise<{ shown: Usage; bill: Bill }> {
  const facts = { model: 'm', usage };
  upstream.script({
    body: isStream
      ? streamSteps({ ...facts, pieces: ['Hi'], includeUsageChunk: true })
      : completionBody({ ...facts, content: 'Hi' }),
  });
  return call(user, isStream);
}

async function call(user: string, isStream: boolean): Promise<{ shown: Usage; bill: Bill }> {
  const name = `call-${(calls += 1)}`;
  const stream = isStream ? { stream: true, stream_options: { include_usage: true } } : {};
  const headers = { 'x-correlation-id': name };
  const reply = await callAs(user, stream, { headers });
  assert.equal(reply.status, 200, reply.text);
  const bill = await billNamed(service.database, name);
  assert.ok(bill !== undefined);
  return { shown: isStream ? lastUsageOf(reply) : (reply.body['usage'] as Usage), bill };
}

function lastUsageOf({ text }: Reply): Usage {
  const last = payloadsOf(text).at(-2) as { readonly choices: unknown; readonly usage: Usage };
  assert.deepEqual(last.choices, []);
  return last.usage;
}

/** The four kinds of token, which do not overlap. */
const buckets = fc.record({
  uncached: fc.nat(300),
  cached: fc.nat(200),
  visible: fc.nat(600),
  reasoning: fc.nat(400),
  isStream: fc.boolean(),
});

function usageOf({ uncached, cached, visible, reasoning }: Readonly<Record<string, number>>): Usage {
  const [prompt, completion] = [Number(uncached) + Number(cached), Number(visible) + Number(reasoning)];
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: Number(cached) },
    completion_tokens_details: { reasoning_tokens: Number(reasoning) },
  };
}

async function assertSummary(user: string, bills: readonly Bill[]): Promise<void> {
  const sum = (of: (bill: Bill) => number) => bills.reduce((total, bill) => total + of(bill), 0);
  const { body } = await send('/usage/summary', { url: service.url, key: app.liveKey, user });
  const charged = sum((bill) => bill.charged);
  const [prompt, completion] = [sum(({ tokens }) => tokens.prompt), sum(({ tokens }) => tokens.completion)];
  assert.deepEqual(
    [body['requests'], body['promptTokens'], body['completionTokens'], body['totalTokens'], body['chargedMicros']],
    [bills.length, prompt, completion, prompt + completion, charged],
  );
  assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - charged, held: 0, openStreams: 0 });
  assert.deepEqual(await service.check(), []);
}

test('MO-06 tokens add up from answer to charge', async () => {
  await service.fund(app, 'sums', BALANCE);
  const bills: Bill[] = [];
  for (const { isStream, ...parts } of fc.sample(buckets, { numRuns: CALLS, seed })) {
    const usage = usageOf(parts);
    const { shown, bill } = await callReporting('sums', usage, isStream);
    assert.deepEqual(shown, usage);
    const { uncached, cached, visible, reasoning } = parts;
    const tokens = { prompt: uncached + cached, cached, cacheWrite: 0, completion: visible + reasoning, reasoning };
    assert.deepEqual(bill.tokens, tokens);
    assert.deepEqual([bill.isEstimated, bill.isClamped], [false, false]);
    assert.equal(bill.charged, Math.ceil(((uncached * 100 + cached * 25 + (visible + reasoning) * 400) * 11) / 1_000));
    bills.push(bill);
  }
  await assertSummary('sums', bills);
});

test('CC-23 contradictory usage still adds up, and is flagged', async () => {
  await service.fund(app, 'odd', BALANCE);
  const odd = fc.oneof(
    fc.integer({ min: -50, max: 200 }),
    fc.double({ min: -9, max: 99 }),
    fc.constantFrom('NaN', null),
  );
  const report = fc.tuple(odd, odd, odd, odd, odd, fc.boolean());
  const bills: Bill[] = [];
  for (const [prompt, completion, total, cached, reasoning, isStream] of fc.sample(report, { numRuns: CALLS, seed })) {
    const usage = {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: total,
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens_details: { reasoning_tokens: reasoning },
    };
    const { shown, bill } = await callReporting('odd', usage, isStream);
    const { tokens } = bill;
    assert.deepEqual([shown.prompt_tokens, shown.completion_tokens], [tokens.prompt, tokens.completion]);
    assert.equal(shown.total_tokens, tokens.prompt + tokens.completion);
    assert.ok(tokens.cached <= tokens.prompt && tokens.reasoning <= tokens.completion);
    assert.equal(bill.charged, chargeFor(tokens));
    const isWhole = [prompt, completion, total].every((count) => Number.isInteger(count) && Number(count) >= 0);
    if (!isWhole && total !== null) assert.equal(bill.isClamped, true, JSON.stringify(usage));
    bills.push(bill);
  }
  await assertSummary('odd', bills);
});

for (const isStream of [false, true]) {
  test(`CC-23 separately reported reasoning is billed, ${isStream ? 'streamed' : 'plain'}`, async () => {
    await service.fund(app, `beside-${isStream}`, BALANCE);
    const usage = { ...usageOf({ uncached: 10, cached: 0, visible: 20, reasoning: 0 }), total_tokens: 130 };
    const reported = { ...usage, completion_tokens_details: { reasoning_tokens: 100 } };
    const { shown, bill } = await callReporting(`beside-${isStream}`, reported, isStream);
    assert.deepEqual(bill.tokens, { prompt: 10, cached: 0, cacheWrite: 0, completion: 120, reasoning: 100 });
    assert.deepEqual([bill.charged, bill.isClamped], [chargeFor({ prompt: 10, completion: 120 }), false]);
    assert.deepEqual(shown, { ...reported, completion_tokens: 120 });
  });

  test(`CC-23 usage of null is no report, ${isStream ? 'streamed' : 'plain'}`, async () => {
    await service.fund(app, `null-${isStream}`, BALANCE);
    const { bill } = await callReporting(`null-${isStream}`, null, isStream);
    assert.deepEqual([bill.isEstimated, bill.isClamped, bill.tokens.completion], [true, false, 2]);
  });
}

/** Chunks that each report usage. */
function reports(...told: readonly (readonly [prompt: number, completion: number])[]) {
  return told.map(([prompt, completion]) => {
    const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
    return { write: frame({ choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }], usage }) };
  });
}

test('CC-23 the largest of several usage reports counts', async () => {
  await service.fund(app, 'chunks', BALANCE);
  for (const [told, completion, isClamped] of [
    [reports([10, 1], [10, 2], [10, 30]), 30, false],
    [reports([10, 1], [10, 30], [10, 2]), 30, true],
    [reports([10, 30], [0, 0]), 30, true],
  ] as const) {
    upstream.script({ body: [...told, { write: frame('[DONE]') }] });
    const { shown, bill } = await call('chunks', true);
    assert.deepEqual(bill.tokens, { prompt: 10, cached: 0, cacheWrite: 0, completion, reasoning: 0 });
    assert.deepEqual([bill.charged, bill.isClamped], [chargeFor({ prompt: 10, completion }), isClamped]);
    assert.deepEqual(shown, { prompt_tokens: 10, completion_tokens: completion, total_tokens: 10 + completion });
  }
});
