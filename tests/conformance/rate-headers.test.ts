import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withVectors } from '../support/catalogue.ts';
import { chat, type Reply, send } from '../support/client.ts';
import { callRoute, DATA_PLANE } from '../support/every-route-refuses.ts';
import { assertRefusal } from '../support/refusal.ts';
import { streamSteps } from '../support/scripted-upstream.ts';
import type { TestApp } from '../support/service.ts';
import { sql } from '../support/sql.ts';
import { setStage } from '../support/stage.ts';
import { emptyBucket } from '../support/violations.ts';
import { sayingToAll } from '../support/wires.ts';

/** The rate-limit headers of every data-plane answer that was sent after the app's bucket was checked. */

const { upstream, service } = await setStage({ catalogue: withVectors });
const usage = { prompt_tokens: 1, completion_tokens: 1 };
upstream.script((request) => {
  const isStream = (request.body as Record<string, unknown>)['stream'] === true;
  if (isStream) return { body: streamSteps({ model: 'm', usage, pieces: ['Hi'], includeUsageChunk: true }) };
  return sayingToAll('Hi', usage)(request);
});

/** One token a second and a bucket for 100 that holds `tokens`; its last refill is in the future. */
async function appWithTokens(tokens: number): Promise<TestApp> {
  const app = await service.addApp({ ratePerMinute: 60, rateBurst: 100 });
  await service.fund(app, 'u', 1_000_000);
  await emptyBucket(service, app);
  await sql(service)`update limits.buckets set units = ${BigInt(tokens * 60_000_000)} where app_id = ${app.appId}`;
  return app;
}

function headersOf({ headers }: Reply): Readonly<Record<string, string | null>> {
  const names = [
    'ratelimit-policy',
    'ratelimit',
    ...['limit', 'remaining', 'reset'].map((one) => `x-ratelimit-${one}-requests`),
  ];
  return Object.fromEntries(names.map((name) => [name, headers.get(name)]));
}

function assertTold(reply: Reply, left: number, reset: number, about: string): void {
  assert.deepEqual(
    headersOf(reply),
    {
      'ratelimit-policy': '"app";q=100;w=100',
      ratelimit: `"app";r=${left};t=${reset}`,
      'x-ratelimit-limit-requests': '100',
      'x-ratelimit-remaining-requests': String(left),
      'x-ratelimit-reset-requests': `${reset}s`,
    },
    about,
  );
}

test('LI-01 every route’s good answer shows tokens left and reset', async () => {
  for (const route of DATA_PLANE) {
    const app = await appWithTokens(50);
    for (const left of [49, 48]) {
      const reply = await callRoute(route, { url: service.url, key: app.liveKey, user: 'u' });
      assert.equal(reply.status, route.status ?? 200, reply.text);
      assertTold(reply, left, 100 - left, route.name);
    }
  }
});

test('LI-01 streams and sandbox answers show the shared bucket', async () => {
  const app = await appWithTokens(50);
  for (const [key, stream, left] of [
    [app.liveKey, true, 49],
    [app.testKey, true, 48],
    [app.testKey, false, 47],
  ] as const) {
    const reply = await chat({ url: service.url, key, user: 'u' }, { stream });
    assert.equal(reply.status, 200, reply.text);
    assertTold(reply, left, 100 - left, `stream ${stream}`);
  }
});

test('LI-01 only refusals after the bucket check show it', async () => {
  const app = await appWithTokens(50);
  const options = { url: service.url, key: app.liveKey, user: 'u' };
  upstream.script({ status: 500, body: '{}' });
  const refused: readonly (readonly [string, () => Promise<Reply>])[] = [
    ['BAD_REQUEST', () => chat(options, { model: 'unheard-of' })],
    ['BAD_REQUEST', () => chat({ ...options, user: 'a b' })],
    ['BAD_REQUEST', () => chat({ ...options, body: '{' })],
    ['MODEL_NOT_ENTITLED', () => chat(options, { model: 'secret' })],
    ['PAYMENT_REQUIRED', () => chat({ ...options, user: 'nobody' })],
    ['NOT_FOUND', () => send('/v1/models/unheard-of', options)],
    ['UPSTREAM_PROVIDER_ERROR', () => chat(options)],
    ['UPSTREAM_PROVIDER_ERROR', () => chat(options, { stream: true })],
  ];
  for (const [index, [code, act]] of refused.entries()) {
    const reply = await act();
    assert.equal(reply.error['code'], code, reply.text);
    assertTold(reply, 49 - index, 51 + index, code);
  }
  const unasked: readonly (readonly [number, () => Promise<Reply>])[] = [
    [401, () => chat({ ...options, key: 'svc_live_unknown' })],
    [413, () => chat({ ...options, body: Buffer.alloc(1_048_577, 0x20) })],
    [404, () => send('/nowhere', options)],
  ];
  for (const [status, act] of unasked) {
    const reply = await act();
    assert.equal(reply.status, status);
    assert.deepEqual(new Set(Object.values(headersOf(reply))), new Set([null]));
  }
});

test('LI-01 an empty bucket reports its wait in both units', async () => {
  const app = await appWithTokens(0);
  for (let count = 0; count < 3; count += 1) {
    const reply = await send('/v1/models', { url: service.url, key: app.liveKey });
    assertRefusal(reply, { code: 'TOO_MANY_REQUESTS' });
    assert.equal(reply.headers.get('retry-after'), '1');
    const exactMs = Number(reply.headers.get('retry-after-ms'));
    assert.ok(Number.isInteger(exactMs) && exactMs >= 1 && exactMs <= 1_000, `${exactMs}`);
    assertTold(reply, 0, 1, 'empty');
  }
});

test('LI-01 a fractional wait is reported to the millisecond', async () => {
  const app = await appWithTokens(0.4);
  const reply = await send('/v1/models', { url: service.url, key: app.liveKey });
  assertRefusal(reply, { code: 'TOO_MANY_REQUESTS' });
  assert.deepEqual([reply.headers.get('retry-after'), reply.headers.get('retry-after-ms')], ['1', '600']);
});

test('LI-01 the slowest app waits at most a minute', async () => {
  const app = await service.addApp({ ratePerMinute: 1, rateBurst: 1 });
  await emptyBucket(service, app);
  const reply = await send('/v1/models', { url: service.url, key: app.liveKey });
  assertRefusal(reply, { code: 'TOO_MANY_REQUESTS' });
  assert.ok(Number(reply.headers.get('retry-after-ms')) > 59_000, 'the wait is a real one');
  assert.equal(reply.headers.get('retry-after'), '60');
  assert.equal(reply.headers.get('ratelimit'), '"app";r=0;t=60');
  assert.equal(reply.headers.get('ratelimit-policy'), '"app";q=1;w=60');
});

test('LI-01 a fast app’s full bucket reports one second', async () => {
  const app = await service.addApp({ ratePerMinute: 1_000_000, rateBurst: 100 });
  const reply = await send('/v1/models', { url: service.url, key: app.liveKey });
  assert.equal(reply.headers.get('ratelimit'), '"app";r=99;t=1');
});
