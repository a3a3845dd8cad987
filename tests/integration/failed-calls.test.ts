import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { catalogueAt } from '../support/catalogue.ts';
import { COMPLETIONS, send } from '../support/client.ts';
import { receiptNamed } from '../support/receipts.ts';
import {
  completionBody,
  frame,
  type ScriptedUpstream,
  startScriptedUpstream,
  type UpstreamScript,
} from '../support/scripted-upstream.ts';
import { startTestService, type TestApp, type TestService } from '../support/service.ts';

const BALANCE = 1_000_000;
const MODEL = 'large-upstream';
const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };
const JSON_TYPE = { 'content-type': 'application/json' };

let upstream: ScriptedUpstream;
let service: TestService;
let app: TestApp;
let calls = 0;

before(async () => {
  upstream = await startScriptedUpstream();
  service = await startTestService(catalogueAt(upstream.baseUrl, { timeoutMs: 1_000 }));
  app = await service.addApp({ maxStreamsPerUser: 1 }); // A slot that is not freed refuses the next stream.
  await service.fund(app, 'user', BALANCE);
});

after(async () => {
  await service.close();
  await upstream.close();
});

interface Failure {
  readonly what: string;
  readonly script: UpstreamScript;
  /** 502 unless given. */
  readonly code?: 'UPSTREAM_THROTTLED';
}

async function expectFree(failure: Failure, isStream: boolean): Promise<void> {
  const correlationId = `failure-${(calls += 1)}`;
  upstream.script(failure.script);
  const reply = await send(COMPLETIONS, {
    url: service.url,
    key: app.liveKey,
    user: 'user',
    headers: { 'x-correlation-id': correlationId },
    body: { model: 'large', messages: [{ role: 'user', content: 'Hello' }], stream: isStream },
  });
  const code = failure.code ?? 'UPSTREAM_PROVIDER_ERROR';
  assert.equal(reply.status, code === 'UPSTREAM_THROTTLED' ? 429 : 502, reply.text);
  assert.equal(reply.error['code'], code);
  assert.deepEqual(await service.wallet(app, 'user'), { balance: BALANCE, held: 0, openStreams: 0 });
  const receipt = await receiptNamed(service.database, correlationId);
  assert.deepEqual([receipt?.outcome, receipt?.charged], ['failed', 0]);
  assert.deepEqual(await service.check(), []);
}

const BOTH: readonly Failure[] = [
  ...[400, 401, 403, 404, 408, 409, 422, 500, 502, 503, 504].map((status) => ({
    what: `answers ${status}`,
    script: { status, body: '{"error":{"message":"Said by the provider."}}' },
  })),
  { what: 'throttles with 429', script: { status: 429, body: '{}' }, code: 'UPSTREAM_THROTTLED' },
  { what: 'is overloaded (529)', script: { status: 529, body: '{}' }, code: 'UPSTREAM_THROTTLED' },
  { what: 'redirects', script: { status: 307, headers: { location: 'http://127.0.0.1:1/' }, body: '' } },
  {
    what: 'accepts with 202',
    script: { status: 202, body: completionBody({ model: MODEL, content: 'Hi.', usage: USAGE }) },
  },
  { what: 'never answers', script: { body: [{ hang: true }] } },
  { what: 'resets before its head', script: { body: [{ destroy: true }] } },
  { what: 'resets after its head', script: { body: [{ write: '' }, { destroy: true }] } },
  { what: 'falls silent after its head', script: { body: [{ write: '' }, { hang: true }] } },
  { what: 'answers 200 with nothing', script: { body: '' } },
];

const WHOLE = completionBody({ model: MODEL, content: 'A whole answer.', usage: USAGE });
const PLAIN: readonly Failure[] = [
  {
    what: 'resets in its body',
    script: { headers: JSON_TYPE, body: [{ write: WHOLE.slice(0, 99) }, { destroy: true }] },
  },
  {
    what: 'falls silent in its body',
    script: { headers: JSON_TYPE, body: [{ write: WHOLE.slice(0, 99) }, { hang: true }] },
  },
  { what: 'ends in its body', script: { headers: JSON_TYPE, body: [{ write: WHOLE.slice(0, 99) }] } },
  { what: 'sends no JSON', script: { body: '<html>Bad gateway</html>' } },
  { what: 'sends JSON that is no object', script: { body: '[1]' } },
  {
    what: 'sends no choices',
    script: { body: JSON.stringify({ object: 'chat.completion', choices: [], usage: USAGE }) },
  },
  {
    what: 'has no reason to finish',
    script: { body: completionBody({ model: MODEL, content: 'Hi', finishReason: null, usage: USAGE }) },
  },
  { what: 'sends an error with 200', script: { body: '{"error":{"message":"Said by the provider."}}' } },
  {
    what: 'throttles with 200',
    script: { body: '{"error":{"code":"rate_limit_exceeded"}}' },
    code: 'UPSTREAM_THROTTLED',
  },
];

const CHUNK = frame({ choices: [{ index: 0, delta: { content: 'Begun' }, finish_reason: null }] });
const STREAMED: readonly Failure[] = [
  { what: 'ends before a chunk', script: { body: [{ write: '' }] } },
  { what: 'is done before a chunk', script: { body: [{ write: frame('[DONE]') }] } },
  { what: 'begins with an error', script: { body: [{ write: frame({ error: { message: 'Said.' } }) }] } },
  { what: 'begins with no JSON', script: { body: [{ write: 'data: {"choices": [\n\n' }] } },
  {
    what: 'throttles in the breath in which it begins',
    script: { body: [{ write: CHUNK + frame({ error: { code: 429 } }) }] },
    code: 'UPSTREAM_THROTTLED',
  },
];

for (const failure of [...BOTH, ...PLAIN]) {
  test(`CC-09 a plain call is free and leaves no hold when the provider ${failure.what}`, () =>
    expectFree(failure, false));
}

for (const failure of [...BOTH, ...STREAMED]) {
  test(`CC-09 a stream is free, leaves no hold and frees its slot when the provider ${failure.what}`, () =>
    expectFree(failure, true));
}

test('CC-09 a provider that cannot be reached costs nothing', async () => {
  const lone = await startTestService(catalogueAt('http://127.0.0.1:1/v1'));
  const loneApp = await lone.addApp();
  await lone.fund(loneApp, 'user', BALANCE);
  for (const stream of [false, true]) {
    const body = { model: 'large', messages: [{ role: 'user', content: 'Hello' }], stream };
    const reply = await send(COMPLETIONS, { url: lone.url, key: loneApp.liveKey, user: 'user', body });
    assert.equal(reply.status, 502);
    assert.deepEqual(await lone.wallet(loneApp, 'user'), { balance: BALANCE, held: 0, openStreams: 0 });
  }
  assert.deepEqual(await lone.check(), []);
  await lone.close();
});
