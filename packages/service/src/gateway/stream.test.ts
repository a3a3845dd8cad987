import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallerSide, ChatCall } from '#gateway/call.ts';
import { createDrains } from '#gateway/drains.ts';
import { STREAM_PACE } from '#gateway/keep-alive.ts';
import type { Ending, Hold, Lane } from '#gateway/lane.ts';
import { openStream } from '#gateway/stream.ts';
import { FAILED } from '#gateway/usage.ts';
import { newCallId } from '#kernel/ids.ts';
import { createLog } from '#kernel/log.ts';
import { micros, ZERO_MICROS } from '#kernel/micros.ts';

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
  model: { price, onAbandon: 'cancel', timeoutMs: 1_000 },
  prompt: { tokensMax: 1, tokensEstimated: 1 },
  choices: 1,
  outputTokensMax: 1,
} as ChatCall;

test('CC-09 a stream whose provider’s client cannot be had is a fault, and its hold is ended', async () => {
  const endings: Ending[] = [];
  const lane = {
    mode: 'live',
    placeHold: () => assert.fail('it holds already'),
    endHold: async (_hold: unknown, ending: Ending) => {
      endings.push(ending);
      return ZERO_MICROS;
    },
    providerOf: () => {
      throw new Error('There is none.');
    },
    offerSlot: () => () => {},
  } as unknown as Lane<'live'>;
  const caller = {
    gone: new AbortController().signal,
    log: createLog('silent'),
    underWay: { calls: 0 },
    drains: createDrains(),
    pace: STREAM_PACE,
  } as unknown as CallerSide;
  const hold: Hold<'live'> = { mode: 'live', call, granted: micros(10n) };
  await assert.rejects(openStream(lane, hold, caller), /There is none/);
  assert.deepEqual(endings, [FAILED]);
});
