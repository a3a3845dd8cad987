// Errors that a provider of the compatible format sends with status 200, in the place of an answer or of a stream.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { chat } from '../support/client.ts';
import { assertRefusal } from '../support/refusal.ts';
import { completionBody, startScriptedUpstream, streamSteps } from '../support/scripted-upstream.ts';
import { startTestService } from '../support/service.ts';
import { catalogueOf, scriptModels } from '../support/several-upstreams.ts';

const servers = { first: await startScriptedUpstream(), second: await startScriptedUpstream() };
const [first, second] = [scriptModels(servers.first), scriptModels(servers.second)];
const service = await startTestService(
  catalogueOf(servers, {
    alone: [{ provider: 'first', micros: 1 }],
    pair: ['first', 'second'].map((provider) => ({ provider, micros: 1 })),
  }),
);
const app = await service.addApp();
await service.fund(app, 'anna', 1_000_000);

after(async () => {
  assert.deepEqual(await service.check(), []);
  await service.close();
  for (const server of Object.values(servers)) await server.close();
});

const SECRET = 'what the provider said';
const WAYS = [false, true];
let asked = 0;

/** A call that differs from all others, because rejections are remembered. */
function ask(model: string, stream: boolean) {
  const messages = [{ role: 'user', content: `Question ${(asked += 1)}` }];
  return chat({ url: service.url, key: app.liveKey, user: 'anna' }, { model: `acme.${model}`, stream, messages });
}

const error = (fields: object): object => ({ error: { message: SECRET, ...fields } });
const minimax = (code: number, message = SECRET): object => ({
  id: 'm',
  choices: null,
  usage: null,
  base_resp: { status_code: code, status_msg: message },
});

/** Each body, and the `error.type` that a caller reads. */
const BODIES: readonly (readonly [body: unknown, type: string])[] = [
  [error({ code: 429 }), 'throttled'],
  [error({ code: '429' }), 'throttled'],
  [error({ type: 'rate_limit_error', code: 429 }), 'throttled'],
  [error({ code: 'context_length_exceeded' }), 'context_length_exceeded'],
  [error({ code: 'invalid_api_key' }), 'upstream_unauthorized'],
  [error({ code: 402 }), 'upstream_unauthorized'],
  [error({ type: 'invalid_request_error' }), 'upstream_rejected'],
  [error({ code: 503 }), 'upstream_outage'],
  [error({}), 'upstream_outage'],
  [[error({ code: 429, status: 'RESOURCE_EXHAUSTED' })], 'throttled'],
  [{ error: 'Model is overloaded', error_type: 'overloaded' }, 'throttled'],
  [{ error: 'Rate limit reached for this model' }, 'throttled'],
  [{ object: 'error', message: 'maximum context length is 9', code: 400 }, 'context_length_exceeded'],
  [{ code: 'invalid_parameter_error', message: SECRET }, 'upstream_rejected'],
  [{ detail: 'This server does not support image input' }, 'upstream_rejected'],
  [minimax(1000), 'upstream_outage'],
  [minimax(1001), 'upstream_timeout'],
  [minimax(1002), 'throttled'],
  [minimax(1004), 'upstream_unauthorized'],
  [minimax(1008), 'upstream_unauthorized'],
  [minimax(1026), 'upstream_rejected'],
  [minimax(1039), 'upstream_rejected'],
  [minimax(2013, 'invalid params, context window exceeds limit'), 'context_length_exceeded'],
];

/** How a body comes. A plain answer is JSON, also if its type says something else; a stream may be JSON too, or have it in its first frame. */
const FORMS: readonly (readonly [stream: boolean, type: string, write: (text: string) => string])[] = [
  [false, 'application/json', (text) => text],
  [false, 'text/plain', (text) => ` ${text}\n`],
  [true, 'application/json', (text) => text],
  [true, 'text/plain; charset=utf-8', (text) => `\n${text}\n\n`],
  [true, 'text/event-stream', (text) => text],
  [true, 'text/event-stream', (text) => `: hello\n\ndata: ${text}\n\n`],
  [true, 'text/event-stream', (text) => `event: error\ndata: ${text}\n\ndata: [DONE]\n\n`],
];

test('CC-09 CC-17 an error with status 200 is the failure that it names', async () => {
  for (const [body, type] of BODIES) {
    const text = JSON.stringify(body);
    for (const [stream, contentType, write] of FORMS) {
      first.script('alone', { headers: { 'content-type': contentType }, body: write(text) });
      const reply = await ask('alone', stream);
      const about = `${text}, ${contentType}, ${stream ? 'streamed' : 'plain'}`;
      if (type === 'throttled') assertRefusal(reply, { code: 'UPSTREAM_THROTTLED' }, about);
      else assertRefusal(reply, { code: 'UPSTREAM_PROVIDER_ERROR', type }, about);
      assert.ok(!reply.text.includes(SECRET), about);
    }
  }
  assert.deepEqual(await service.wallet(app, 'anna'), { balance: 1_000_000, held: 0, openStreams: 0 });
});

test('CC-09 a stream that is no stream and no error is broken', async () => {
  for (const body of [completionBody({ model: 'x', content: 'Hi.' }), '{"choices":', '[1]', '{}']) {
    first.script('alone', { body });
    assertRefusal(await ask('alone', true), { code: 'UPSTREAM_PROVIDER_ERROR', type: 'upstream_broken' }, body);
  }
});

test('CC-16 an error with status 200 sends the call to the next upstream', async () => {
  second.script('pair', ({ body }) => {
    const isStream = (body as { stream?: boolean }).stream === true;
    return isStream
      ? { body: streamSteps({ model: 'x', pieces: ['Hi.'], includeUsageChunk: false }) }
      : { body: completionBody({ model: 'x', content: 'Hi.' }) };
  });
  for (const body of [error({ code: 429 }), error({ code: 'invalid_api_key' }), minimax(1002), minimax(1008)]) {
    for (const stream of WAYS) {
      first.script('pair', { body: JSON.stringify(body) });
      const [firstBefore, secondBefore] = [first.count('pair'), second.count('pair')];
      const reply = await ask('pair', stream);
      assert.equal(reply.status, 200, reply.text);
      assert.match(reply.text, /"content":"Hi\."/);
      assert.equal(second.count('pair'), secondBefore + 1);
      // Once the breaker of the key is open, the first is not asked any more.
      assert.ok(first.count('pair') <= firstBefore + 1);
    }
  }
  assert.ok(first.count('pair') > 0);
});
