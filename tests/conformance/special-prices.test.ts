import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chat, type Reply, send } from '../support/client.ts';
import { newOperator, newOwnApp, newOwner } from '../support/control.ts';
import { assertRefusal } from '../support/refusal.ts';
import { completionBody, streamSteps } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';

/** Prices with every kind of token, fees, a tier and a fixed margin. */

const RATES = {
  inputMicrosPerMillion: 1_000_000,
  cachedInputMicrosPerMillion: 100_000,
  cacheWriteMicrosPerMillion: 1_250_000,
  cacheWriteLongMicrosPerMillion: 2_000_000,
  audioInputMicrosPerMillion: 16_000_000,
  imageInputMicrosPerMillion: 3_000_000,
  outputMicrosPerMillion: 4_000_000,
  reasoningMicrosPerMillion: 5_000_000,
  audioOutputMicrosPerMillion: 32_000_000,
  imageOutputMicrosPerMillion: 12_000_000,
};
const TIER = Object.fromEntries(Object.entries(RATES).map(([name, rate]) => [name, rate * 2]));
const PRICE = {
  ...RATES,
  microsPerCall: 700,
  microsPerSearch: 5_000,
  tiers: [{ aboveInputTokens: 1_000, ...TIER }],
};
const MODEL = { contextTokens: 2_000, price: PRICE, marginBasisPoints: 1_000, marginMicrosPerCall: 9, searchesMax: 3 };

const { upstream, service } = await setStage({ model: MODEL });
const owner = await newOwner(service);
const operator = await newOperator(service);
const app = await newOwnApp(owner);
await service.fund(app, 'anna', 10_000_000);

/**
 * The prompt has 100 tokens: 10 cached, 15 written, 20 written for an hour, 5 of audio, 25 of images. The output has
 * 60: 20, 10 and 5 apart.
 */
const USAGE = {
  prompt_tokens: 100,
  completion_tokens: 60,
  total_tokens: 160,
  prompt_tokens_details: { cached_tokens: 10, cache_write_tokens: 35, audio_tokens: 5, image_tokens: 25 },
  cache_creation: { ephemeral_5m_input_tokens: 15, ephemeral_1h_input_tokens: 20 },
  completion_tokens_details: { reasoning_tokens: 20, audio_tokens: 10, image_tokens: 5 },
  num_search_queries: 2,
};
/** Adds ten percent and 9 micros, rounded up. */
function withMargin(micros: number): number {
  return Math.ceil((micros * 11) / 10) + 9;
}

/** The tokens are 25, 10, 15, 20, 5 and 25 of the prompt, and 25, 20, 10 and 5 of the completion, each at its price. */
const TOKEN_MICROS = 25 + 1 + 18.75 + 40 + 80 + 75 + (100 + 100 + 320 + 60);
const CHARGE = withMargin(TOKEN_MICROS + 700 + 2 * 5_000);

function script(usage: object, stream: boolean): void {
  const facts = { model: 'm', usage };
  const streamed = { ...facts, pieces: ['Hi.'], includeUsageChunk: true };
  upstream.script({ body: stream ? streamSteps(streamed) : completionBody({ ...facts, content: 'Hi.' }) });
}

function call(stream = false): Promise<Reply> {
  return chat({ url: service.url, key: app.liveKey, user: 'anna' }, { stream });
}

async function receiptOf({ headers }: Reply) {
  const callId = headers.get('x-service-call-id');
  const receipt = await owner.get(200, 'GET', `/apps/${app.appId}/calls/${callId}`);
  const { calls } = await operator.get(200, 'GET', `/operator/calls?callId=${callId}`);
  return { callId, receipt, seenByOperator: (calls as readonly Readonly<Record<string, unknown>>[])[0] };
}

for (const stream of [false, true]) {
  const how = stream ? 'streamed' : 'plain';
  test(`MO-06 MO-08 tokens, searches and fees are charged at their prices, ${how}`, async () => {
    script(USAGE, stream);
    const { callId, receipt, seenByOperator } = await receiptOf(await call(stream));
    const { tokens, searches, price, chargedMicros } = receipt;
    assert.equal(chargedMicros, CHARGE);
    assert.deepEqual(tokens, {
      prompt: 100,
      cached: 10,
      cacheWrite: 15,
      cacheWriteLong: 20,
      audioInput: 5,
      imageInput: 25,
      completion: 60,
      reasoning: 20,
      audioOutput: 10,
      imageOutput: 5,
    });
    assert.equal(searches, 2);
    const { version, ...prices } = price as { readonly version: number };
    assert.ok(version > 0);
    assert.deepEqual(prices, { ...PRICE, marginBasisPoints: 1_000, marginMicrosPerCall: 9 });
    const byKey = await send(`/calls/${callId}`, { url: service.url, key: app.liveKey, user: 'anna' });
    assert.deepEqual(byKey.body, receipt);
    const upstreamOfCall = { provider: 'upstream', providerModel: 'large-upstream' };
    assert.deepEqual(seenByOperator, { ...receipt, appId: app.appId, upstream: upstreamOfCall });
    assert.doesNotMatch(JSON.stringify(receipt), /upstream/, 'CC-21');
    assert.deepEqual(await service.check(), []);
  });
}

test('MO-06 a tier charges the whole prompt above its bound', async () => {
  const usage = { prompt_tokens: 1_000, completion_tokens: 10, total_tokens: 1_010 };
  const chargeOf = async (prompt: number): Promise<unknown> => {
    script({ ...usage, prompt_tokens: prompt, total_tokens: prompt + 10 }, false);
    return (await receiptOf(await call())).receipt['chargedMicros'];
  };
  assert.equal(await chargeOf(1_000), withMargin(1_000 + 40 + 700));
  assert.equal(await chargeOf(1_001), withMargin(2_002 + 80 + 700));
});

test('WA-07 a hold covers searches up to the call’s bound', async () => {
  script({ ...USAGE, num_search_queries: 3 }, false);
  const three = (await receiptOf(await call())).receipt;
  assert.equal(three['chargedMicros'], CHARGE + 5_500);
  script({ ...USAGE, num_search_queries: 1_000 }, false);
  const many = (await receiptOf(await call())).receipt;
  assert.equal(many['chargedMicros'], many['heldMicros']);
  assert.deepEqual(await service.check(), []);
});

interface Past {
  readonly state: string;
  readonly from: string;
  readonly until: string | null;
  readonly price: { readonly version: number };
}

function callOf(user: string, words: number): Promise<Reply> {
  const messages = [{ role: 'user', content: 'word '.repeat(words) }];
  return chat({ url: service.url, key: app.liveKey, user }, { messages });
}

test('WA-07 MO-08 a hold never exceeds the room in the context', async () => {
  script({ prompt_tokens: 700, completion_tokens: 10, total_tokens: 710 }, false);
  const { receipt } = await receiptOf(await callOf('anna', 700));
  // The dearest of 2,000 tokens: 1,001 of prompt as audio, which is just in the second tier, and 999 of audio as the answer.
  assert.equal(receipt['heldMicros'], withMargin(1_001 * 32 + 999 * 64 + 700 + 3 * 5_000));
});

test('MO-08 a prompt larger than the context is refused', async () => {
  await service.fund(app, 'poor', 1);
  const refused = await callOf('poor', 2_001);
  assertRefusal(refused, { code: 'BAD_REQUEST', param: 'messages', hasLink: false });
  assert.match(refused.text, /maximum context length is 2000 tokens, and the prompt has 2001 words/);
  assertRefusal(await callOf('poor', 2_000), { code: 'PAYMENT_REQUIRED', param: null });
});

test('MO-05 an operator reads past, current and future prices', async () => {
  const path = '/operator/models/acme.history-1';
  const entry = {
    provider: 'upstream',
    providerModel: 'one',
    resale: 'open',
    contextTokens: 1_000,
    maxOutputTokens: 100,
    price: { inputMicrosPerMillion: 1, outputMicrosPerMillion: 2 },
  };
  await operator.get(200, 'PUT', path, entry);
  const priceChanges = [{ from: '2100-01-04T00:00:00Z', price: PRICE, marginMicrosPerCall: 4 }];
  await operator.get(200, 'PUT', path, { ...entry, marginBasisPoints: 5, priceChanges, searchesMax: 3 });
  const { prices } = await operator.get(200, 'GET', `${path}/prices`);
  const [past, current] = ['past', 'current'].map((state) =>
    (prices as readonly Past[]).find((one) => one.state === state),
  );
  assert.equal(past?.until, current?.from);
  const told = (prices as readonly Past[]).map(({ from, until, price, ...rest }) => {
    const { version: _version, ...amounts } = price;
    return { ...rest, amounts, isLater: from === '2100-01-04T00:00:00.000Z', until: until === null ? null : 'known' };
  });
  const flat = { inputMicrosPerMillion: 1, cachedInputMicrosPerMillion: 1, cacheWriteMicrosPerMillion: 1 };
  const old = { ...flat, outputMicrosPerMillion: 2 };
  const who = { provider: 'upstream', providerModel: 'one' };
  assert.deepEqual(
    told.toSorted((left, right) => (left.state < right.state ? -1 : 1)),
    [
      { ...who, state: 'current', amounts: { ...old, marginBasisPoints: 5 }, isLater: false, until: 'known' },
      {
        ...who,
        state: 'future',
        isLater: true,
        until: null,
        amounts: { ...PRICE, marginBasisPoints: 5, marginMicrosPerCall: 4 },
      },
      { ...who, state: 'past', amounts: { ...old, marginBasisPoints: 0 }, isLater: false, until: 'known' },
    ],
  );
  const none = await operator.ask('GET', '/operator/models/acme.nothing-1/prices');
  assertRefusal(none, { code: 'NOT_FOUND', hasLink: false });
  const late = { ...entry, priceChanges: [{ ...priceChanges[0], from: '2020-01-01T00:00:00Z' }] };
  const refused = await operator.ask('PUT', path, { ...late, searchesMax: 3 });
  assertRefusal(refused, { code: 'BAD_REQUEST', param: 'priceChanges.0.from' }, refused.text);
});
