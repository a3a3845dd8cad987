import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallNotes } from '#gateway/call/call-notes.ts';
import type { Asked, CallerSide, ChatCall } from '#gateway/call/call.ts';
import { createDrains } from '#gateway/stream/drains.ts';
import { STREAM_PACE } from '#gateway/stream/keep-alive.ts';
import type { Ending, Hold, Lane } from '#gateway/call/lane.ts';
import { openStream } from '#gateway/stream/stream.ts';
import { chatReply } from '#gateway/wires/chat/chat.ts';
import { createSingleRoute } from '#gateway/upstream/single-route.ts';
import { FAILED } from '#gateway/usage/ending.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import { newCallId } from '#kernel/values/ids.ts';
import { createLog } from '#kernel/log.ts';
import { micros, ZERO_MICROS } from '#kernel/values/micros.ts';
import { type StreamChunk, UpstreamError } from '#providers/port/provider.ts';
import { sourceOf } from '#gateway/lanes/chunk-source.ts';

const price = {
  priceId: 1n,
  inputMicrosPerMillion: 1n,
  cachedInputMicrosPerMillion: 1n,
  cacheWriteMicrosPerMillion: 1n,
  outputMicrosPerMillion: 1n,
  marginBasisPoints: 0n,
};
const call = {
  callId: newCallId(),
  model: { contextTokens: 1_000, tokenizer: 'o200k' },
  upstreams: [{ price, onAbandon: 'cancel', timeoutMs: 1_000 }],
  prompt: { tokensMax: 1, tokensEstimated: 1, prompts: 1 },
  choices: 1,
  outputTokensAsked: 1,
  outputTokensMax: 1,
  reply: chatReply,
} as unknown as ChatCall;
const [upstream] = call.upstreams;
const asked: Asked = { request: {}, requestText: '{}' };

test('CC-09 a stream without a provider releases its hold', async () => {
  const endings: Ending[] = [];
  const lane = {
    mode: 'live',
    place: () => assert.fail('it holds already'),
    settle: async (_hold: unknown, ending: Ending) => {
      endings.push(ending);
      return { charged: ZERO_MICROS };
    },
    providerOf: () => {
      throw new Error('There is none.');
    },
    offerSlot: () => () => {},
  } as unknown as Lane<'live'>;
  const caller = {
    gone: new AbortController().signal,
    log: createLog('silent'),
    rejections: { note: () => {} },
    drains: createDrains(),
    pace: STREAM_PACE,
    notes: new CallNotes({ name: 'chat', path: '/v1/chat/completions', takesLargeBodies: false }),
  } as unknown as CallerSide;
  const hold: Hold<'live'> = { mode: 'live', call, granted: micros(10n) };
  await assert.rejects(openStream(lane, { hold, asked, route: createSingleRoute(hold) }, caller), /There is none/);
  assert.deepEqual(endings, [FAILED]);
});

test('CC-14 a caller leaving during settlement starts no drain', async () => {
  const gone = new AbortController();
  let offered = 0;
  const choice = { index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' } as const;
  const chunk = { choices: [choice], usage: undefined, extra: {} };
  const lane = {
    mode: 'live',
    settle: async (_hold: unknown, ending: Ending) => {
      gone.abort();
      return { charged: ending.charge };
    },
    providerOf: () => ({
      stream: async () =>
        sourceOf(
          (async function* () {
            yield [chunk];
          })(),
        ),
    }),
    offerSlot: () => {
      offered += 1;
      return () => {};
    },
  } as unknown as Lane<'live'>;
  const caller = {
    gone: gone.signal,
    log: createLog('silent'),
    drains: createDrains(),
    pace: STREAM_PACE,
    notes: new CallNotes({ name: 'chat', path: '/v1/chat/completions', takesLargeBodies: false }),
  } as unknown as CallerSide;
  const drained = { ...call, upstreams: [{ ...upstream, onAbandon: 'drain' }] } as unknown as ChatCall;
  const hold: Hold<'live'> = { mode: 'live', call: drained, granted: micros(10n) };
  const answer = await openStream(lane, { hold, asked, route: createSingleRoute(hold) }, caller);
  assert.ok('run' in answer);
  await answer.run({ write: async () => {}, end: async () => {}, fail: async () => {} });
  assert.deepEqual([gone.signal.aborted, offered], [true, 0]);
});

/** A live lane whose provider streams these chunks. It notes how the calls end. */
function laneOf(
  endings: Ending[],
  chunks: () => AsyncGenerator<readonly StreamChunk[], void, undefined>,
): Lane<'live'> {
  return {
    mode: 'live',
    settle: async (_hold: unknown, ending: Ending) => {
      endings.push(ending);
      return { charged: ending.charge };
    },
    providerOf: () => ({ stream: async () => sourceOf(chunks()) }),
    offerSlot: () => () => {},
  } as unknown as Lane<'live'>;
}

function callerOf(gone: AbortSignal, pace: typeof STREAM_PACE): CallerSide {
  return {
    gone,
    log: createLog('silent'),
    rejections: { note: () => {} },
    drains: createDrains(),
    pace,
    notes: new CallNotes({ name: 'chat', path: '/v1/chat/completions', takesLargeBodies: false }),
  } as unknown as CallerSide;
}

test('CC-11 a provider lost behind a stalled caller is paid', async (t) => {
  let nowMs = 0;
  t.mock.method(steadyClock, 'nowMs', () => (nowMs += 5));
  const endings: Ending[] = [];
  for (const heldUpMsMax of [1, 60_000]) {
    const choice = { index: 0, delta: { content: 'Hi' }, finish_reason: null } as const;
    const chunk = { choices: [choice], usage: undefined, extra: {} };
    const lane = laneOf(endings, async function* () {
      yield [chunk];
      throw new UpstreamError('outage', 'The connection was lost.');
    });
    const caller = callerOf(new AbortController().signal, { ...STREAM_PACE, heldUpMsMax });
    const hold: Hold<'live'> = { mode: 'live', call, granted: micros(10n) };
    const answer = await openStream(lane, { hold, asked, route: createSingleRoute(hold) }, caller);
    assert.ok('run' in answer);
    const last: string[] = [];
    await answer.run({
      write: async () => {},
      end: async (frames) => void last.push(frames),
      fail: async () => {},
    });
    assert.equal(/"finish_reason":"length".*\[DONE\]/s.test(last.join('')), heldUpMsMax === 1, last.join(''));
  }
  assert.deepEqual(
    endings.map(({ outcome, usage }) => [outcome, usage.completionTokens]),
    [
      ['answered', 1],
      ['failed', 0],
    ],
  );
});

for (const leaves of [false, true]) {
  test(`WA-07 a stream at a price that is none of its call’s is free${leaves ? ', if its caller leaves too' : ''}`, async () => {
    const gone = new AbortController();
    const endings: Ending[] = [];
    const choice = { index: 0, delta: { content: 'Hi' }, finish_reason: leaves ? null : 'stop' } as const;
    const lane = laneOf(endings, async function* () {
      yield [{ choices: [choice], usage: undefined, extra: {} }];
      if (!leaves) return;
      gone.abort();
      throw new UpstreamError('given-up', 'Nobody reads on.');
    });
    const caller = callerOf(gone.signal, STREAM_PACE);
    const hold: Hold<'live'> = { mode: 'live', call, granted: micros(10n) };
    const route = { ...createSingleRoute(hold), upstream: { ...upstream, price: { ...price, priceId: 2n } } };
    const answer = await openStream(lane, { hold, asked, route }, caller);
    assert.ok('run' in answer);
    await answer.run({ write: async () => {}, end: async () => {}, fail: async () => {} });
    assert.deepEqual(endings, [FAILED]);
  });
}
