import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonObject } from '../../packages/service/src/kernel/text/json.ts';
import { chargeFor } from '../support/catalogue.ts';
import { type Reply, send } from '../support/client.ts';
import { addJoiningKey } from '../support/keys.ts';
import { saying, streamSteps } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';

const { service, app, upstream, newUser } = await setStage({ checksBooks: true });
const other = await service.addApp();
const user = await newUser(100_000_000);

const USAGE = {
  prompt_tokens: 20,
  completion_tokens: 8,
  total_tokens: 28,
  prompt_tokens_details: { cached_tokens: 4 },
};
const CHARGE = chargeFor({ prompt: 20, cached: 4, completion: 8 });

interface Asking {
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
  readonly payer?: string;
}

function ask(fields: object = {}, asking: Asking = {}): Promise<Reply> {
  const { headers = { 'x-api-key': app.liveKey }, path = '/v1/messages', payer = user } = asking;
  const body = { model: 'large', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }], ...fields };
  return send(path, { url: service.url, user: payer, headers, body });
}

test('WI-01 WI-09 a plain call by Messages costs what a chat call does', async () => {
  upstream.script(saying('Hello, Anna.', USAGE));
  const reply = await ask();
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.headers.get('x-service-charge-micros'), String(CHARGE));
  const { type, role, content, stop_reason: reason, usage } = reply.body as Record<string, unknown>;
  assert.deepEqual([type, role, reason], ['message', 'assistant', 'end_turn']);
  assert.deepEqual(content, [{ type: 'text', text: 'Hello, Anna.', citations: null }]);
  const {
    input_tokens: input,
    cache_read_input_tokens: cached,
    output_tokens: output,
  } = usage as Record<string, number>;
  assert.deepEqual([input, cached, output], [16, 4, 8]);
});

test('WI-01 WI-09 a streamed call by Messages ends with what it cost', async () => {
  upstream.script({ body: streamSteps({ model: 'm', pieces: ['Hel', 'lo'], usage: USAGE, includeUsageChunk: true }) });
  const { status, text } = await ask({ stream: true });
  assert.equal(status, 200, text);
  const names = [...text.matchAll(/^event: (.+)$/gm)].map(([, name]) => name);
  assert.deepEqual([names[0], names.at(-2), names.at(-1)], ['message_start', 'message_delta', 'message_stop']);
  assert.match(text, new RegExp(`\\n: charge-micros=${CHARGE} call-id=\\S+\\n\\n$`));
});

test('WI-09 CC-11 a whole answer that follows an `error` event is the only charge', async () => {
  const payer = await newUser(1_000_000);
  const joining = { 'x-api-key': await addJoiningKey(service.database, app) };
  const steps = streamSteps({ model: 'm', pieces: ['Hel', 'lo'], usage: USAGE, includeUsageChunk: true });
  upstream.script(({ body }) =>
    isJsonObject(body) && body['stream'] === true
      ? { body: [...steps.slice(0, 2), { destroy: true }] }
      : saying('Hello.', USAGE),
  );
  const cut = await ask({ stream: true, max_tokens: 900 }, { payer, headers: joining });
  assert.match(cut.text, /\nevent: error\ndata: [^\n]+\n\n$/);
  const whole = await ask({ max_tokens: 640 }, { payer, headers: joining });
  assert.equal(whole.headers.get('x-service-charge-micros'), String(CHARGE));
  assert.deepEqual(await service.wallet(app, payer), { balance: 1_000_000 - CHARGE, held: 0, openStreams: 0 });
});

const FOREIGN = 'sk-ant-of-somebody-else';

for (const [what, headers, status] of [
  ['x-api-key', { 'x-api-key': app.liveKey }, 200],
  ['authorization', { authorization: `Bearer ${app.liveKey}` }, 200],
  ['both, of which one is foreign', { 'x-api-key': FOREIGN, authorization: `Bearer ${app.liveKey}` }, 200],
  ['both, of which the other is foreign', { 'x-api-key': app.liveKey, authorization: `Bearer ${FOREIGN}` }, 200],
  ['both, alike', { 'x-api-key': app.liveKey, authorization: `Bearer ${app.liveKey}` }, 200],
  ['two valid keys', { 'x-api-key': app.liveKey, authorization: `Bearer ${other.liveKey}` }, 401],
  ['two foreign keys', { 'x-api-key': FOREIGN, authorization: 'Bearer x' }, 401],
  ['no key', {}, 401],
] as const) {
  test(`WI-10 AU-01 a key of Messages by ${what}`, async () => {
    upstream.script(saying('Yes.', USAGE));
    const reply = await ask({}, { headers });
    assert.equal(reply.status, status, reply.text);
    if (status === 401) assert.equal(reply.body['type'], 'error');
  });
}

test('WI-09 a 402 of Messages has our envelope in its own form', async () => {
  const reply = await ask({}, { payer: 'nobody' });
  assert.equal(reply.status, 402);
  const { type, error, request_id: id, topupUrl } = reply.body as Record<string, unknown>;
  const { code, message, correlationId } = error as Record<string, string>;
  assert.deepEqual([type, code, id], ['error', 'PAYMENT_REQUIRED', correlationId]);
  assert.ok(message?.endsWith(String(topupUrl)));
});

test('WI-10 a limit above that of model or wallet is refused in the vendor’s words', async () => {
  const above = await ask({ max_tokens: 128_000 });
  assert.equal(above.status, 400);
  assert.match(
    String(above.error['message']),
    /^max_tokens: 128000 > (\d+), which is the maximum allowed number of output tokens for [\w.-]+$/,
  );
  const limits = [];
  for (const asked of [1_000, 128_000]) {
    const poor = await newUser(2_500);
    const lowered = await ask({ max_tokens: asked }, { payer: poor });
    assert.equal(lowered.status, 400, lowered.text);
    assert.match(String(lowered.error['message']), /pay for no more: top up/);
    const [, most] = new RegExp(`^max_tokens: ${asked} > (\\d+),`).exec(String(lowered.error['message'])) ?? [];
    limits.push(most);
    assert.deepEqual(await service.wallet(app, poor), { balance: 2_500, held: 0, openStreams: 0 });
    upstream.script(saying('Yes.', USAGE));
    assert.equal((await ask({ max_tokens: Number(most) }, { payer: poor })).status, 200, 'it comes again with that');
    assert.deepEqual(await service.wallet(app, poor), { balance: 2_500 - CHARGE, held: 0, openStreams: 0 });
  }
  assert.equal(limits[0], limits[1], 'the lower limit of the two in one refusal, because clients follow no second');
});

test('WI-10 tokens are counted without a provider and without a charge', async () => {
  const asked = upstream.requests.length;
  const { balance } = await service.wallet(app, user);
  const counted = await ask({ max_tokens: undefined }, { path: '/v1/messages/count_tokens' });
  assert.equal(counted.status, 200, counted.text);
  assert.ok(Number(counted.body['input_tokens']) > 0);
  assert.deepEqual([upstream.requests.length, (await service.wallet(app, user)).balance], [asked, balance]);
  const refused = await ask({ model: 'unheard-of' }, { path: '/v1/messages/count_tokens' });
  assert.deepEqual([refused.status, refused.body['type']], [400, 'error']);
});
