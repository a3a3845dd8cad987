import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newCallId } from '#kernel/values/ids.ts';
import { micros, ZERO_MICROS } from '#kernel/values/micros.ts';
import { assertBookable, type Settlement } from '#ledger/settlement/settlement.ts';
import { settledCallOf } from '#ledger/settlement/settling.ts';

const usage = { promptTokens: 10, cachedTokens: 4, cacheWriteTokens: 3, completionTokens: 8, reasoningTokens: 5 };
const rare = {
  cacheWriteLongTokens: 1,
  audioInputTokens: 1,
  imageInputTokens: 1,
  audioOutputTokens: 2,
  imageOutputTokens: 1,
  searches: 9,
};
const right: Settlement = {
  callId: newCallId(),
  charge: micros(7n),
  outcome: 'answered',
  model: 'acme.large-1',
  priceId: 1n,
  isEstimated: false,
  isUsageClamped: false,
  usage: { ...usage, rare },
  correlationId: undefined,
};
const wrong: Readonly<Record<string, { readonly change: Partial<Settlement>; readonly says: RegExp }>> = {
  'a failed call has a charge': { change: { outcome: 'failed' }, says: /failed is free/ },
  'a charge has no price': { change: { priceId: undefined }, says: /a model and a price/ },
  'a charge has no model': { change: { model: undefined }, says: /a model and a price/ },
  'more is cached than was sent': { change: { usage: { ...usage, cachedTokens: 8 } }, says: /parts of a prompt/ },
  'more was heard than was sent': {
    change: { usage: { ...usage, rare: { ...rare, audioInputTokens: 2 } } },
    says: /parts of a prompt/,
  },
  'more was thought than was said': { change: { usage: { ...usage, reasoningTokens: 9 } }, says: /parts of an answer/ },
  'more was drawn than was said': {
    change: { usage: { ...usage, rare: { ...rare, imageOutputTokens: 2 } } },
    says: /parts of an answer/,
  },
  'a count is no number': { change: { usage: { ...usage, cachedTokens: Number.NaN } }, says: /parts of a prompt/ },
};

test('WA-07 a settlement that can be true may be booked', () => {
  assertBookable(right);
  assertBookable({ ...right, outcome: 'failed', charge: ZERO_MICROS, model: undefined, priceId: undefined });
});

for (const [name, { change, says }] of Object.entries(wrong)) {
  test(`WA-07 a settlement is not booked if ${name}`, () => {
    assert.throws(() => assertBookable({ ...right, ...change }), says);
  });
}

test('WA-07 a charge above what its settlement says is not taken', () => {
  const row = { call_id: right.callId, is_settled: true, charged: 7n, is_joined: false };
  assert.deepEqual(settledCallOf(row, right), { charged: 7n });
  assert.throws(() => settledCallOf({ ...row, charged: 8n }, right), /at most what its settlement says/);
  const before = { ...row, charged: 8n, is_settled: false }; // It had ended before, with another settlement.
  assert.deepEqual(settledCallOf(before, { charge: ZERO_MICROS }), { charged: 8n });
});
