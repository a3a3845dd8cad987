import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chat, type Reply, send } from '../support/client.ts';
import { callRoute, DATA_PLANE } from '../support/every-route-refuses.ts';
import { assertRefusal } from '../support/refusal.ts';
import { completionBody, streamSteps } from '../support/scripted-upstream.ts';
import type { TestApp } from '../support/service.ts';
import { setStage } from '../support/stage.ts';
import { emptyBucket } from '../support/violations.ts';

/** What every answer of the data plane says of the app's rate limit, once its bucket was asked. */

const { upstream, service } = await setStage();
const usage = { prompt_tokens: 1, completion_tokens: 1 };
upstream.script(({ body }) => {
  const isStream = (body as Record<string, unknown>)['stream'] === true;
  const facts = { model: 'm', usage };
  if (isStream) return { body: streamSteps({ ...facts, pieces: ['Hi'], includeUsageChunk: true }) };
  return { body: completionBody({ ...facts, content: 'Hi' }) };
});

/** One token a second, a full bucket of 100, of which so many are there; it was last refilled in the future. */
async function appWithTokens(tokens: number): Promise<TestApp> {
  const app = await service.addApp({ ratePerMinute: 60, rateBurst: 100 });
  await service.fund(app, 'u', 1_000_000);
  await emptyBucket(service, app);
  await service.database.owner.query('update limits.buckets set units = $2 where app_id = $1', [
    app.appId,
    BigInt(tokens * 60_000_000),
  ]);
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

test('LI-01 every route tells what is left, with a good answer, and when it is all there again', async () => {
  for (const route of DATA_PLANE) {
    const app = await appWithTokens(50);
    for (const left of [49, 48]) {
      const reply = await callRoute(route, { url: service.url, key: app.liveKey, user: 'u' });
      assert.equal(reply.status, 200, reply.text);
      assertTold(reply, left, 100 - left, route.name);
    }
  }
});

test('LI-01 a stream and the sandbox tell it as well, and both keys of one bucket', async () => {
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

test('LI-01 what is refused after the bucket was asked tells it, what was refused before does not', async () => {
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

test('LI-01 an empty bucket says how long to wait, in whole seconds and to the millisecond', async () => {
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

test('LI-01 a wait that is no whole second is told to the millisecond', async () => {
  const app = await appWithTokens(0.4);
  const reply = await send('/v1/models', { url: service.url, key: app.liveKey });
  assertRefusal(reply, { code: 'TOO_MANY_REQUESTS' });
  assert.deepEqual([reply.headers.get('retry-after'), reply.headers.get('retry-after-ms')], ['1', '600']);
});

test('LI-01 the slowest app waits a minute, and is told no more', async () => {
  const app = await service.addApp({ ratePerMinute: 1, rateBurst: 1 });
  await emptyBucket(service, app);
  const reply = await send('/v1/models', { url: service.url, key: app.liveKey });
  assertRefusal(reply, { code: 'TOO_MANY_REQUESTS' });
  assert.ok(Number(reply.headers.get('retry-after-ms')) > 59_000, 'nobody waits for nothing');
  assert.equal(reply.headers.get('retry-after'), '60');
  assert.equal(reply.headers.get('ratelimit'), '"app";r=0;t=60');
  assert.equal(reply.headers.get('ratelimit-policy'), '"app";q=1;w=60');
});

test('LI-01 a full bucket of a fast app is full again at once, in whole seconds', async () => {
  const app = await service.addApp({ ratePerMinute: 1_000_000, rateBurst: 100 });
  const reply = await send('/v1/models', { url: service.url, key: app.liveKey });
  assert.equal(reply.headers.get('ratelimit'), '"app";r=99;t=1');
});
