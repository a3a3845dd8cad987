// Messages in and out: the caller's own request goes to Claude's vendor, and what comes back is counted like any other answer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BALANCE, eventsIn, SECRETS, setClaudeStage } from '../support/claude-stage.ts';
import {
  answering,
  BLOCKS,
  EDITS,
  eventsOf,
  hello,
  type Fields,
  NEW_BLOCK,
  OVERLOADED,
  streaming,
  textOfEvents,
} from '../support/claude-upstream.ts';
import { send } from '../support/client.ts';
import type { NextScript, UpstreamStep } from '../support/scripted-upstream.ts';
import { joinStream } from './messages/join-stream.ts';

const { upstream, service, app, newUser, ask, sent } = await setClaudeStage();

const MARK = { cache_control: { type: 'ephemeral' } };
const HOUR = { cache_control: { type: 'ephemeral', ttl: '1h' } };

/** A request with all that a translation would lose. */
const ASKED: Fields = {
  system: [{ type: 'text', text: 'You look.', ...HOUR }],
  messages: [
    {
      role: 'user',
      content: [
        {
          type: 'document',
          source: { type: 'text', media_type: 'text/plain', data: 'Rome is old.' },
          title: 'Rome',
          citations: { enabled: true },
          ...MARK,
        },
        { type: 'text', text: 'Look.' },
      ],
    },
    { role: 'assistant', content: BLOCKS },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'tool_reference', tool_name: 'now' }] },
        { type: 'tool_result', tool_use_id: 'toolu_2', content: 'Noon.', is_error: true, ...MARK },
      ],
    },
    { role: 'system', content: 'Be brief.', output_config: { effort: 'low' } },
  ],
  tools: [
    { name: 'look', input_schema: { type: 'object' }, input_examples: [{ city: 'Rome' }], eager_input_streaming: true },
    { name: 'now', input_schema: { type: 'object' }, defer_loading: true },
  ],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  thinking: { type: 'adaptive', display: 'summarized' },
  output_config: { effort: 'xhigh', task_budget: { type: 'tokens', total: 5_000 } },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  stop_sequences: ['END'],
};

test('WI-12 a request of Messages reaches Claude as it was written', async () => {
  const headers = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'new-thing-2026-09-09,effort-2025-11-24' };
  const { reply } = await ask(answering(), { ...ASKED, metadata: { user_id: 'anna-secret' } }, { headers });
  assert.equal(reply.status, 200, reply.text);
  const { body, headers: got, path } = sent();
  assert.deepEqual(body, { model: 'claude-opus-5-5', max_tokens: 500, ...ASKED });
  assert.equal(path, '/v1/messages');
  assert.deepEqual([got['anthropic-version'], got['anthropic-beta']], Object.values(headers));
  assert.deepEqual([got['x-api-key'], got.authorization], ['sk-of-the-operator', undefined]);
  assert.equal(reply.headers.get('x-service-left-out'), null);
});

test('WI-12 an answer of Claude comes back whole, in words of ours for whom it is', async () => {
  const content = [...BLOCKS, NEW_BLOCK];
  const details = { type: 'refusal', category: 'cyber', explanation: 'No.' };
  const more = { context_management: EDITS };
  const { reply, bill } = await ask(answering({ content, end: { stop_details: details }, more }));
  assert.doesNotMatch(reply.text, SECRETS);
  const { id, usage, ...rest } = reply.body;
  assert.match(String(id), /^msg_[\da-f-]{36}$/);
  assert.deepEqual(rest, {
    type: 'message',
    role: 'assistant',
    model: 'acme.claude-1',
    container: null,
    diagnostics: null,
    content,
    stop_reason: 'tool_use',
    stop_sequence: null,
    stop_details: details,
    ...more,
  });
  const { cache_creation: creation, ...counts } = usage as Fields;
  assert.deepEqual(creation, { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 200 });
  assert.deepEqual(
    [counts['input_tokens'], counts['cache_read_input_tokens'], counts['cache_creation_input_tokens']],
    [900, 4_000, 500],
  );
  assert.deepEqual([bill.charged, bill.isEstimated, bill.isClamped], [900 + 400 + 375 + 400 + 40, false, false]);
});

test('WI-12 Claude’s events come back unchanged, and a stream costs what plain answers do', async () => {
  const content = [...BLOCKS, NEW_BLOCK];
  const asked = { content, more: { context_management: EDITS } };
  const { reply, bill } = await ask(streaming(asked), { stream: true });
  assert.doesNotMatch(reply.text, SECRETS);
  const events = eventsIn(reply);
  assert.deepEqual(ofBlocks(events), ofBlocks(eventsOf(asked)));
  const { usage } = (events[0] as { readonly message: { readonly usage: Fields } }).message;
  assert.deepEqual(
    [usage['input_tokens'], usage['cache_read_input_tokens']],
    [900, 4_000],
    'it begins with the real prompt',
  );
  const [end, last] = events.slice(-2);
  assert.deepEqual([end?.['context_management'], last?.['type']], [EDITS, 'message_stop']);
  assert.deepEqual(end?.['delta'], {
    stop_reason: 'tool_use',
    stop_sequence: null,
    stop_details: null,
    container: null,
  });
  assert.deepEqual([bill.charged, bill.isEstimated, bill.isClamped], [2_115, false, false]);
  assert.equal(end?.['charge_micros'], 2_115);
});

test('WI-02 a stream of Claude is the same however its bytes arrive', async () => {
  const text = textOfEvents(eventsOf());
  const whole = eventsIn((await ask(streaming(), { stream: true })).reply).map(withoutId);
  const sizes = [7, 61, 400];
  for (const size of sizes) {
    const bytes = Buffer.from(text);
    const steps: UpstreamStep[] = [];
    for (let at = 0; at < bytes.length; at += size) steps.push({ write: bytes.subarray(at, at + size) });
    const { reply, bill } = await ask({ body: steps }, { stream: true });
    assert.deepEqual(eventsIn(reply).map(withoutId), whole);
    assert.equal(bill.charged, 2_115);
  }
});

function ofBlocks(events: readonly Fields[]): readonly Fields[] {
  return events.filter(({ type }) => String(type).startsWith('content_block'));
}

function withoutId(event: Fields): unknown {
  return JSON.parse(JSON.stringify(event).replace(/msg_[\da-f-]{36}/, 'msg_1'));
}

const failing: NextScript = ({ body }) =>
  (body as Fields)['model'] === 'claude-opus-5-5'
    ? { status: 529, body: JSON.stringify(OVERLOADED) }
    : answering(hello);

test('CC-16 a Claude that fails before it says anything is followed by the next', async () => {
  const [start, ping, block] = eventsOf(hello);
  const early: readonly (readonly Fields[])[] = [
    [OVERLOADED],
    [start, ping, OVERLOADED].map((event) => event ?? {}),
    [start, block, OVERLOADED].map((event) => event ?? {}),
  ];
  for (const events of early) {
    const script: NextScript = ({ body }) =>
      (body as Fields)['model'] === 'claude-opus-5-5' ? { body: [{ write: textOfEvents(events) }] } : streaming(hello);
    const { reply, bill } = await ask(script, { model: 'acme.two-1', stream: true });
    assert.deepEqual([reply.status, bill.charged], [200, 70], reply.text);
    assert.equal(joinStream(eventsIn(reply))['stop_reason'], 'end_turn');
  }
  const { reply, bill } = await ask(failing, { model: 'acme.two-1' });
  assert.deepEqual([reply.status, bill.charged], [200, 70], reply.text);
});

test('WI-12 beside Claude, a vendor of another interface gets a translation', async () => {
  const chat = { choices: [{ index: 0, message: { role: 'assistant', content: 'Rome.' }, finish_reason: 'stop' }] };
  const usage = { prompt_tokens: 50, completion_tokens: 20, total_tokens: 70 };
  const script: NextScript = ({ path }) =>
    path.endsWith('/messages')
      ? { status: 529, body: JSON.stringify(OVERLOADED) }
      : { body: JSON.stringify({ ...chat, usage }) };
  const headers = { 'anthropic-beta': 'new-thing-2026-09-09' };
  const { reply, bill } = await ask(script, { ...ASKED, model: 'acme.mixed-1' }, { headers });
  assert.deepEqual([reply.status, bill.charged], [200, 70], reply.text);
  const [native, translated] = upstream.requests.slice(-2);
  assert.deepEqual(native?.body, { model: 'claude-opus-5-5', max_tokens: 500, ...ASKED });
  assert.deepEqual([translated?.path, translated?.headers['anthropic-beta']], ['/v1/chat/completions', undefined]);
});

test('WI-02 the end user is a pseudonym at Claude, where the entry wants one', async () => {
  await ask(answering(hello), { model: 'acme.named-1', metadata: { user_id: 'anna-secret' } });
  const { metadata } = sent().body as { readonly metadata: { readonly user_id: string } };
  assert.match(metadata.user_id, /^[\w-]{43}$/);
});

test('WA-07 cache marks without a price do not reach Claude', async () => {
  await ask(answering(hello), { ...ASKED, ...MARK, model: 'acme.unpriced-1' });
  assert.doesNotMatch(sent().rawBody.toString(), /cache_control/);
});

test('WI-12 what would cost more than the hold does not reach Claude', async () => {
  const edits = [{ type: 'compact_20260112' }, { type: 'clear_tool_uses_20250919' }];
  const headers = { 'anthropic-beta': 'context-1m-2025-08-07, new-thing-2026-09-09' };
  const { reply } = await ask(answering(hello), { context_management: { edits } }, { headers });
  const { body, headers: got } = sent();
  assert.deepEqual((body as Fields)['context_management'], { edits: edits.slice(1) });
  assert.equal(got['anthropic-beta'], 'new-thing-2026-09-09');
  assert.equal(reply.headers.get('x-service-left-out'), 'context_management.compact_20260112');
});

test('WI-12 headers that are none are refused before a hold, and only where they are sent', async () => {
  const body = { max_tokens: 50, messages: [{ role: 'user', content: 'Where?' }] };
  const user = await newUser(BALANCE);
  const asked = upstream.requests.length;
  const at = (model: string, headers: Readonly<Record<string, string>>) =>
    send('/v1/messages', { url: service.url, key: app.liveKey, user, headers, body: { ...body, model } });
  for (const [name, value] of [
    ['anthropic-version', 'latest'],
    ['anthropic-beta', 'b'.repeat(5_000)],
  ] as const) {
    const reply = await at('acme.claude-1', { [name]: value });
    assert.deepEqual([reply.status, reply.error['param']], [400, name], reply.text);
    upstream.script({ body: '{}' });
    assert.notEqual((await at('large', { [name]: value })).status, 400);
  }
  assert.equal(upstream.requests.length, asked + 2);
});

test('WI-10 a prompt for Claude is counted by its vendor, and else by our estimate', async () => {
  const count = async (script: NextScript, fields: Fields = {}) => {
    upstream.script(script);
    const headers = { 'anthropic-beta': 'new-thing-2026-09-09' };
    const body = { model: 'acme.claude-1', ...ASKED, max_tokens: 500, temperature: 0.5, ...fields };
    const path = '/v1/messages/count_tokens';
    return send(path, { url: service.url, key: app.liveKey, user: await newUser(0), headers, body });
  };
  const counted = await count({ body: JSON.stringify({ input_tokens: 77, context_management: {} }) });
  assert.deepEqual([counted.status, counted.body], [200, { input_tokens: 77, is_estimated: false }]);
  const { body, path, headers } = sent();
  const { stop_sequences: _stops, ...prompt } = ASKED;
  assert.deepEqual([path, body], ['/v1/messages/count_tokens', { model: 'claude-opus-5-5', ...prompt }]);
  assert.equal(headers['anthropic-beta'], 'new-thing-2026-09-09');
  const asked = upstream.requests.length;
  for (const [script, fields] of [
    [{ status: 500, body: '{}' }, {}],
    [{ body: JSON.stringify({ input_tokens: -1 }) }, {}],
    [{ body: 'no JSON' }, {}],
    [{ body: '{}' }, { model: 'large' }],
  ] as const) {
    const estimated = await count(script, fields);
    assert.deepEqual([estimated.status, estimated.body['is_estimated']], [200, true], estimated.text);
    assert.ok(Number(estimated.body['input_tokens']) > 0);
  }
  assert.equal(upstream.requests.length, asked + 3);
});

test('ER-03 what Claude’s vendor says of a failure is not told, and its kind is', async () => {
  for (const [status, type, message, serviceType] of [
    [400, 'invalid_request_error', 'Your credit balance is too low', 'upstream_unauthorized'],
    [400, 'invalid_request_error', 'prompt is too long: 9 > 8', 'context_length_exceeded'],
    [400, 'invalid_request_error', 'The vendor says so.', 'upstream_rejected'],
    [401, 'authentication_error', 'The vendor says so.', 'upstream_unauthorized'],
    [402, 'billing_error', 'The vendor says so.', 'upstream_unauthorized'],
    [404, 'not_found_error', 'The vendor says so.', 'upstream_rejected'],
    [413, 'request_too_large', 'The vendor says so.', 'context_length_exceeded'],
    [429, 'rate_limit_error', 'The vendor says so.', 'upstream_throttled'],
    [500, 'api_error', 'The vendor says so.', 'upstream_outage'],
    [504, 'timeout_error', 'The vendor says so.', 'upstream_timeout'],
  ] as const) {
    const failed = JSON.stringify({ type: 'error', error: { type, message } });
    const plain = await ask({ status, body: failed });
    const streamed = await ask({ body: [{ write: `event: error\ndata: ${failed}\n\n` }] }, { stream: true });
    for (const { reply, bill } of [plain, streamed]) {
      const error = (reply.body as { readonly error: Fields }).error;
      assert.deepEqual([error['serviceType'], bill.charged], [serviceType, 0], `${type} ${reply.text}`);
      assert.doesNotMatch(reply.text, SECRETS);
    }
  }
});
