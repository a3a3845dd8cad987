import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createIdempotencyDigests } from '#idempotency/idempotency-key.ts';
import { endKept, joinEarlier } from '#gateway/retries/retries.ts';
import { parseIdempotencyKey, type RetryMarks } from '#gateway/request/validate-call.ts';
import type { CallerSide, ChatCall } from '#gateway/call/call.ts';
import type { Hold, Lane } from '#gateway/call/lane.ts';
import { type AppId, type EndUserId, newCallId } from '#kernel/values/ids.ts';
import { micros } from '#kernel/values/micros.ts';
import { Refusal } from '#kernel/faults/refusal.ts';

const digests = createIdempotencyDigests(Buffer.alloc(32, 1));
const SCOPE = {
  appId: 'app_1' as AppId,
  mode: 'live',
  userId: 'anna' as EndUserId,
  wire: 'chat',
  isStream: false,
} as const;

function keyOf(headers: Partial<RetryMarks>, more: object = {}, body = 'body') {
  const marks = { idempotencyKey: undefined, retryCount: undefined, joinSeconds: null, ...headers };
  const idempotencyKey = parseIdempotencyKey(digests, marks, { ...SCOPE, body: () => Buffer.from(body), ...more });
  assert.ok(!(idempotencyKey instanceof Refusal));
  return idempotencyKey;
}

const digestOf = (...of: Parameters<typeof keyOf>) => keyOf(...of)?.digest.toString('hex');

test('CC-14 a call is retryable by key or stock retry count', () => {
  assert.equal(keyOf({}), undefined);
  assert.equal(keyOf({ retryCount: '2' }, { isStream: true }), undefined);
  assert.equal(keyOf({ retryCount: '0' })?.joins, false);
  assert.equal(keyOf({ retryCount: 'odd' })?.joins, false);
  assert.equal(keyOf({ retryCount: '1' })?.joins, true);
  assert.equal(keyOf({ idempotencyKey: 'k' }, { isStream: true })?.joins, true);
});

test('CC-14 a retry matches app, mode, user and key or body', () => {
  const key = { idempotencyKey: 'k' };
  assert.equal(digestOf(key), digestOf(key, {}, 'other'));
  const others = [{ mode: 'sandbox' }, { appId: 'app_2' }, { userId: 'Anna' }].map((more) => digestOf(key, more));
  const marked = { retryCount: '1' };
  const bodies = [digestOf(marked), digestOf(marked, {}, 'other'), digestOf(marked, { userId: 'Anna' })];
  bodies.push(digestOf(marked, { wire: 'messages' }), digestOf({ joinSeconds: 9 }, { wire: 'messages' }));
  const all = [digestOf(key), digestOf({ idempotencyKey: 'body' }), ...others, ...bodies];
  assert.equal(new Set(all).size, all.length);
  assert.equal(digestOf(marked), digestOf({ retryCount: '0' }));
});

test('ER-05 CC-14 a retry waits 25 seconds, then is told to retry later', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const earlier = { kind: 'earlier', state: 'running', callId: newCallId() } as const;
  let looks = 0;
  const lane = {
    place: async () => {
      looks += 1;
      return earlier;
    },
  } as unknown as Lane<'live'>;
  const call = {} as ChatCall;
  const waiting = { callers: 0 };
  const gone = new AbortController();
  const caller = { gone: gone.signal, idempotency: { waiting } } as unknown as CallerSide;
  let waitedMs = 0;
  let isOver = false;
  const placing = joinEarlier(lane, { call, caller, earlier }).finally(() => (isOver = true));
  const goesOn = () => !isOver && waitedMs < 60_000;
  for (; goesOn(); waitedMs += 25) {
    await new Promise(setImmediate);
    t.mock.timers.tick(25);
  }
  const placed = await placing;
  assert.ok(placed.kind === 'refused');
  assert.deepEqual([placed.refusal.code, placed.refusal.detail], ['CONFLICT', { retryAfterSeconds: 1 }]);
  assert.doesNotMatch(placed.refusal.message, /idempotency.key/, 'a stock client sends no key, only the same body');
  assert.ok(waitedMs >= 25_000 && waitedMs <= 25_300, String(waitedMs));
  assert.ok(looks <= 130, String(looks));
  assert.equal(waiting.callers, 0);

  looks = 0;
  gone.abort();
  await joinEarlier(lane, { call, caller, earlier });
  assert.equal(looks, 0, 'a call whose caller has left does not wait');

  const crowded = { gone: new AbortController().signal, idempotency: { waiting: { callers: 1_000 } } };
  const refused = await joinEarlier(lane, { call, caller: crowded as unknown as CallerSide, earlier });
  assert.ok(refused.kind === 'refused' && refused.refusal.code === 'CONFLICT');
});

test('CC-25 an answer that was kept as its call ended says so, and is kept no more', async () => {
  for (const [isGone, isJoined, kept] of [
    [true, false, 1],
    [false, true, 1],
    [false, false, 0],
  ] as const) {
    let keeps = 0;
    const settle = async (_hold: unknown, _ending: unknown, when: string) => ({
      charged: micros(7n),
      ...(isJoined && when === 'unless-joined' && { isJoined: true }),
    });
    const hold = { call: { callId: 'c', idempotencyKey: { isKeyed: false } } } as unknown as Hold<'live'>;
    const answers = { keep: async () => void (keeps += 1) };
    const ended = {
      hold,
      ending: { outcome: 'answered' },
      caller: { gone: { aborted: isGone }, idempotency: { answers } },
    } as unknown as Parameters<typeof endKept<'live'>>[1];
    const text = { callId: 'c' } as unknown as ReturnType<Parameters<typeof endKept>[2]>;
    const { isKept = false } = await endKept({ settle } as unknown as Lane<'live'>, ended, () => text);
    assert.deepEqual([isKept, keeps], [kept === 1, kept], `gone ${isGone}, joined ${isJoined}`);
  }
});
