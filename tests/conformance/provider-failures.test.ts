import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { catalogueAt } from '../support/catalogue.ts';
import { chat, type Reply, send } from '../support/client.ts';
import { assertRefusal, type Code } from '../support/refusal.ts';
import {
  completionBody,
  frame,
  type ScriptedUpstream,
  startScriptedUpstream,
  type UpstreamScript,
} from '../support/scripted-upstream.ts';
import { startTestService, type TestApp, type TestService } from '../support/service.ts';

let upstream: ScriptedUpstream;
let service: TestService;
let app: TestApp;

before(async () => {
  upstream = await startScriptedUpstream();
  service = await startTestService(await catalogue());
  app = await service.addApp();
});

after(async () => {
  await service.close();
  await upstream.close();
});

/** With a model whose provider nobody listens for. */
async function catalogue() {
  const { providers, models, aliases } = catalogueAt(upstream.baseUrl, { timeoutMs: 1_000 });
  const closed = { kind: 'openai-compatible', baseUrl: `http://127.0.0.1:${await freePort()}/v1` };
  return {
    providers: { ...providers, closed },
    models: [...models, { ...models[0], id: 'acme.closed-1', provider: 'closed' }],
    aliases,
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const CANARY = 'sk-CANARY organization org-CANARY host CANARY.internal';
const CANARY_HEADERS = {
  'content-type': 'application/json',
  'retry-after': '3333',
  'x-canary': CANARY,
  'x-request-id': 'CANARY',
  'x-correlation-id': 'CANARY',
  'x-service-mode': 'CANARY',
  'set-cookie': 'CANARY=1',
  'x-should-retry': 'true',
  'www-authenticate': 'CANARY',
  location: 'https://CANARY.example.test/',
};

function failing(
  status: number,
  error: unknown = { message: CANARY, type: 'CANARY', param: 'CANARY', code: 'CANARY' },
) {
  return { status, headers: CANARY_HEADERS, body: JSON.stringify({ error }) };
}

const THROTTLED = 'UPSTREAM_THROTTLED';
const FAILED = 'UPSTREAM_PROVIDER_ERROR';

/** What comes before an answer has begun, so that a plain and a streamed call meet it alike. */
const REFUSED: readonly (readonly [string, UpstreamScript, Code])[] = [
  ['a 429', failing(429), THROTTLED],
  ['a 529', failing(529), THROTTLED],
  ['a 500', failing(500), FAILED],
  ['a 503', failing(503), FAILED],
  ['a 400', failing(400), FAILED],
  ['a 401', failing(401), FAILED],
  ['a 402', failing(402), FAILED],
  ['a 403', failing(403), FAILED],
  ['a 404', failing(404), FAILED],
  ['a 413', failing(413), FAILED],
  ['a 422', failing(422), FAILED],
  ['a redirect', failing(302), FAILED],
  ['a 201', failing(201), FAILED],
  ['a 204', { status: 204, headers: CANARY_HEADERS, body: '' }, FAILED],
  ['a 500 without end', { status: 500, headers: CANARY_HEADERS, body: [{ write: CANARY }, { hang: true }] }, FAILED],
  ['a reset connection', { body: [{ destroy: true }] }, FAILED],
  ['silence', { body: [{ hang: true }] }, FAILED],
  ['a head and then silence', { headers: CANARY_HEADERS, body: [{ write: '' }, { hang: true }] }, FAILED],
  ['a head and then a reset', { headers: CANARY_HEADERS, body: [{ write: '' }, { destroy: true }] }, FAILED],
  ['nothing', { headers: CANARY_HEADERS, body: '' }, FAILED],
  ['bytes that are nothing', { headers: CANARY_HEADERS, body: Buffer.from(`\u0000${CANARY}`, 'utf16le') }, FAILED],
  ['a page', { headers: { ...CANARY_HEADERS, 'content-type': 'text/html' }, body: `<p>${CANARY}</p>` }, FAILED],
];

const WHOLE = completionBody({ model: 'm', content: CANARY, usage: { prompt_tokens: 9, completion_tokens: 9 } });

/** What only a plain answer can be. */
const PLAIN: readonly (readonly [string, UpstreamScript, Code])[] = [
  ['an error inside a 200', failing(200), FAILED],
  ['an error without a message inside a 200', failing(200, {}), FAILED],
  ['an error that is a text inside a 200', failing(200, CANARY), FAILED],
  ['a throttle inside a 200', failing(200, { message: CANARY, code: 'rate_limit_exceeded' }), THROTTLED],
  ['a throttle with a number inside a 200', failing(200, { message: CANARY, code: 429 }), THROTTLED],
  ['an error beside choices', { body: WHOLE.replace('{', `{"error":{"message":"${CANARY}"},`) }, FAILED],
  ['half a body', { body: [{ write: WHOLE.slice(0, WHOLE.length / 2) }] }, FAILED],
  ['half a body, then a reset', { body: [{ write: WHOLE.slice(0, WHOLE.length / 2) }, { destroy: true }] }, FAILED],
  ['half a body, then silence', { body: [{ write: WHOLE.slice(0, WHOLE.length / 2) }, { hang: true }] }, FAILED],
  ['JSON that is no completion', { body: JSON.stringify({ message: CANARY }) }, FAILED],
  ['JSON that is no object', { body: JSON.stringify([CANARY]) }, FAILED],
  ['no choices', { body: JSON.stringify({ id: CANARY, choices: [] }) }, FAILED],
  ['a choice without a message', { body: JSON.stringify({ choices: [{ index: 0, finish_reason: 'stop' }] }) }, FAILED],
  [
    'an answer that is not finished',
    { body: completionBody({ model: 'm', content: CANARY, finishReason: null }) },
    FAILED,
  ],
  ['a stream', { body: [{ write: frame({ message: CANARY }) }] }, FAILED],
];

/** What a stream can be before its first chunk. */
const STREAMED: readonly (readonly [string, UpstreamScript, Code])[] = [
  ['an error in its first frame', { body: [{ write: frame({ error: { message: CANARY } }) }] }, FAILED],
  [
    'a throttle in its first frame',
    { body: [{ write: frame({ error: { type: 'rate_limit_error', message: CANARY } }) }] },
    THROTTLED,
  ],
  ['an error that is a text in its first frame', { body: [{ write: frame({ error: CANARY }) }] }, FAILED],
  ['an error object in its first frame', { body: [{ write: frame({ object: 'error', message: CANARY }) }] }, FAILED],
  ['an event named error', { body: [{ write: `event: error\n${frame({ message: CANARY })}` }] }, FAILED],
  ['an end at once', { body: [{ write: '' }] }, FAILED],
  ['nothing but [DONE]', { body: [{ write: frame('[DONE]') }] }, FAILED],
  ['nothing but comments', { body: [{ write: `: ${CANARY}\n\n: ${CANARY}\n\n` }] }, FAILED],
  ['a frame that is no JSON', { body: [{ write: frame(CANARY) }] }, FAILED],
  ['a frame that is no object', { body: [{ write: frame([CANARY]) }] }, FAILED],
  ['choices that are none', { body: [{ write: frame({ choices: CANARY }) }] }, FAILED],
  ['half a frame', { body: [{ write: `data: {"error":"${CANARY}` }] }, FAILED],
  ['an error as JSON', failing(200), FAILED],
  ['a whole completion', { body: WHOLE }, FAILED],
];

let users = 0;

/** Asks once, and asserts that the failure is told in our words and that the user is none the poorer. */
async function assertFailure(fields: Readonly<Record<string, unknown>>, code: Code): Promise<void> {
  users += 1;
  const user = `user-${users}`;
  await service.fund(app, user, 1_000_000);
  const requests = upstream.requests.length;
  const headers = { 'x-correlation-id': 'mine' };
  const reply = await chat({ url: service.url, key: app.liveKey, user, headers }, fields);
  assertRefusal(reply, { code, param: null, hasLink: false });
  assert.equal(reply.headers.get('x-correlation-id'), 'mine');
  assertNoCanary(reply);
  assert.ok(upstream.requests.length <= requests + 1, 'a failed call is never sent again');
  assert.deepEqual(await service.wallet(app, user), { balance: 1_000_000, held: 0, openStreams: 0 });
  const summary = await send('/usage/summary', { url: service.url, key: app.liveKey, user });
  assert.equal(summary.body['requests'], 0);
  assert.equal(summary.body['chargedMicros'], 0);
}

function assertNoCanary({ text, headers }: Reply): void {
  assert.ok(!text.includes('CANARY'), text);
  assert.doesNotMatch(JSON.stringify([...headers]), /CANARY|3333/);
}

for (const [stream, scripts] of [
  [false, [...REFUSED, ...PLAIN]],
  [true, [...REFUSED, ...STREAMED]],
] as const) {
  for (const [what, script, code] of scripts) {
    const name = `CC-09 a ${stream ? 'streamed' : 'plain'} call answered with ${what} is ${code}, and nothing is charged`;
    test(name, async () => {
      upstream.script(script);
      await assertFailure({ stream }, code);
    });
  }
}

test('CC-09 a provider that cannot be reached is a failure of the provider, and nothing is charged', async () => {
  for (const stream of [false, true]) await assertFailure({ model: 'acme.closed-1', stream }, FAILED);
});

test('CC-09 a redirect is not followed', async () => {
  const requests = upstream.requests.length;
  const location = `${upstream.baseUrl}/chat/completions`;
  upstream.script({ status: 307, headers: { location }, body: '' });
  await assertFailure({}, FAILED);
  assert.equal(upstream.requests.length, requests + 1);
});

test('CC-09 an answer that trickles past the whole of its time is given up', async () => {
  const drop = { write: ' ' };
  const pause = { waitMs: 300 };
  upstream.script({ body: [...Array.from({ length: 100 }, () => [drop, pause]).flat(), { write: WHOLE }] });
  await assertFailure({}, FAILED);
});

test('CC-09 after all failures the books are right', async () => {
  assert.deepEqual(await service.check(), []);
  const { rows } = await service.database.owner.query(
    `select outcome, count(*)::int as calls, sum(charged_micros)::int as charged from usage.calls group by outcome`,
  );
  assert.deepEqual(rows, [{ outcome: 'failed', calls: users, charged: 0 }]);
});
