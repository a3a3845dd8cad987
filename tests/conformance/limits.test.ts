import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withVectors } from '../support/catalogue.ts';
import { chat, send } from '../support/client.ts';
import { sql, sqlValue } from '../support/sql.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { CalledWire } from '../support/called-wire.ts';
import { ALL_WIRES, ask, eachWire, sayingToAll, type SpokenWire } from '../support/wires.ts';
import { EMBEDDINGS } from '../support/embeddings-wire.ts';
import { callRoute, DATA_PLANE, everyRouteRefuses } from '../support/every-route-refuses.ts';
import { openStream } from '../support/open-stream.ts';
import { assertRefusal } from '../support/refusal.ts';
import { frame, streamSteps, type UpstreamStep } from '../support/scripted-upstream.ts';
import { startSecondGateway, type TestApp } from '../support/service.ts';
import { emptyBucket } from '../support/violations.ts';
import { setStage } from '../support/stage.ts';

const USAGE = { prompt_tokens: 1, completion_tokens: 1 };
const STEPS = streamSteps({ model: 'm', pieces: ['begun', 'ended'], usage: USAGE, includeUsageChunk: true });

/** Apps that may have more streams may have as many plain calls. */
const CALLS = { PURSER_MAX_CALLS_PER_USER: '2' };

const { upstream, service } = await setStage({
  model: { timeoutMs: 60_000 },
  catalogue: withVectors,
  environment: CALLS,
});
const second = await startSecondGateway(service, CALLS);

/** An app whose bucket holds so many tokens and never refills: its last refill is in the future. */
async function appWithTokens(tokens: number): Promise<TestApp> {
  const app = await service.addApp({ ratePerMinute: 60, rateBurst: 10_000 });
  await emptyBucket(service, app);
  await sql(service)`update limits.buckets set units = ${BigInt(tokens) * 60_000_000n} where app_id = ${app.appId}`;
  return app;
}

async function tokensLeft(app: TestApp): Promise<number> {
  const units = await sqlValue<bigint>(service)`select units from limits.buckets where app_id = ${app.appId}`;
  return Number(units) / 60_000_000;
}

test('LI-01 an app gets exactly its bucket’s tokens over all keys', async () => {
  const app = await appWithTokens(30);
  const replies = await Promise.all(
    Array.from({ length: 80 }, (_, index) =>
      send('/v1/models', { url: service.url, key: index % 2 === 0 ? app.liveKey : app.testKey }),
    ),
  );
  const refused = replies.filter(({ status }) => status !== 200);
  assert.equal(replies.length - refused.length, 30);
  for (const reply of refused) assertRefusal(reply, { code: 'TOO_MANY_REQUESTS', param: null, hasLink: false });
});

test('LI-01 a full bucket holds the burst and no more', async () => {
  const app = await service.addApp({ ratePerMinute: 1, rateBurst: 7 });
  const startMs = Date.now();
  const replies = await Promise.all(
    Array.from({ length: 40 }, () => send('/v1/models', { url: service.url, key: app.liveKey })),
  );
  const served = replies.filter(({ status }) => status === 200).length;
  const refilled = Math.ceil((Date.now() - startMs) / 60_000); // One token a minute, so that a slow machine makes no difference.
  assert.ok(served >= 7 && served < 7 + Math.max(1, refilled), `${served} were served`);
});

test('LI-01 every data-plane route takes one token, even if later refused', async () => {
  for (const route of DATA_PLANE) {
    const app = await appWithTokens(2);
    await callRoute(route, { url: service.url, key: app.liveKey, user: 'u' });
    assert.equal(await tokensLeft(app), 1, route.name);
    await callRoute(route, { url: service.url, key: app.testKey, user: 'not well formed' });
    assert.equal(await tokensLeft(app), 0, route.name);
    await everyRouteRefuses([route], { url: service.url, key: app.liveKey, user: 'u' }, { code: 'TOO_MANY_REQUESTS' });
  }
});

test('LI-01 an empty bucket refuses every route of its app only', async () => {
  const app = await appWithTokens(0);
  const other = await appWithTokens(10);
  for (const key of [app.liveKey, app.testKey]) {
    await everyRouteRefuses(DATA_PLANE, { url: service.url, key, user: 'u' }, { code: 'TOO_MANY_REQUESTS' });
  }
  assert.equal((await send('/v1/models', { url: service.url, key: other.liveKey })).status, 200);
});

test('LI-01 an unauthenticated call takes none of the app’s tokens', async () => {
  const app = await appWithTokens(1);
  for (let count = 0; count < 5; count += 1) {
    await send('/v1/models', { url: service.url });
    await send('/v1/models', { url: service.url, key: `${app.liveKey}x` });
    await send('/healthz', { url: service.url, key: app.liveKey });
    await send('/nowhere', { url: service.url, key: app.liveKey });
  }
  assert.equal(await tokensLeft(app), 1);
});

async function servedOf(app: TestApp, calls: number): Promise<number> {
  const replies = await Promise.all(
    Array.from({ length: calls }, (_, index) =>
      send('/v1/models', { url: index % 2 === 0 ? service.url : second.url, key: app.liveKey }),
    ),
  );
  return replies.filter(({ status }) => status === 200).length;
}

test('LI-01 gateway processes share the bucket, to the token', async () => {
  const app = await appWithTokens(150);
  let served = 0;
  for (let round = 0; round < 5; round += 1) served += await servedOf(app, 60);
  assert.equal(served, 150);
  assert.equal(await tokensLeft(app), 0);
});

/** A user of an app with this stream limit. The provider sends the rest of each stream once `held` resolves. */
async function streamer(
  { path, question }: SpokenWire,
  { max = 1, rest = STEPS.slice(2), held }: { max?: number; rest?: readonly UpstreamStep[]; held?: Promise<void> },
) {
  const app = await service.addApp({ maxStreamsPerUser: max });
  await service.fund(app, 'u', 100_000_000);
  upstream.script({ body: [...STEPS.slice(0, 2), { waitFor: held ?? Promise.resolve() }, ...rest] });
  const options = { url: service.url, key: app.liveKey, user: 'u' };
  return {
    options,
    /** A stream whose first byte has arrived. */
    begin: async () => {
      const stream = await openStream({ ...options, path }, question);
      assert.equal(stream.status, 200);
      await stream.until('begun');
      return stream;
    },
  };
}

eachWire.test('LI-02 one stream more than allowed is refused', async (wire) => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { options, begin } = await streamer(wire, { max: 2, held });
  const streams = [await begin(), await begin()];
  const requests = upstream.requests.length;
  for (const url of [service.url, second.url]) {
    const reply = await ask(wire, { ...options, url }, { stream: true });
    assertRefusal(reply, { code: 'CONCURRENT_STREAM_LIMIT', param: null, hasLink: false });
    assert.equal(reply.headers.get('retry-after'), '1');
  }
  assert.equal(upstream.requests.length, requests);
  const other = await ask(wire, { ...options, user: 'u2' }, { stream: true });
  assertRefusal(other, { code: 'PAYMENT_REQUIRED' });
  const arrived = upstream.arrival(requests);
  const plain = ask(wire, options);
  await arrived;
  release();
  await plain;
  for (const stream of streams) assert.match(await stream.whole(), /charge-micros=/);
});

const ENDINGS: readonly (readonly [string, readonly UpstreamStep[]])[] = [
  ['reaches its end', STEPS.slice(2)],
  ['is cut', [{ destroy: true }]],
  ['ends without a finish reason', []],
  ['fails with an error', [{ write: frame({ error: { message: 'no' } }) }]],
];

for (const [how, rest] of ENDINGS) {
  eachWire.test(`LI-02 the slot of a stream that ${how} is free once its end is read`, async (wire) => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const { options, begin } = await streamer(wire, { rest, held });
    const stream = await begin();
    assertRefusal(await ask(wire, options, { stream: true }), { code: 'CONCURRENT_STREAM_LIMIT' });
    release();
    await stream.whole();
    upstream.script({ body: STEPS });
    await (await begin()).whole();
  });
}

eachWire.test('LI-02 a stream that fails before its first byte frees its slot', async (wire) => {
  const { options, begin } = await streamer(wire, {});
  upstream.script({ status: 500, body: '' });
  for (let count = 0; count < 3; count += 1) {
    assertRefusal(await ask(wire, options, { stream: true }), { code: 'UPSTREAM_PROVIDER_ERROR' });
  }
  upstream.script({ body: STEPS });
  await (await begin()).whole();
});

eachWire.test('LI-02 an abandoned stream’s slot is free once it is cancelled', async (wire) => {
  const { options, begin } = await streamer(wire, { rest: [{ hang: true }] });
  const stream = await begin();
  stream.leave();
  upstream.script({ body: STEPS });
  await waitUntil(
    'a stream is accepted again',
    async () => (await ask(wire, options, { stream: true })).status === 200,
  );
});

test('SB-10 live and sandbox streams count separately but share one bucket', async () => {
  const app = await service.addApp({ maxStreamsPerUser: 1 });
  await service.fund(app, 'u', 1_000_000);
  upstream.script({ body: STEPS });
  const live = { url: service.url, key: app.liveKey, user: 'u' };
  const sandbox = { ...live, key: app.testKey };
  assert.equal((await chat(sandbox, { stream: true })).status, 200);
  await service.setWallet(app, 'u', 'open_streams = 1');
  assertRefusal(await chat(live, { stream: true }), { code: 'CONCURRENT_STREAM_LIMIT' });
  assert.equal((await chat(sandbox, { stream: true })).status, 200);
  await service.setWallet(app, 'u', 'open_streams = 0');
  await sql(service)`update sandbox.wallets set open_streams = 1 where app_id = ${app.appId}`;
  const refused = await chat(sandbox, { stream: true });
  assertRefusal(refused, { code: 'CONCURRENT_STREAM_LIMIT' });
  assert.equal(refused.headers.get('retry-after'), '1');
  assert.equal((await chat(live, { stream: true })).status, 200);

  const shared = await appWithTokens(2);
  assert.equal((await chat({ ...sandbox, key: shared.testKey })).status, 200);
  assertRefusal(await chat({ ...live, key: shared.liveKey }), { code: 'PAYMENT_REQUIRED' });
  for (const key of [shared.testKey, shared.liveKey]) {
    assertRefusal(await chat({ ...live, key }), { code: 'TOO_MANY_REQUESTS' });
  }
});

test('CC-18 a user’s plain calls are limited across gateways and wires by a 429', async () => {
  const app = await service.addApp({ maxStreamsPerUser: 1 });
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  upstream.script((request) => {
    const { body } = sayingToAll('Hi', USAGE)(request);
    return { body: [{ waitFor: held }, { write: body as string }] };
  });
  for (const user of ['busy', 'idle']) await service.fund(app, user, 10_000_000);
  const before = upstream.requests.length;
  const [first, ...others] = ALL_WIRES;
  const call = (user: string, wire: CalledWire = first, url = second.url) => ask(wire, { url, key: app.liveKey, user });
  const running = [call('busy', EMBEDDINGS, service.url), call('busy')];
  await waitUntil('both run', () => upstream.requests.length === before + 2);
  for (const wire of ALL_WIRES) {
    const refused = await call('busy', wire);
    assertRefusal(refused, { code: 'TOO_MANY_REQUESTS', param: null, hasLink: false });
    assert.match(String(refused.error['message']), /^This user already has as many running calls as are allowed/);
    assertRefusal(await call('nobody', wire), { code: 'PAYMENT_REQUIRED' });
  }
  const other = call('idle');
  await waitUntil('another user’s call runs', () => upstream.requests.length === before + 3);
  release();
  for (const reply of await Promise.all([...running, other])) assert.equal(reply.status, 200);
  for (const wire of others) assert.equal((await call('busy', wire)).status, 200);
});
