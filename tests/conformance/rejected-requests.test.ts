import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import { createRejections } from '../../packages/service/src/gateway/idempotency/rejections.ts';
import { createIdempotencyDigests } from '../../packages/service/src/idempotency/idempotency-key.ts';
import type { AppId, EndUserId } from '../../packages/service/src/kernel/ids.ts';
import { UpstreamError } from '../../packages/service/src/providers/provider.ts';
import { chat, type Reply } from '../support/client.ts';
import { setStage } from '../support/stage.ts';

/** Requests that the provider rejects for their content. */

const { service, upstream, app, newUser } = await setStage();
const CANARY = 'canary-of-the-provider';
const rejecting = (status: number) => ({ status, body: JSON.stringify({ error: { message: CANARY } }) });

/** Sends the same body three times, like clients that retry a 502 and ignore its headers. */
async function thrice(fields: object = {}): Promise<{ readonly asked: number; readonly replies: readonly Reply[] }> {
  const user = await newUser(1_000_000);
  const before = upstream.requests.length;
  const replies: Reply[] = [];
  for (let time = 0; time < 3; time += 1) {
    replies.push(await chat({ url: service.url, key: app.liveKey, user }, { ...fields, seed: 1 }));
  }
  assert.deepEqual(await service.wallet(app, user), { balance: 1_000_000, held: 0, openStreams: 0 });
  return { asked: upstream.requests.length - before, replies };
}

for (const status of [400, 404, 422]) {
  for (const stream of [false, true]) {
    test(`CC-15 a ${stream ? 'streamed' : 'buffered'} request that the provider answers ${status} reaches it once`, async () => {
      upstream.script(rejecting(status));
      const { asked, replies } = await thrice({ stream });
      assert.equal(asked, 1);
      for (const { status: answered, error, headers, text } of replies) {
        assert.deepEqual([answered, error['code']], [502, 'UPSTREAM_PROVIDER_ERROR']);
        assert.equal(headers.get('x-should-retry'), 'false');
        assert.equal(error['message'], replies[0]?.error['message']);
        assert.ok(!text.includes(CANARY));
      }
    });
  }
}

for (const status of [401, 403, 408, 413, 429, 500, 503]) {
  test(`CC-15 a provider's ${status} is not remembered`, async () => {
    upstream.script(rejecting(status));
    assert.equal((await thrice()).asked, 3);
  });
}

test('CC-15 a remembered rejection applies to one user, body and model only', async () => {
  const [user, other] = [await newUser(1_000_000), await newUser(1_000_000)];
  upstream.script(rejecting(400));
  const before = upstream.requests.length;
  const ask = (who: string, fields: object = {}) =>
    chat({ url: service.url, key: app.liveKey, user: who }, { ...fields });
  await ask(user);
  await ask(user);
  assert.equal(upstream.requests.length - before, 1);
  await ask(other);
  await ask(user, { temperature: 1 });
  assert.equal(upstream.requests.length - before, 3);
  const sandboxed = await chat({ url: service.url, key: app.testKey, user });
  assert.equal(sandboxed.status, 200);
});

test('CC-15 a stock client that ignores `x-should-retry` reaches the provider once', async () => {
  const user = await newUser(1_000_000);
  upstream.script(rejecting(422));
  const before = upstream.requests.length;
  const client = new OpenAI({
    baseURL: `${service.url}/v1`,
    apiKey: app.liveKey,
    defaultHeaders: { 'x-service-user': user },
    maxRetries: 2,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      const headers = new Headers(response.headers);
      headers.delete('x-should-retry');
      headers.set('retry-after-ms', '10');
      return new Response(response.body, { status: response.status, headers });
    },
  });
  const create = client.chat.completions.create({ model: 'large', messages: [{ role: 'user', content: 'Hi' }] });
  await assert.rejects(create, { status: 502 });
  assert.equal(upstream.requests.length - before, 1);
});

function callOf(seed: number) {
  const call = { app: { appId: 'app_1' as AppId }, userId: 'u' as EndUserId, model: { id: 'acme.m' } };
  return { call, asked: { request: { seed } } };
}

test('CC-15 a rejection is forgotten after five seconds, and the oldest goes when there are too many', () => {
  const clock = { ms: 0, nowMs: () => clock.ms };
  const rejections = createRejections(createIdempotencyDigests(Buffer.alloc(32)), clock);
  const reject = (seed: number): void =>
    rejections.note('live', callOf(seed), new UpstreamError('rejected', 'made by a test'));
  for (const other of [new UpstreamError('refused', 'made by a test'), new Error('made by a test')]) {
    rejections.note('live', callOf(1), other);
    assert.equal(rejections.has('live', callOf(1)), false);
  }
  reject(1);
  clock.ms = 4_999;
  assert.deepEqual([rejections.has('live', callOf(1)), rejections.has('sandbox', callOf(1))], [true, false]);
  clock.ms = 5_000;
  assert.equal(rejections.has('live', callOf(1)), false);
  for (let seed = 0; seed <= 10_000; seed += 1) reject(seed);
  assert.deepEqual([rejections.has('live', callOf(0)), rejections.has('live', callOf(1))], [false, true]);
});
