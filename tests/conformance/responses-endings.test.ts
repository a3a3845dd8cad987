// Streams and failures of upstreams that serve Responses alone, over real HTTP.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStream, payloadsOf } from '../support/open-stream.ts';
import { billNamed } from '../support/receipts.ts';
import {
  eventFrame,
  eventSteps,
  messageItem,
  reasoningItem,
  responding,
  RESPONSE_USAGE,
  responseEvents,
  responseOf,
  streaming,
} from '../support/responses-upstream.ts';
import { BALANCE, CHARGE, joined, setResponsesStage, WITH_USAGE } from '../support/responses-stage.ts';
import { frame, type UpstreamStep } from '../support/scripted-upstream.ts';
import { waitUntil } from '../support/wait-until.ts';

const { call, service, app, upstream, newUser } = await setResponsesStage();

const ERRORS: readonly (readonly [
  what: string,
  status: number,
  code: string,
  body: object,
  headers?: Record<string, string>,
])[] = [
  ['throttled', 429, 'UPSTREAM_THROTTLED', { error: { code: 'rate_limit_exceeded' } }, { 'retry-after': '7' }],
  ['rejected', 400, 'UPSTREAM_PROVIDER_ERROR', { error: { type: 'invalid_request_error', param: 'input[0]' } }],
  ['too long', 400, 'UPSTREAM_PROVIDER_ERROR', { error: { code: 'context_length_exceeded' } }],
  ['failing', 500, 'UPSTREAM_PROVIDER_ERROR', { error: { type: 'server_error' } }],
];

for (const [what, status, code, body, headers = {}] of ERRORS) {
  test(`ER-02 a call is refused whose Responses upstream is ${what}`, async () => {
    for (const stream of [false, true]) {
      const script = {
        status,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      };
      const { reply, bill } = await call(script, {
        stream,
        messages: [{ role: 'user', content: `${what} ${stream}` }],
      });
      assert.deepEqual([reply.error['code'], bill.charged, bill.outcome], [code, 0, 'failed'], reply.text);
      if (headers['retry-after'] !== undefined) assert.equal(reply.headers.get('retry-after'), '7');
    }
  });
}

const HELLO = [messageItem('Hello there')];
const EVENTS = responseEvents(HELLO);
const without = (...types: readonly string[]) => EVENTS.filter(({ type }) => !types.some((one) => type.includes(one)));
const bare = (events: typeof EVENTS): readonly UpstreamStep[] =>
  events.map((event) => ({ write: frame({ ...event, sequence_number: undefined }) }));
const PING = frame({ type: 'keepalive', sequence_number: 3 });
const SERVED: Readonly<Record<string, readonly UpstreamStep[]>> = {
  'without names and numbers of events': bare(EVENTS),
  'with [DONE] behind its end': [...eventSteps(EVENTS), { write: frame('[DONE]') }],
  'without announcements': eventSteps(without('added', 'created', 'in_progress')),
  'without deltas': eventSteps(without('delta', 'part')),
  'that ends each item, and says no more': eventSteps(without('delta', 'part', 'added', '_text')),
  'with nothing but its end': eventSteps(EVENTS.slice(-1)),
  'whose end repeats nothing': eventSteps([
    ...EVENTS.slice(0, -1),
    { type: 'response.completed', response: responseOf([]) },
  ]),
  'with signs of life and events of others': [
    { write: `: comment\n\n${PING}` },
    ...eventSteps(EVENTS.slice(0, 5)),
    { write: `${PING}${frame({ type: 'vendor.stats', message: 'fine' })}event: note\ndata: words\n\n` },
    ...eventSteps(EVENTS.slice(5)),
  ],
  'whose connection is lost behind its end': [...eventSteps(EVENTS), { write: 'data: {"torn' }, { destroy: true }],
  'with an error behind its end': [...eventSteps(EVENTS), { write: frame({ error: { message: 'late' } }) }],
  'with another id on each event': EVENTS.map((event, place) => ({
    write: eventFrame('item_id' in event ? { ...event, item_id: `other-${place}` } : event),
  })),
};

for (const [what, body] of Object.entries(SERVED)) {
  test(`CC-11 a stream of Responses is whole ${what}`, async () => {
    const { reply, bill } = await call({ body }, WITH_USAGE);
    const told = joined(reply);
    assert.deepEqual([told.content, told.reasons, told.isDone], ['Hello there', ['stop'], true]);
    assert.deepEqual([bill.charged, bill.isEstimated], [CHARGE, false]);
  });
}

test('CC-11 a stream of Responses that lacks nothing but its end is charged', async () => {
  for (const last of [[], [{ destroy: true } as const]]) {
    const { reply, bill } = await call({ body: [...eventSteps(EVENTS.slice(0, -1)), ...last] }, WITH_USAGE);
    const told = joined(reply);
    assert.deepEqual([told.content, told.reasons, bill.outcome], ['Hello there', ['stop'], 'answered']);
    assert.ok(bill.isEstimated && bill.charged > 0);
  }
});

const FAILED = { status: 'failed', error: { code: 'server_error', message: 'secret words' } };
const BROKEN: Readonly<Record<string, readonly UpstreamStep[]>> = {
  'is cut in a text': [...eventSteps(EVENTS.slice(0, 5)), { destroy: true }],
  'ends in a text': eventSteps(EVENTS.slice(0, 5)),
  'ends behind its reasoning': eventSteps(responseEvents([reasoningItem(['Hm.']), ...HELLO]).slice(0, 9)),
  fails: eventSteps([...EVENTS.slice(0, 5), { type: 'response.failed', response: responseOf([], FAILED) }]),
  'sends an error': eventSteps([
    ...EVENTS.slice(0, 5),
    { type: 'error', code: 'server_error', message: 'secret words' },
  ]),
  'is cancelled': eventSteps([
    ...EVENTS.slice(0, 5),
    { type: 'response.cancelled', response: responseOf([], { status: 'cancelled' }) },
  ]),
};

for (const [what, body] of Object.entries(BROKEN)) {
  test(`ER-06 a stream of Responses that ${what} is free`, async () => {
    const { reply, bill } = await call({ body }, { stream: true });
    assert.deepEqual([bill.charged, bill.outcome], [0, 'failed']);
    const last = reply.status === 200 ? payloadsOf(reply.text).at(-1) : reply.body;
    assert.equal((last as { error?: { code: string } }).error?.code, 'UPSTREAM_PROVIDER_ERROR');
    assert.doesNotMatch(reply.text, /secret/);
  });
}

test('CC-09 a failed response with status 200 has a status of its own', async () => {
  const failed = responseOf([], { ...FAILED, error: { code: 'rate_limit_exceeded', message: 'secret words' } });
  for (const script of [
    { body: JSON.stringify(failed) },
    { body: JSON.stringify({ error: { code: 'rate_limit_exceeded' } }) },
  ]) {
    const { reply, bill } = await call(script);
    assert.deepEqual([reply.status, bill.charged], [429, 0], reply.text);
  }
  const events = eventSteps([...EVENTS.slice(0, 2), { type: 'response.failed', response: failed }]);
  const { reply } = await call({ body: events }, { stream: true });
  assert.equal(reply.status, 429);
});

for (const [reason, finish] of [
  ['max_output_tokens', 'length'],
  ['content_filter', 'content_filter'],
] as const) {
  test(`CC-01 an answer that is incomplete for ${reason} ends with ${finish}`, async () => {
    const more = { status: 'incomplete', incomplete_details: { reason } };
    const { reply, bill } = await call(responding(HELLO, more));
    const [choice] = reply.body['choices'] as readonly { finish_reason: string }[];
    assert.deepEqual([choice?.finish_reason, bill.charged], [finish, CHARGE]);
    const streamed = await call(
      { body: eventSteps(responseEvents(HELLO, more, 'response.incomplete')) },
      { stream: true },
    );
    assert.deepEqual([joined(streamed.reply).reasons, streamed.bill.charged], [[finish], CHARGE]);
  });
}

test('CC-21 nothing of the operator’s account reaches an app from a response', async () => {
  const plain = await call(responding(HELLO));
  const streamed = await call(streaming(HELLO), WITH_USAGE);
  for (const { reply } of [plain, streamed]) {
    assert.doesNotMatch(reply.text, /secret|flex|billing|operator says|gpt-9/);
  }
});

test('CC-23 early usage of a stream of Responses is no report of all of it', async () => {
  const early = {
    ...RESPONSE_USAGE,
    output_tokens: 0,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 20,
  };
  const [created, ...rest] = EVENTS;
  assert.ok(created !== undefined);
  const begun = { ...created, response: responseOf([], { status: 'in_progress', usage: early }) };
  const { bill } = await call({ body: eventSteps([begun, ...rest]) }, WITH_USAGE);
  assert.deepEqual([bill.charged, bill.isEstimated], [CHARGE, false]);
});

test('CC-11 a stream of Responses that its caller leaves costs its part', async () => {
  const user = await newUser(BALANCE);
  upstream.script({ body: [...eventSteps(EVENTS.slice(0, 5)), { hang: true }] });
  const headers = { 'x-correlation-id': user };
  const stream = await openStream({ url: service.url, key: app.liveKey, user, headers }, { model: 'acme.new-1' });
  await stream.until('Hello ');
  stream.leave();
  const bill = await waitUntil('it is settled', () => billNamed(service.database, user));
  await upstream.requests.at(-1)?.closed;
  assert.deepEqual([bill.outcome, bill.isEstimated, upstream.requests.at(-1)?.aborted], ['abandoned', true, true]);
  assert.ok(bill.charged > 0 && bill.charged < CHARGE, String(bill.charged));
});

test('WA-07 a stream of Responses past its limit is cut and costs its hold', async () => {
  const { reply, bill } = await call(streaming([messageItem('word '.repeat(8_000))]), {
    ...WITH_USAGE,
    max_tokens: 16,
  });
  const told = joined(reply);
  assert.deepEqual([told.reasons, told.isDone, bill.charged, bill.isClamped], [['length'], true, bill.held, true]);
  assert.ok(told.content.length < 40_000);
});
