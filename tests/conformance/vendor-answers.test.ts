// Odd answers in the formats of Google and of Bedrock, over real HTTP. A token costs a micro, of a picture two.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MICRO_A_TOKEN } from '../support/catalogue.ts';
import { payloadsOf } from '../support/open-stream.ts';
import { billNamed } from '../support/receipts.ts';
import type { UpstreamStep } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';
import { waitUntil } from '../support/wait-until.ts';
import { frame } from './providers/vendors/event-stream.ts';

const BALANCE = 1_000_000;
const KEY_NAME = 'BEDROCK_ANSWERS_KEY';

type Fields = Readonly<Record<string, unknown>>;

const { upstream, service, app, newUser, callAs } = await setStage({
  checksBooks: true,
  environment: { [KEY_NAME]: 'bedrock-key' },
  catalogue: (catalogue) => {
    const { baseUrl } = catalogue.providers.upstream;
    const bedrock = { kind: 'bedrock', region: 'eu-central-1', endpoint: new URL(baseUrl).origin, apiKeyEnv: KEY_NAME };
    const providers = { ...catalogue.providers, gemini: { kind: 'google', baseUrl }, bedrock };
    const price = { ...MICRO_A_TOKEN, imageOutputMicrosPerMillion: 2_000_000, cacheWriteMicrosPerMillion: 1_250_000 };
    const common = { ...catalogue.models[0], price, marginBasisPoints: 0, outputLimitParameter: undefined };
    const gemini = { ...common, id: 'acme.gemini-1', provider: 'gemini', providerModel: 'gemini-2.5-flash-image' };
    const nova = { ...common, id: 'acme.nova-1', provider: 'bedrock', providerModel: 'eu.amazon.nova-lite-v1:0' };
    return { ...catalogue, providers, models: [...catalogue.models, gemini, nova] };
  },
});

async function call(body: string | readonly UpstreamStep[], fields: Fields) {
  const user = await newUser(BALANCE);
  upstream.script({ body });
  const reply = await callAs(user, fields, { headers: { 'x-correlation-id': user } });
  assert.equal(reply.status, 200, reply.text.slice(0, 500));
  const bill = await waitUntil('it is settled', () => billNamed(service.database, user));
  assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - bill.charged, held: 0, openStreams: 0 });
  return { bill, text: reply.text };
}

/** The same answer of Gemini, plain and streamed. */
async function both(candidate: Fields, usageMetadata: Fields) {
  const answer = JSON.stringify({ candidates: [candidate, null], usageMetadata });
  const model = 'acme.gemini-1';
  const plain = await call(answer, { model });
  const streamed = await call([{ write: `data: ${answer}\n\n` }], { model, stream: true });
  return [plain, streamed];
}

const USAGE = { promptTokenCount: 50, candidatesTokenCount: 20, totalTokenCount: 70 };
const HELLO = { role: 'model', parts: [{ text: 'Hello' }] };

test('CC-11 nulls and small letters of Gemini lose no answer', async () => {
  for (const candidate of [
    { content: { role: 'model', parts: [null, { text: 'Hello' }] }, finishReason: 'STOP' },
    { content: HELLO, finishReason: 'stop' },
    { content: HELLO, finishReason: 'FINISH_REASON_STOP' },
    { content: HELLO, finishReason: 'end_turn' },
  ]) {
    for (const { bill, text } of await both(candidate, USAGE)) {
      assert.deepEqual([bill.charged, bill.outcome], [70, 'answered'], text);
      assert.match(text, /"content":"Hello"/);
      assert.match(text, /"finish_reason":"stop"/);
    }
  }
  for (const { bill, text } of await both({ content: HELLO, finishReason: 'max_tokens' }, USAGE)) {
    assert.equal(bill.charged, 70);
    assert.match(text, /"finish_reason":"length"/);
  }
});

test('CC-11 an answer of Gemini that says nothing has no parts', async () => {
  for (const content of [null, {}, { parts: null }, { parts: [null] }]) {
    for (const { bill, text } of await both({ content, finishReason: 'MAX_TOKENS' }, USAGE)) {
      assert.deepEqual([bill.charged, bill.outcome], [70, 'answered'], text);
    }
  }
});

/** Bytes of a picture in base64: an ordinary one, and one longer than any other event may be. */
const PICTURES = [4_000, 3_000_000].map((bytes) => 'iVBORw0KGgoA'.repeat(bytes / 12));

test('CC-23 a picture of Gemini is delivered whole and charged by its usage', async () => {
  const candidatesTokensDetails = [{ modality: 'IMAGE', tokenCount: 1_290 }];
  const usage = { promptTokenCount: 10, candidatesTokenCount: 1_300, totalTokenCount: 1_310, candidatesTokensDetails };
  for (const data of PICTURES) {
    const thought = { thought: true, inlineData: { mimeType: 'image/png', data: 'c2tldGNo' } };
    const parts = [{ text: 'Here:' }, thought, { inlineData: { mimeType: 'image/png', data } }];
    for (const { bill, text } of await both({ content: { role: 'model', parts }, finishReason: 'STOP' }, usage)) {
      assert.deepEqual([bill.charged, bill.outcome, bill.isEstimated], [10 + 10 + 2 * 1_290, 'answered', false]);
      const [answer, ...chunks] = text.startsWith('{') ? [JSON.parse(text)] : payloadsOf(text);
      const choices = [answer, ...chunks].flatMap((one) => (one as { choices?: Choice[] }).choices ?? []);
      const images = choices.flatMap(({ message, delta }) => (message ?? delta)?.images ?? []);
      assert.deepEqual(images, [{ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }]);
    }
  }
});

interface Choice {
  readonly message?: { readonly images?: unknown[] };
  readonly delta?: { readonly images?: unknown[] };
}

const metadata = (usage: Fields): Buffer => frame('event', 'metadata', { usage, metrics: { latencyMs: 5 } });
const usageOf = (inputTokens: number, outputTokens: number, more: Fields = {}): Fields => {
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, ...more };
};
const said = (text: string): Buffer => frame('event', 'contentBlockDelta', { contentBlockIndex: 0, delta: { text } });
const BEGUN = frame('event', 'messageStart', { role: 'assistant' });
const STOPPED = frame('event', 'messageStop', { stopReason: 'end_turn' });

/** Streams of Bedrock with several reports, and their charge. */
const REPORTS: readonly (readonly [what: string, frames: readonly Buffer[], charge: number])[] = [
  ['one', [said('Hello'), STOPPED, metadata(usageOf(900, 40))], 940],
  ['an early one of the prompt', [metadata(usageOf(900, 0)), said('Hello'), STOPPED, metadata(usageOf(0, 40))], 940],
  ['zeros at the end', [said('Hello'), STOPPED, metadata(usageOf(900, 40)), metadata(usageOf(0, 0))], 940],
  [
    'the cache in the first alone',
    [metadata(usageOf(100, 1, { cacheReadInputTokens: 800 })), said('Hello'), STOPPED, metadata(usageOf(100, 40))],
    220,
  ],
];

const NOVA = { model: 'acme.nova-1', stream: true };

test('MO-08 a stream of Bedrock is charged by the larger report of each count', async () => {
  for (const [what, frames, charge] of REPORTS) {
    const { bill } = await call([{ write: Buffer.concat([BEGUN, ...frames]) }], NOVA);
    assert.deepEqual([bill.charged, bill.isEstimated], [charge, false], what);
  }
});

test('CC-11 nothing fails a stream of Bedrock that lacks nothing, or for an odd report', async () => {
  const whole = [BEGUN, said('Hello'), STOPPED, metadata(usageOf(900, 40))];
  const broken = frame('exception', 'internalServerException', { message: 'x' });
  for (const [frames, ...last] of [
    [whole, { destroy: true }],
    [[...whole, broken]],
    [[BEGUN, metadata({ inputTokens: 900, outputTokens: null }), ...whole.slice(1)]],
    [[...whole.slice(0, 3), metadata(usageOf(900, 40)), metadata({ outputTokens: 40 })]],
  ] as const) {
    const { bill, text } = await call([{ write: Buffer.concat(frames) }, ...last], NOVA);
    assert.deepEqual([bill.charged, bill.outcome], [940, 'answered']);
    assert.match(text, /"finish_reason":"stop"/);
    assert.equal(payloadsOf(text).at(-1), '[DONE]');
  }
});

test('CC-23 a report of Bedrock before the text is not its last count', async () => {
  const frames = [BEGUN, metadata(usageOf(50, 1)), said('Hello, how are you today?'), STOPPED];
  const { bill } = await call([{ write: Buffer.concat(frames) }], NOVA);
  assert.equal(bill.isEstimated, true);
  assert.ok(bill.charged > 53, `${bill.charged}`);
});
