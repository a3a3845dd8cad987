// Answers and streams of Responses over real HTTP, from upstreams that serve Responses and from those that serve chat completions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../packages/service/src/kernel/text/json.ts';
import { type Reply, send } from '../support/client.ts';
import { lockWallet } from '../support/lock-wait.ts';
import { openStream } from '../support/open-stream.ts';
import { billNamed } from '../support/receipts.ts';
import { checkStream } from './responses/check-stream.ts';
import { eventsIn } from './responses/streams.ts';
import { BALANCE, CHARGE, setResponsesStage } from '../support/responses-stage.ts';
import {
  callItem,
  eventSteps,
  messageItem,
  reasoningItem,
  RESPONSE_USAGE,
  responding,
  responseEvents,
  streaming,
} from '../support/responses-upstream.ts';
import { frame, type NextScript, streamSteps } from '../support/scripted-upstream.ts';
import { waitUntil } from '../support/wait-until.ts';

const { upstream, service, app, newUser } = await setResponsesStage();
const USAGE = { ...RESPONSE_USAGE, input_tokens_details: { cached_tokens: 8, cache_write_tokens: 0 } };
const CHAT_USAGE = {
  prompt_tokens: 20,
  completion_tokens: 11,
  prompt_tokens_details: { cached_tokens: 8 },
  completion_tokens_details: { reasoning_tokens: 6 },
};
/** What names the operator's account, or how they were served. */
const HIDDEN = /operator says|_secret|flex|gpt-9|billing|resp_1\b/;

type Fields = Readonly<Record<string, unknown>>;

/** A call of a fresh user, with its bill. The wallet has the rest, and nothing is held. */
async function respond(script: NextScript, fields: Fields = {}, headers: Readonly<Record<string, string>> = {}) {
  const user = await newUser(BALANCE);
  upstream.script(script);
  const ask = (): Promise<Reply> =>
    send('/v1/responses', {
      url: service.url,
      key: app.liveKey,
      user,
      headers: { 'x-correlation-id': user, ...headers },
      body: { model: 'acme.new-1', input: 'Where?', ...fields },
    });
  const reply = await ask();
  const bill = await waitUntil('it is settled', () => billNamed(service.database, user));
  assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - bill.charged, held: 0, openStreams: 0 });
  return { reply, bill, ask };
}

/** The last Response of a stream, whose events were checked. */
function lastOf({ status, text }: Reply): JsonObject {
  assert.equal(status, 200, text);
  return checkStream(eventsIn(text));
}

const OUTPUT = [
  reasoningItem(['It is in', 'Italy.'], 'sealed-1'),
  messageItem('In Rome.'),
  callItem('find', '{"city":"Rome"}'),
];

test('WI-02 WI-06 a vendor’s own answer comes back with its items, and its usage is charged', async () => {
  const { reply, bill } = await respond(responding(OUTPUT), { store: false });
  assert.deepEqual([reply.body['output'], reply.body['usage']], [OUTPUT, USAGE]);
  assert.deepEqual([bill.charged, reply.headers.get('x-service-charge-micros')], [CHARGE, String(CHARGE)]);
  assert.doesNotMatch(reply.text, HIDDEN);
});

test('WI-02 WI-06 a vendor’s own events come back as they come, under our head', async () => {
  const { reply, bill } = await respond(streaming(OUTPUT), { stream: true });
  const last = lastOf(reply);
  assert.deepEqual([last['output'], last['usage'], last['charge_micros']], [OUTPUT, USAGE, CHARGE]);
  assert.deepEqual([bill.charged, bill.isEstimated], [CHARGE, false]);
  assert.deepEqual([last['model'], last['store'], last['instructions']], ['acme.new-1', false, null]);
  assert.match(reply.text, new RegExp(`\n\n: charge-micros=${CHARGE} call-id=\\S+\n\n$`));
  assert.doesNotMatch(reply.text, HIDDEN);
});

for (const [name, model] of [
  ['Responses', 'acme.new-1'],
  ['chat completions', 'acme.chat-1'],
] as const) {
  const begun = streamSteps({ model: 'm', pieces: ['In ', 'Rome.'], usage: CHAT_USAGE, includeUsageChunk: true });
  const isChat = model === 'acme.chat-1';
  const events = eventSteps(responseEvents([messageItem('In Rome.')]));
  const whole = isChat ? begun : events;
  const place = isChat ? 2 : 5;

  test(`WI-06 a retry of a stream gets the same bytes for nothing, over ${name}`, async () => {
    const { reply, bill, ask } = await respond({ body: whole }, { model, stream: true }, { 'idempotency-key': model });
    const { id } = lastOf(reply);
    const again = await ask();
    assert.equal(again.text, reply.text);
    assert.equal(again.headers.get('x-service-replayed'), 'true');
    assert.match(String(id), /^resp_/);
    assert.equal(bill.charged, CHARGE);
  });

  test(`WI-06 a stream past its limit is cut as incomplete and pays its hold, over ${name}`, async () => {
    const long = 'x'.repeat(40_000);
    const steps = isChat
      ? streamSteps({ model: 'm', pieces: ['In ', long, long], usage: CHAT_USAGE, includeUsageChunk: true })
      : eventSteps(responseEvents([messageItem(`In ${long}`)]));
    const { reply, bill } = await respond({ body: steps }, { model, stream: true, max_output_tokens: 16 });
    const last = lastOf(reply);
    assert.deepEqual(
      [last['status'], last['incomplete_details'], last['charge_micros']],
      ['incomplete', { reason: 'max_output_tokens' }, bill.charged],
    );
    assert.equal(bill.charged, bill.held);
  });

  test(`WI-07 a failure after output is response.failed and free, over ${name}`, async () => {
    const user = await newUser(BALANCE);
    const { promise: read, resolve } = Promise.withResolvers<void>();
    const failure = isChat
      ? frame({ error: { message: 'secret', code: 'server_error' } })
      : `event: error\ndata: ${JSON.stringify({ type: 'error', code: 'server_error', message: 'secret' })}\n\n`;
    upstream.script({ body: [...whole.slice(0, place), { waitFor: read }, { write: failure }] });
    const asked = { path: '/v1/responses', url: service.url, key: app.liveKey, user };
    const stream = await openStream(asked, { model, input: 'Where?' });
    await stream.until('In ');
    resolve();
    const text = await stream.whole();
    const last = checkStream(eventsIn(text));
    const error = last['error'] as JsonObject;
    const { code, serviceCode, message, correlationId } = error;
    assert.deepEqual([last['status'], code, serviceCode], ['failed', 'server_error', 'UPSTREAM_PROVIDER_ERROR']);
    assert.match(String(message), /Nothing was charged/);
    assert.equal(correlationId, stream.headers.get('x-correlation-id'));
    assert.doesNotMatch(text, /secret/);
    assert.deepEqual(await service.wallet(app, user), { balance: BALANCE, held: 0, openStreams: 0 });
  });

  test(`CC-08 the last event of a stream leaves after its settlement, over ${name}`, async (t) => {
    const user = await newUser(BALANCE);
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    upstream.script({ body: [...whole.slice(0, place), { waitFor: held }, ...whole.slice(place)] });
    const stream = await openStream(
      { path: '/v1/responses', url: service.url, key: app.liveKey, user },
      { model, input: 'Where?' },
    );
    await stream.until('In ');
    const lock = await lockWallet(service.database, user);
    t.after(lock.release);
    release();
    await lock.waiting(1);
    assert.doesNotMatch(await stream.soFar(), /response\.completed|charge/);
    await lock.release();
    assert.equal(checkStream(eventsIn(await stream.whole()))['charge_micros'], CHARGE);
    assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - CHARGE, held: 0, openStreams: 0 });
  });
}
