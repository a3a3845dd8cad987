import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { callOf, HELLO, joined, messageOf, setGeminiStage, streamOf } from './gemini/stage.ts';
import { FAILURES } from './gemini/wire.ts';
import { fixedKey } from '../../../packages/service/src/providers/keys/key-source.ts';
import { UpstreamError } from '../../../packages/service/src/providers/port/provider.ts';

const { server, provider, gemini, both } = await setGeminiStage();

test('CC-11 ER-03 every finish reason is mapped, failures never to `stop`', async () => {
  const told = { STOP: 'stop', MAX_TOKENS: 'length', SAFETY: 'content_filter', RECITATION: 'content_filter' };
  const withheld = ['PROHIBITED_CONTENT', 'BLOCKLIST', 'SPII', 'LANGUAGE', 'IMAGE_SAFETY', 'MODEL_ARMOR'];
  for (const [reason, ours] of [...Object.entries(told), ...withheld.map((one) => [one, 'content_filter'] as const)]) {
    const { completion, joined } = await both({ ...HELLO, finishReason: reason });
    assert.deepEqual([reason, completion.choices[0]!.finish_reason, joined.reason], [reason, ours, ours]);
  }
  for (const reason of ['OTHER', 'MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'NEW_REASON']) {
    server.script({ ...HELLO, finishReason: reason });
    await assert.rejects(provider.complete(callOf({})), { kind: 'cut' }, reason);
    await assert.rejects(streamOf(provider, callOf({})), { kind: 'cut' }, reason);
  }
  // An answer that says something was billed; a stream without a reason may have broken off.
  server.script({ ...HELLO, finishReason: null });
  assert.equal((await provider.complete(callOf({}))).choices[0]?.finish_reason, 'stop');
  await assert.rejects(streamOf(provider, callOf({})), { kind: 'cut' });
  const usage = { promptTokenCount: 20, totalTokenCount: 20 };
  const blocked = await both({ blockReason: 'PROHIBITED_CONTENT', usage });
  assert.deepEqual(
    [blocked.completion.choices[0]!.finish_reason, blocked.joined.reason],
    ['content_filter', 'content_filter'],
  );
  assert.deepEqual([blocked.joined.usage?.counts.prompt, blocked.joined.usage?.counts.completion], [20, 0]);
});

test('CC-09 CC-17 ER-03 each failure keeps the kind and wait Google gives', async () => {
  const kinds = [
    ['exhausted', 'throttled', 17.4],
    ['contextOverflow', 'too-long', undefined],
    ['keyInvalid', 'unauthorized', undefined],
    ['noPermission', 'unauthorized', undefined],
    ['notFound', 'unauthorized', undefined],
    ['notServedHere', 'unauthorized', undefined],
    ['overloaded', 'outage', undefined],
    ['internal', 'outage', undefined],
  ] as const;
  for (const [name, kind, retryAfterSeconds] of kinds) {
    const error = FAILURES[name];
    server.script({ error });
    for (const call of [() => provider.complete(callOf({})), () => streamOf(provider, callOf({}))]) {
      await assert.rejects(call(), (fault) => {
        assert.ok(fault instanceof UpstreamError);
        assert.deepEqual(
          [name, fault.kind, fault.status, fault.retryAfterSeconds],
          [name, kind, error.code, retryAfterSeconds],
        );
        assert.ok(!inspect(fault).includes(error.message), inspect(fault));
        return true;
      });
    }
  }
  const refused: string[] = [];
  const key = { ...fixedKey('gemini', 'wrong'), refused: (one: string) => void refused.push(one) };
  const wrong = gemini(key);
  await assert.rejects(wrong.complete(callOf({})), { kind: 'unauthorized', status: 400 });
  assert.deepEqual(refused, ['wrong'], 'a key that is read from a file is read again');
  server.script(HELLO);
  await assert.rejects(provider.complete(callOf({ stop: ['1', '2', '3', '4', '5', '6'] })), { kind: 'rejected' });
});

test('CC-11 a stream broken after its first chunk is a failure', async () => {
  const breaks = [
    [FAILURES.exhausted, 'throttled'],
    [FAILURES.overloaded, 'outage'],
    ['end', 'cut'],
    ['reset', 'outage'],
  ] as const;
  for (const [breakBy, kind] of breaks) {
    server.script({ ...HELLO, breakBy });
    await assert.rejects(streamOf(provider, callOf({})), { kind });
  }
});

test('WA-07 an unfinished answer is not continued', async () => {
  server.script({ ...HELLO, finishReason: 'CONTINUATION', continuationToken: 'more' });
  const before = server.requests.length;
  const completion = await provider.complete(callOf({}));
  const { content, reason, usage } = joined(await streamOf(provider, callOf({})));
  assert.equal(server.requests.length - before, 2, 'one request for each call');
  assert.deepEqual(
    [messageOf(completion)['content'], completion.choices[0]!.finish_reason],
    ['Good morning.', 'length'],
  );
  assert.deepEqual([content, reason], ['Good morning.', 'length']);
  assert.deepEqual([completion.usage?.counts.total, usage?.counts.total], [32, 32]);
});
