import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chargeFor } from '../support/catalogue.ts';
import { type Reply, send } from '../support/client.ts';
import { createGate } from '../support/gate.ts';
import { saying, streamSteps } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';

const BODY_BYTES_MAX = 2_000_000;
const stage = await setStage({ environment: { PURSER_CALL_BODY_BYTES_MAX: String(BODY_BYTES_MAX) } });
const { service, app, upstream } = stage;
await service.fund(app, 'anna', 100_000_000);

const USAGE = {
  prompt_tokens: 20,
  completion_tokens: 8,
  total_tokens: 28,
  prompt_tokens_details: { cached_tokens: 4 },
};
const CHARGE = chargeFor({ prompt: 20, cached: 4, completion: 8 });

interface Asking {
  readonly user?: string;
  readonly key?: string;
}

function respond(fields: object = {}, { user = 'anna', key = app.liveKey }: Asking = {}): Promise<Reply> {
  return send('/v1/responses', { url: service.url, key, user, body: { model: 'large', input: 'Hello', ...fields } });
}

test('WI-01 WI-06 a plain call by Responses costs what a chat call does', async () => {
  upstream.script(saying('Hello, Anna.', USAGE));
  const reply = await respond();
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.headers.get('x-service-charge-micros'), String(CHARGE));
  const { object, status, output, usage } = reply.body as Record<string, unknown>;
  assert.deepEqual([object, status], ['response', 'completed']);
  assert.match(JSON.stringify(output), /Hello, Anna\./);
  assert.deepEqual(usage, {
    input_tokens: 20,
    input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
    output_tokens: 8,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 28,
  });
});

test('WI-01 WI-06 a streamed call by Responses ends with what it cost', async () => {
  upstream.script({ body: streamSteps({ model: 'm', pieces: ['Hel', 'lo'], usage: USAGE, includeUsageChunk: true }) });
  const { status, text } = await respond({ stream: true });
  assert.equal(status, 200, text);
  const events = text.split('\n\n').filter((frame) => frame.startsWith('event: '));
  const last = JSON.parse(events.at(-1)?.split('\ndata: ')[1] ?? '') as { response: Record<string, unknown> };
  assert.equal(events.at(-1)?.split('\n')[0], 'event: response.completed');
  assert.equal(last.response['charge_micros'], CHARGE);
});

test('WI-07 a 402 of Responses has the link in its message', async () => {
  const { status, error, headers } = await respond({}, { user: 'nobody' });
  assert.equal(status, 402);
  const { message, topupUrl, code } = error;
  assert.equal(code, 'PAYMENT_REQUIRED');
  assert.ok(String(message).endsWith(String(topupUrl)) && String(topupUrl).startsWith('http'), String(message));
  assert.equal(headers.get('retry-after'), null);
});

const sized = (bytes: number) => respond({ model: 'none', input: 'x'.repeat(bytes) });

test('CC-06 WI-04 a body of Responses may be as large as the setting says', async () => {
  assert.equal((await sized(BODY_BYTES_MAX - 1_000)).error['param'], 'model');
  assert.equal((await sized(BODY_BYTES_MAX)).status, 413);
});

test('CC-06 WI-04 large bodies of calls that run at a time are bounded', async () => {
  const gate = createGate();
  upstream.script({ body: [{ waitFor: gate.opened }, { write: saying('Yes.', USAGE).body as string }] });
  const input = 'x'.repeat(BODY_BYTES_MAX - 1_000);
  const before = upstream.requests.length;
  const calls = Array.from({ length: 30 }, async () => {
    const reply = await respond({ input });
    if (reply.status === 429) gate.open();
    return reply;
  });
  const replies = await Promise.all(calls);
  const refused = replies.filter(({ status }) => status === 429);
  assert.ok(refused.length > 0 && refused.every(({ headers }) => headers.get('x-should-retry') === 'true'));
  const answered = replies.filter(({ status }) => status === 200).length;
  assert.equal(answered + refused.length, 30);
  assert.equal(upstream.requests.length - before, answered, 'a refused one reaches no provider');
  upstream.script(saying('Yes.', USAGE));
  assert.equal((await respond({ input })).status, 200, 'there is room again');
});

test('WI-01 SB-01 a test key gets the fixed answer by Responses', async () => {
  const reply = await respond({}, { key: app.testKey });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.headers.get('x-service-mode'), 'sandbox');
});
