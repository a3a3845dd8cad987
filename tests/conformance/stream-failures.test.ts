import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { catalogueAt, chargeFor } from '../support/catalogue.ts';
import { waitUntil } from '../support/wait-until.ts';
import { openStream, payloadsOf } from '../support/open-stream.ts';
import { assertEnvelope, type Code } from '../support/refusal.ts';
import {
  frame,
  type ScriptedUpstream,
  startScriptedUpstream,
  streamSteps,
  type UpstreamStep,
} from '../support/scripted-upstream.ts';
import { startTestService, type TestApp, type TestService } from '../support/service.ts';

let upstream: ScriptedUpstream;
let service: TestService;
let app: TestApp;

before(async () => {
  upstream = await startScriptedUpstream();
  service = await startTestService(catalogueAt(upstream.baseUrl, { timeoutMs: 1_000 }));
  app = await service.addApp();
});

after(async () => {
  await service.close();
  await upstream.close();
});

const CANARY = 'sk-CANARY organization org-CANARY';
const USAGE = { prompt_tokens: 9, completion_tokens: 9 };
const THROTTLED = 'UPSTREAM_THROTTLED';
const FAILED = 'UPSTREAM_PROVIDER_ERROR';

function chunk(delta: object, reason: string | null = null, index = 0): UpstreamStep {
  return {
    write: frame({ id: 'c', object: 'chat.completion.chunk', choices: [{ index, delta, finish_reason: reason }] }),
  };
}

const USAGE_CHUNK = { write: frame({ id: 'c', object: 'chat.completion.chunk', choices: [], usage: USAGE }) };
const DONE = { write: frame('[DONE]') };

/** What can become of a stream once its first chunk is out. */
const BROKEN: readonly (readonly [string, readonly UpstreamStep[], Code])[] = [
  ['an error object', [{ write: frame({ error: { message: CANARY, code: 'CANARY' } }) }], FAILED],
  ['an error object beside choices', [{ write: frame({ choices: [], error: { message: CANARY } }) }], FAILED],
  ['a throttle', [{ write: frame({ error: { message: CANARY, code: 'rate_limit_exceeded' } }) }], THROTTLED],
  ['an error that is a text', [{ write: frame({ error: CANARY, error_type: 'CANARY' }) }], FAILED],
  ['a chunk of the kind error', [{ write: frame({ object: 'error', message: CANARY, code: 400 }) }], FAILED],
  ['an event named error', [{ write: `event: error\n${frame({ message: CANARY })}` }], FAILED],
  ['a frame that is no JSON', [{ write: frame(CANARY) }, chunk({}, 'stop'), DONE], FAILED],
  ['a frame that is no object', [{ write: frame([CANARY]) }, chunk({}, 'stop'), DONE], FAILED],
  ['choices that are none', [{ write: frame({ choices: CANARY }) }, chunk({}, 'stop'), DONE], FAILED],
  ['bytes that are no text', [{ write: Buffer.from([0x64, 0x61, 0xff, 0xfe]) }, DONE], FAILED],
  ['an event without end', [{ write: `data: ${'a'.repeat(3 * 1024 * 1024)}` }, { hang: true }], FAILED],
  ['half a frame', [{ write: 'data: {"choices":[{"index":0,"delta":{"content":"CANARY' }], FAILED],
  ['an end without a reason', [chunk({ content: 'more' })], FAILED],
  ['[DONE] without a reason', [chunk({ content: 'more' }), DONE], FAILED],
  ['usage and [DONE] without a reason', [USAGE_CHUNK, DONE], FAILED],
  [
    'one of two choices unfinished',
    [chunk({ content: 'b' }, null, 1), chunk({}, 'stop', 1), USAGE_CHUNK, DONE],
    FAILED,
  ],
  ['a reset connection', [{ destroy: true }], FAILED],
  ['silence', [{ hang: true }], FAILED],
];

interface Broken {
  readonly user: string;
  readonly text: string;
}

let users = 0;

/** A stream whose first chunk was read before the rest was sent. */
async function streamWith(
  rest: readonly UpstreamStep[],
  fields: Readonly<Record<string, unknown>> = {},
): Promise<Broken> {
  users += 1;
  const user = `user-${users}`;
  await service.fund(app, user, 1_000_000);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  upstream.script({ body: [chunk({ role: 'assistant', content: 'begun' }), { waitFor: held }, ...rest] });
  const headers = { 'x-correlation-id': 'mine' };
  const stream = await openStream({ url: service.url, key: app.liveKey, user, headers }, fields);
  assert.equal(stream.status, 200);
  await stream.until('begun');
  release();
  return { user, text: await stream.whole() };
}

for (const [what, steps, code] of BROKEN) {
  const name = `ER-06 a stream that goes on with ${what} ends with ${code} in a last frame, and nothing is charged`;
  test(name, async () => {
    const { user, text } = await streamWith(steps, { stream_options: { include_usage: true } });
    assert.doesNotMatch(text, /CANARY|\[DONE\]/);
    const payloads = payloadsOf(text) as Record<string, unknown>[];
    const last = payloads.at(-1) as { error: Record<string, unknown> };
    assert.equal(last.error['code'], code);
    assert.equal(last.error['correlationId'], 'mine');
    assertEnvelope(last, code === THROTTLED ? 'upstream_throttled' : 'upstream_error', text);
    for (const payload of payloads.slice(0, -1)) assert.equal(payload['model'], 'acme.large-1');
    assert.deepEqual(await service.wallet(app, user), { balance: 1_000_000, held: 0, openStreams: 0 });
    assert.deepEqual(await service.check(), []);
  });
}

const ENDED: readonly (readonly [string, readonly UpstreamStep[], boolean])[] = [
  ['[DONE]', [chunk({}, 'stop'), USAGE_CHUNK, DONE], true],
  ['the end of the connection, without [DONE]', [chunk({}, 'stop'), USAGE_CHUNK], true],
  ['[DONE], and no usage', [chunk({}, 'length'), DONE], false],
  ['[DONE] without a blank line behind it', [chunk({}, 'stop'), USAGE_CHUNK, { write: 'data: [DONE]' }], true],
  ['[DONE], and bytes that mean nothing', [chunk({}, 'stop'), USAGE_CHUNK, DONE, { write: CANARY }], true],
];

for (const [what, steps, isReported] of ENDED) {
  test(`CC-11 a finished stream that ends with ${what} is whole, and is charged`, async () => {
    const { user, text } = await streamWith(steps);
    assert.equal(payloadsOf(text).at(-1), '[DONE]');
    assert.doesNotMatch(text, /CANARY/);
    const { balance, held, openStreams } = await service.wallet(app, user);
    assert.deepEqual({ held, openStreams }, { held: 0, openStreams: 0 });
    const charged = 1_000_000 - balance;
    if (isReported) assert.equal(charged, chargeFor({ prompt: 9, completion: 9 }));
    else assert.ok(charged > 0 && charged < 1_000, `${charged}`);
  });
}

test('CC-11 a stream whose provider reports a usage of zero costs nothing', async () => {
  const zero = { write: frame({ id: 'c', choices: [], usage: { prompt_tokens: 0, completion_tokens: 0 } }) };
  const { user } = await streamWith([chunk({}, 'stop'), zero, DONE]);
  assert.equal((await service.wallet(app, user)).balance, 1_000_000);
});

test('CC-09 a provider is given up as soon as its stream has failed', async () => {
  await streamWith([{ write: frame({ error: { message: CANARY } }) }, { hang: true }]);
  const request = upstream.requests.at(-1);
  await request?.closed;
  assert.equal(request?.aborted, true);
});

test('CC-11 a caller who leaves a stream ends it at the provider, and is charged for what came', async () => {
  const user = 'leaver';
  await service.fund(app, user, 1_000_000);
  const steps = streamSteps({ model: 'm', pieces: ['begun', 'never'], usage: USAGE, includeUsageChunk: true });
  upstream.script({ body: [...steps.slice(0, 2), { hang: true }] });
  const stream = await openStream({ url: service.url, key: app.liveKey, user });
  await stream.until('begun');
  stream.leave();
  await upstream.requests.at(-1)?.closed;
  const wallet = await waitUntil('the hold is settled', async () => {
    const figures = await service.wallet(app, user);
    return figures.held === 0 && figures;
  });
  assert.ok(wallet.balance < 1_000_000 && wallet.balance > 999_900, `${wallet.balance}`);
  assert.equal(wallet.openStreams, 0);
  assert.deepEqual(await service.check(), []);
});
