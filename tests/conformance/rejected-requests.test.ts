import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import { createRejections } from '../../packages/service/src/gateway/retries/rejections.ts';
import { createIdempotencyDigests } from '../../packages/service/src/idempotency/idempotency-key.ts';
import type { AppId, EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { UpstreamError } from '../../packages/service/src/providers/port/provider.ts';
import { withVectors } from '../support/catalogue.ts';
import { chat, type Reply } from '../support/client.ts';
import { assertRefusal, type Code } from '../support/refusal.ts';
import { frame, streamSteps, type UpstreamScript } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';
import type { CalledWire } from '../support/called-wire.ts';
import { ALL_WIRES, ask, everyWire, WIRES } from '../support/wires.ts';

/** Requests that the provider rejects for their content. */

const { service, upstream, app, newUser, callAs } = await setStage({
  catalogue: withVectors,
  environment: { PURSER_LOG_PROVIDER_ERRORS: '1' },
});
const CANARY = 'canary-of-the-provider';
const rejecting = (status: number) => ({ status, body: JSON.stringify({ error: { message: CANARY } }) });
const FAILED = 'UPSTREAM_PROVIDER_ERROR';
/** The first chunks of a stream. */
const BEGUN = streamSteps({
  model: 'm',
  pieces: ['Hi.'],
  includeUsageChunk: false,
  finishReason: null,
  isDoneSent: false,
});

function failing(status: number, error: object): UpstreamScript {
  return { status, body: JSON.stringify({ error: { message: CANARY, ...error } }) };
}

function stockClient(user: string, through: typeof fetch): OpenAI {
  return new OpenAI({
    baseURL: `${service.url}/v1`,
    apiKey: app.liveKey,
    defaultHeaders: { 'x-service-user': user },
    maxRetries: 2,
    fetch: through,
  });
}

/** Sends the same body three times, like clients that retry a 502 and ignore its headers. */
async function thrice(
  wire: CalledWire,
  fields: object = {},
): Promise<{ readonly asked: number; readonly replies: readonly Reply[] }> {
  const user = await newUser(1_000_000);
  const before = upstream.requests.length;
  const replies: Reply[] = [];
  for (let time = 0; time < 3; time += 1) {
    const options = { url: service.url, key: app.liveKey, user };
    replies.push(await ask(wire, options, { ...fields, ...wire.changed }));
  }
  assert.deepEqual(await service.wallet(app, user), { balance: 1_000_000, held: 0, openStreams: 0 });
  return { asked: upstream.requests.length - before, replies };
}

for (const status of [400, 404, 422]) {
  for (const isStream of [false, true]) {
    everyWire.test(
      `CC-15 a ${isStream ? 'streamed' : 'buffered'} request that the provider answers ${status} reaches it once`,
      async (wire) => {
        upstream.script(rejecting(status));
        const { asked, replies } = await thrice(wire, isStream ? { stream: true } : {});
        assert.equal(asked, 1);
        for (const { status: answered, error, headers, text } of replies) {
          assert.deepEqual([answered, error['code']], [502, 'UPSTREAM_PROVIDER_ERROR']);
          assert.equal(headers.get('x-should-retry'), 'false');
          assert.equal(error['message'], replies[0]?.error['message']);
          assert.ok(!text.includes(CANARY));
        }
      },
      isStream ? WIRES : ALL_WIRES,
    );
  }
}

for (const status of [401, 403, 408, 413, 429, 500, 503]) {
  everyWire.test(`CC-15 a provider's ${status} is not remembered`, async (wire) => {
    upstream.script(rejecting(status));
    assert.equal((await thrice(wire)).asked, 3);
  });
}

test('CC-15 a remembered rejection applies to one user, body and model', async () => {
  const [user, other] = [await newUser(1_000_000), await newUser(1_000_000)];
  upstream.script(rejecting(400));
  const before = upstream.requests.length;
  await callAs(user);
  await callAs(user);
  assert.equal(upstream.requests.length - before, 1);
  await callAs(other);
  await callAs(user, { temperature: 1 });
  assert.equal(upstream.requests.length - before, 3);
  const sandboxed = await chat({ url: service.url, key: app.testKey, user });
  assert.equal(sandboxed.status, 200);
});

test('CC-15 a client that ignores `x-should-retry` reaches the provider once', async () => {
  const user = await newUser(1_000_000);
  upstream.script(rejecting(422));
  const before = upstream.requests.length;
  const client = stockClient(user, async (input, init) => {
    const response = await fetch(input, init);
    const headers = new Headers(response.headers);
    headers.delete('x-should-retry');
    headers.set('retry-after-ms', '10');
    return new Response(response.body, { status: response.status, headers });
  });
  const create = client.chat.completions.create({ model: 'large', messages: [{ role: 'user', content: 'Hi' }] });
  await assert.rejects(create, { status: 502 });
  assert.equal(upstream.requests.length - before, 1);
});

function callOf(seed: number) {
  const call = { app: { appId: 'app_1' as AppId }, userId: 'u' as EndUserId, model: { id: 'acme.m' } };
  return { call, asked: { request: { seed } } };
}

test('CC-15 a rejection is forgotten after five seconds', () => {
  const clock = { ms: 0, nowMs: () => clock.ms };
  const rejections = createRejections(createIdempotencyDigests(Buffer.alloc(32)), clock);
  const has = (seed: number, mode: 'live' | 'sandbox' = 'live'): boolean =>
    rejections.find(mode, callOf(seed)) !== undefined;
  const reject = (seed: number): void =>
    rejections.note('live', callOf(seed), new UpstreamError('rejected', 'made by a test'));
  for (const other of [new UpstreamError('refused', 'made by a test'), new Error('made by a test')]) {
    rejections.note('live', callOf(1), other);
    assert.equal(has(1), false);
  }
  reject(1);
  clock.ms = 4_999;
  assert.deepEqual([has(1), has(1, 'sandbox')], [true, false]);
  clock.ms = 5_000;
  assert.equal(has(1), false);
  for (let seed = 0; seed <= 10_000; seed += 1) reject(seed);
  assert.deepEqual([has(0), has(1)], [false, true]);
});

/** What a provider answers, and what its caller is told: code, `error.type`, and a phrase of the message. */
const KINDS: readonly (readonly [answer: UpstreamScript, code: Code, type: string, says: RegExp, error?: object])[] = [
  [
    failing(400, { code: 'context_length_exceeded' }),
    FAILED,
    'context_length_exceeded',
    /longer than the context/,
    { code: 'context_length_exceeded' },
  ],
  [failing(413, {}), FAILED, 'context_length_exceeded', /smaller `max_completion_tokens`/],
  [failing(422, {}), FAILED, 'upstream_rejected', /rejected this request/],
  [failing(401, {}), FAILED, 'upstream_unauthorized', /until the operator of this service has acted/],
  [
    failing(429, { code: 'insufficient_quota' }),
    FAILED,
    'upstream_unauthorized',
    /use another model/i,
    { code: 'insufficient_quota' },
  ],
  [failing(409, {}), FAILED, 'upstream_refused', /refused the call/],
  [failing(500, {}), FAILED, 'upstream_outage', /is down or failed.* try again later/],
  [failing(504, {}), FAILED, 'upstream_timeout', /in time.* try again later/],
  [{ body: '{}' }, FAILED, 'upstream_broken', /broken or ended early/],
  [failing(429, {}), 'UPSTREAM_THROTTLED', 'upstream_throttled', /throttling/],
];

for (const [answer, code, type, says, error] of KINDS) {
  test(`CC-17 a caller can tell ${type} apart before and after the head (${answer.status ?? 200})`, async () => {
    const user = await newUser(1_000_000);
    for (const stream of [false, true]) {
      upstream.script(answer);
      const reply = await callAs(user, { stream });
      assertRefusal(reply, { code, type });
      assert.match(String(reply.error['message']), says);
      assert.match(String(reply.error['message']), /Nothing was charged/);
      assert.doesNotMatch(reply.text, new RegExp(CANARY));
    }
    upstream.script({ body: [...BEGUN, { write: frame({ error: { code: answer.status, ...error } }) }] });
    const { text } = await callAs(user, { stream: true });
    const frameOf = JSON.parse(text.trim().split('\n\n').at(-1)?.replace('data: ', '') ?? '') as Reply['body'];
    const last = frameOf['error'] as Record<string, unknown>;
    if (answer.status !== undefined) assert.deepEqual([last['code'], last['type']], [code, type]);
    assert.deepEqual(await service.wallet(app, user), { balance: 1_000_000, held: 0, openStreams: 0 });
  });
}

for (const [asked, told] of [
  [{ 'retry-after': '7' }, '7'],
  [{ 'retry-after': '0' }, '1'],
  [{ 'retry-after': '3600' }, '60'],
  [{ 'retry-after-ms': '1500' }, '2'],
  [{ date: 'Mon, 23 Nov 2026 10:00:00 GMT', 'retry-after': 'Mon, 23 Nov 2026 10:00:30 GMT' }, '30'],
  [{ 'retry-after': 'soon' }, '2'],
  [{}, '2'],
] as const) {
  test(`CC-17 a provider that throttles with ${JSON.stringify(asked)} makes its caller wait ${told} s`, async () => {
    const user = await newUser(1_000_000);
    upstream.script({ ...failing(429, {}), headers: asked });
    const reply = await callAs(user);
    assertRefusal(reply, { code: 'UPSTREAM_THROTTLED' });
    assert.equal(reply.headers.get('retry-after'), told);
    assert.equal(String(reply.error['message']).includes('longer than a minute'), told === '60');
  });
}

test('CC-17 a stock client retries only throttled calls', async () => {
  const seen: (readonly [number, number])[] = [];
  for (const [status, body] of [
    [429, {}],
    [429, { code: 'insufficient_quota' }],
    [400, { code: 'context_length_exceeded' }],
    [401, {}],
    [500, {}],
    [504, {}],
  ] as const) {
    upstream.script({ ...failing(status, body), headers: { 'retry-after-ms': '1' } });
    const user = await newUser(1_000_000);
    const before = upstream.requests.length;
    const client = stockClient(user, async (input, init) => {
      const response = await fetch(input, init);
      const headers = new Headers(response.headers);
      if (headers.has('retry-after-ms')) headers.set('retry-after-ms', '10'); // The test need not wait.
      return new Response(response.body, { status: response.status, headers });
    });
    await assert.rejects(
      client.chat.completions.create({ model: 'large', messages: [{ role: 'user', content: 'Hi' }] }),
    );
    seen.push([status, upstream.requests.length - before]);
  }
  assert.deepEqual(seen, [
    [429, 3],
    [429, 1],
    [400, 1],
    [401, 1],
    [500, 1],
    [504, 1],
  ]);
});

test('CC-17 ER-03 provider errors are logged redacted, and only when enabled', async () => {
  const user = await newUser(1_000_000);
  for (const stream of [false, true]) {
    const correlationId = `said-${stream}`;
    const message = `Engine 9 cannot take "Zwiebelkuchen": key sk-proj-abcdefghijklmnop1234 (${CANARY})`;
    upstream.script({ status: 400, body: JSON.stringify({ error: { message } }) });
    const messages = [{ role: 'user', content: 'Zwiebelkuchen!' }];
    const headers = { 'x-correlation-id': correlationId };
    const reply = await callAs(user, { messages, stream }, { headers });
    assert.equal(reply.status, 502);
    assert.ok(!reply.text.includes('engine') && !reply.text.includes('Engine'));
    const callId = reply.headers.get('x-service-call-id') ?? service.linesOf(correlationId)[0]?.['callId'];
    const line = service.linesOfCall(String(callId)).find(({ msg }) => msg !== 'call');
    assert.equal(line?.['said'], 'engine 9 cannot take "…": key […] ([…])');
  }
});
