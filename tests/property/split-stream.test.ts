// However the network splits a provider's stream, the caller gets the same bytes and pays the same (threats.md, row 24).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Model, Upstream } from '../../packages/service/src/catalogue/catalogue.ts';
import type { ChatCall } from '../../packages/service/src/gateway/call/call.ts';
import { chatReply } from '../../packages/service/src/gateway/wires/chat/chat.ts';
import { createStreamTally } from '../../packages/service/src/gateway/stream/stream-tally.ts';
import { newCallId } from '../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { Utf8Decoder } from '../../packages/upstream-http/src/utf8-decoder.ts';
import { atAddress } from '../../packages/service/src/providers/compatible-entry.ts';
import type { ResponseListener } from '../../packages/upstream-http/src/client.ts';
import type { ProviderCall } from '../../packages/service/src/providers/port/provider.ts';
import { chargeFor } from '../support/catalogue.ts';
import { chat } from '../support/client.ts';
import { billNamed } from '../support/receipts.ts';
import { setStage } from '../support/stage.ts';
import { waitUntil } from '../support/wait-until.ts';

const USAGE = {
  prompt_tokens: 41,
  completion_tokens: 29,
  total_tokens: 70,
  prompt_tokens_details: { cached_tokens: 8 },
};
const CHARGE = chargeFor({ prompt: 41, cached: 8, completion: 29 });
const HEAD = {
  id: 'chatcmpl-recorded',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'large-upstream',
};
const END = { '\n': '\n\n', '\r\n': '\r\n\r\n', '\r': '\r\r' } as const;
type LineEnd = keyof typeof END;

function chunk(delta: object, reason: string | null = null): string {
  return `data: ${JSON.stringify({ ...HEAD, choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] })}`;
}

function toolCall(fields: object): object {
  return { tool_calls: [fields] };
}

/** A stream as providers send it: comments, other fields, characters of one to four bytes, tool calls, usage. */
function recording(end: LineEnd): Buffer {
  const look = { index: 1, id: 'call_a', type: 'function', function: { name: 'look_up', arguments: '' } };
  const find = { index: 1, id: 'call_b', type: 'function', function: { name: 'find', arguments: '{"città":' } };
  const events = [
    ': welcome',
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: 'Größe, 東京, ' }),
    `id: 7${end}event: message${end}${chunk({ content: '\u{1F469}\u200D\u{1F680} and \\u00e9 \\"quoted\\"\n' })}`,
    ': ping',
    chunk(toolCall(look)),
    chunk(toolCall({ index: 1, function: { arguments: '{"q":"naïve ☕"' } })),
    chunk(toolCall({ index: 1, function: { arguments: '}' } })),
    chunk(toolCall(find)),
    chunk(toolCall({ index: 1, function: { arguments: '"Roma"}' } })),
    `retry: 100${end}${chunk({}, 'tool_calls')}`,
    `data: ${JSON.stringify({ ...HEAD, choices: [], usage: USAGE })}`,
    'data: [DONE]',
  ];
  return Buffer.from(events.map((event) => event + END[end]).join(''));
}

const PRICE = {
  priceId: 1n,
  inputMicrosPerMillion: 1_000_000n,
  cachedInputMicrosPerMillion: 250_000n,
  cacheWriteMicrosPerMillion: 0n,
  outputMicrosPerMillion: 4_000_000n,
  marginBasisPoints: 1_000n,
};
const UPSTREAM = { price: PRICE } as Upstream;
const CALL = {
  callId: newCallId(),
  model: {
    id: 'acme.large-1',
    minOutputTokens: 16,
    contextTokens: 128_000,
    tokenizer: 'o200k',
  } as unknown as Model,
  upstreams: [UPSTREAM],
  reply: chatReply,
  wantsUsage: true,
  choices: 1,
  prompt: { tokensMax: 1_000, tokensEstimated: 20, prompts: 1 },
  outputTokensAsked: 1_000,
  outputTokensMax: 1_000,
} as unknown as ChatCall;
const PROVIDER_CALL: ProviderCall = {
  request: {},
  requestText: '{}',
  providerModel: 'large-upstream',
  outputTokens: 1_000,
  outputLimitParameter: 'max_tokens',
  timeoutMs: 1_000,
};

/** Runs the adapter and the tally on these parts. Returns all frames and the charge. */
async function relayed(...buffers: readonly Buffer[]): Promise<{ readonly frames: string; readonly charge: bigint }> {
  const left = [...buffers];
  const text = new Utf8Decoder();
  const listen = (listener: ResponseListener | undefined) => {
    if (listener === undefined) return;
    for (const next of left.splice(0)) {
      const part = text.decode(next) ?? assert.fail('no UTF-8');
      if (part !== '') listener.onText(part);
    }
    listener.onEnd();
  };
  const response = { status: 200, listen, readError: noError, finish: () => {}, discard: () => {} };
  const endpoint = () => ({
    postStreamed: async () => response,
    postBuffered: () => assert.fail('this test makes no plain call'),
  });
  const http = { endpoint, close: () => {} };
  const provider = atAddress(http, 'http://provider.test/v1', undefined);
  const tally = createStreamTally({ call: CALL, granted: micros(10_000n) }, { upstream: UPSTREAM });
  let frames = '';
  const chunks = await provider.stream(PROVIDER_CALL, new AbortController().signal);
  await chunks.rest((next) => {
    for (const one of next) frames += tally.take(one);
    return true;
  });
  assert.ok(tally.isFinished());
  const { charge } = tally.endingAs('answered');
  return { frames: frames + tally.cutFrames() + chatReply.endFrames(tally.end(), charge), charge };
}

for (const [name, end] of [
  ['LF', '\n'],
  ['CRLF', '\r\n'],
  ['CR', '\r'],
] as const) {
  test(`CC-11 a stream with ${name} ends may be split anywhere`, async (t) => {
    const bytes = recording(end);
    const whole = await relayed(bytes);
    assert.equal(whole.charge, BigInt(CHARGE));
    assert.equal(whole.frames, (await relayed(recording('\n'))).frames);
    for (let at = 1; at < bytes.length; at += 1) {
      assert.deepEqual(await relayed(bytes.subarray(0, at), bytes.subarray(at)), whole, `split at byte ${at}`);
    }
    const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
    assert.deepEqual(await relayed(...single), whole, 'byte by byte');
    t.diagnostic(`${bytes.length} bytes`);
  });
}

test('CC-13 the recorded tool calls come out in order', async () => {
  const { frames } = await relayed(recording('\r\n'));
  const told = [...frames.matchAll(/"tool_calls":\[(.*?)\]\},"logprobs"/g)].map(
    ([, call]) => JSON.parse(call ?? '') as object,
  );
  assert.deepEqual(told, [
    { index: 0, id: 'call_a', type: 'function', function: { name: 'look_up', arguments: '' } },
    { index: 0, function: { arguments: '{"q":"naïve ☕"' } },
    { index: 0, function: { arguments: '}' } },
    { index: 1, id: 'call_b', type: 'function', function: { name: 'find', arguments: '{"città":' } },
    { index: 1, function: { arguments: '"Roma"}' } },
  ]);
});

const { upstream, service, app, newUser } = await setStage({ app: { maxStreamsPerUser: 1 } });
const STEP = 50;

test('CC-11 over HTTP a stream may be split anywhere', async () => {
  const bytes = recording('\r\n');
  const places = Array.from({ length: Math.floor((bytes.length - 1) / STEP) }, (_, index) => (index + 1) * STEP);
  const texts = new Set<string>();
  for (const at of places) {
    const user = await newUser(100_000);
    upstream.script({ body: [{ write: bytes.subarray(0, at) }, { waitMs: 2 }, { write: bytes.subarray(at) }] });
    const options = { url: service.url, key: app.liveKey, user, headers: { 'x-correlation-id': user } };
    const reply = await chat(options, { stream: true, stream_options: { include_usage: true } });
    texts.add(withoutCallId(reply.text));
    const bill = await waitUntil('it is settled', () => billNamed(service.database, user));
    assert.equal(bill.charged, CHARGE, `split at byte ${at}`);
  }
  assert.equal(texts.size, 1);
  const [text = ''] = texts;
  assert.equal(text, withoutCallId((await relayed(bytes)).frames));
  assert.deepEqual(await service.check(), []);
});

function withoutCallId(frames: string): string {
  return frames.replace(/ call-id=\S+/, '');
}

function noError(): never {
  assert.fail('this test has no error');
}
