// What Anthropic's format sends beside the usual answer, over real HTTP. A token costs a micro, cached 0.1, written to a cache 1.25.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MICRO_A_TOKEN } from '../support/catalogue.ts';
import { payloadsOf } from '../support/open-stream.ts';
import { billNamed } from '../support/receipts.ts';
import type { UpstreamStep } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';
import { waitUntil } from '../support/wait-until.ts';

const BALANCE = 1_000_000;

type Fields = Readonly<Record<string, unknown>>;

const { upstream, service, app, newUser, callAs } = await setStage({
  checksBooks: true,
  catalogue: (catalogue) => {
    const price = { ...MICRO_A_TOKEN, cacheWriteMicrosPerMillion: 1_250_000 };
    const { upstream: compatible } = catalogue.providers;
    const at = { baseUrl: compatible.baseUrl };
    const providers = {
      ...catalogue.providers,
      claude: { kind: 'anthropic', ...at },
      gemini: { kind: 'google', ...at },
    };
    const common = { ...catalogue.models[0], price, marginBasisPoints: 0, outputLimitParameter: undefined };
    const claude = { ...common, id: 'acme.claude-1', provider: 'claude', providerModel: 'claude-sonnet-4-5-20250929' };
    const fees = { price: { ...price, microsPerCall: 500 }, marginMicrosPerCall: 70 };
    const paid = { ...claude, ...fees, id: 'acme.fees-1' };
    const gemini = { ...common, id: 'acme.gemini-1', provider: 'gemini', providerModel: 'gemini-2.5-flash' };
    return { ...catalogue, providers, models: [...catalogue.models, claude, paid, gemini] };
  },
});

async function call(body: string | readonly UpstreamStep[], fields: Fields) {
  const user = await newUser(BALANCE);
  upstream.script({ body });
  const reply = await callAs(user, { model: 'acme.claude-1', ...fields }, { headers: { 'x-correlation-id': user } });
  assert.equal(reply.status, 200, reply.text);
  const bill = await waitUntil('it is settled', () => billNamed(service.database, user));
  assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - bill.charged, held: 0, openStreams: 0 });
  return { bill, text: reply.text };
}

const event = (type: string, fields: Fields = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const start = (usage: Fields): string =>
  event('message_start', { message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage } });
const block = (index: number, fields: Fields): string => event('content_block_start', { index, content_block: fields });
const delta = (index: number, fields: Fields): string => event('content_block_delta', { index, delta: fields });
const stop = (index: number): string => event('content_block_stop', { index });
const end = (reason: string, usage: Fields): string =>
  event('message_delta', { delta: { stop_reason: reason }, usage });
const STOP = event('message_stop');
const HELLO = [block(0, { type: 'text', text: '' }), delta(0, { type: 'text_delta', text: 'Hello' }), stop(0)];

const EMPTY = block(0, { type: 'text', text: '' });
const streamed = (frames: readonly string[], fields: Fields = {}, ...last: UpstreamStep[]) =>
  call([{ write: frames.join('') }, ...last], { stream: true, ...fields });
const plain = (message: Fields, fields: Fields = {}) =>
  call(JSON.stringify({ id: 'm', type: 'message', role: 'assistant', model: 'm', ...message }), fields);

/** The usage at the start of a stream and at its end, with the charge. */
const REPORTS: readonly (readonly [what: string, first: Fields, last: Fields, charge: number])[] = [
  ['no input at the end', { input_tokens: 900, output_tokens: 1 }, { output_tokens: 40 }, 940],
  ['an input of 0', { input_tokens: 900, output_tokens: 1 }, { input_tokens: 0, output_tokens: 40 }, 940],
  [
    'a cache of 0 as well',
    { input_tokens: 100, output_tokens: 1, cache_read_input_tokens: 800 },
    { input_tokens: 0, output_tokens: 40, cache_read_input_tokens: 0 },
    220,
  ],
  [
    'the same prompt, told apart',
    { input_tokens: 900, output_tokens: 0 },
    { input_tokens: 20, output_tokens: 40, cache_read_input_tokens: 880 },
    148,
  ],
  ['a first input of 0', { input_tokens: 0, output_tokens: 0 }, { input_tokens: 900, output_tokens: 40 }, 940],
  ['more output at the start', { input_tokens: 900, output_tokens: 40 }, { output_tokens: 0 }, 940],
];

test('MO-08 a stream of Claude is charged by the larger report of its prompt', async () => {
  for (const [what, first, last, charge] of REPORTS) {
    const { bill } = await streamed([start(first), ...HELLO, end('end_turn', last), STOP]);
    assert.deepEqual([bill.charged, bill.isEstimated], [charge, false], what);
  }
});

const USAGE = { input_tokens: 50, output_tokens: 20 };
const GEMINI_USAGE = { promptTokenCount: 50, candidatesTokenCount: 20, totalTokenCount: 70 };
const OTHER = { type: 'new_block', payload: { any: 1 } };
const CITED = { type: 'new_location', cited_text: 'x' };

test('MO-09 events, blocks and deltas of unknown types are passed over', async () => {
  const frames = [
    event('new_event', { any: [1] }),
    start(USAGE),
    event('new_event', { any: [1] }),
    block(0, OTHER),
    delta(0, { type: 'text_delta', text: 'not said' }),
    stop(0),
    block(1, { type: 'text', text: '' }),
    delta(1, { type: 'text_delta', text: 'Hello' }),
    delta(1, { type: 'new_delta', any: 1 }),
    delta(1, { type: 'citations_delta', citation: CITED }),
    stop(1),
    block(2, { type: 'server_tool_use', id: 's', name: 'new_tool', input: {} }),
    delta(2, { type: 'input_json_delta', partial_json: '{}' }),
    stop(2),
    end('end_turn', USAGE),
    STOP,
    event('new_event', { any: [1] }),
  ];
  const stream = await streamed(frames);
  const content = [OTHER, { type: 'text', text: 'Hello', citations: [CITED] }, OTHER];
  const whole = await plain({ content, stop_reason: 'end_turn', usage: USAGE });
  for (const { bill, text } of [stream, whole]) {
    assert.deepEqual([bill.charged, bill.outcome, bill.isEstimated], [70, 'answered', false]);
    assert.ok(text.includes('"content":"Hello"') && !text.includes('not said'), text);
  }
});

test('CC-23 a refusal of Claude before any output costs nothing', async () => {
  const usage = { input_tokens: 106, output_tokens: 1, cache_read_input_tokens: 2 };
  for (const model of ['acme.claude-1', 'acme.fees-1']) {
    const silent = [
      await plain({ content: [], stop_reason: 'refusal', usage }, { model }),
      await streamed([start(usage), end('refusal', usage), STOP], { model }),
      await streamed([start(usage), EMPTY, stop(0), end('refusal', usage), STOP], { model }),
    ];
    for (const { bill, text } of silent) {
      assert.deepEqual([bill.charged, bill.outcome, bill.isEstimated, bill.isClamped], [0, 'answered', false, false]);
      assert.match(text, /"finish_reason":"content_filter"/);
    }
  }
  const content = [{ type: 'text', text: 'I will' }];
  const late = [
    await plain({ content, stop_reason: 'refusal', usage: USAGE }),
    await streamed([start(USAGE), ...HELLO, end('refusal', USAGE), STOP]),
    await plain({ content: [], stop_reason: 'end_turn', usage: USAGE }),
  ];
  for (const { bill } of late) assert.equal(bill.charged, 70);
});

test('CC-11 a stream of Claude that lacks only its last event is charged', async () => {
  const whole = [start(USAGE), ...HELLO, end('end_turn', USAGE)];
  const reset: UpstreamStep = { destroy: true };
  for (const [last, ...steps] of [
    [''],
    ['', reset],
    ['event: message_stop\ndata: {"ty'],
    ['data: {"ty', reset],
  ] as const) {
    const { bill, text } = await streamed([...whole, last], {}, ...steps);
    assert.deepEqual([bill.charged, bill.outcome], [70, 'answered'], text);
    assert.equal(payloadsOf(text).at(-1), '[DONE]');
  }
  for (const reason of ['null', 'None']) {
    const user = await newUser(BALANCE);
    upstream.script({ body: [{ write: [start(USAGE), ...HELLO, end(reason, USAGE)].join('') }, reset] });
    const reply = await callAs(user, { model: 'acme.claude-1', stream: true });
    assert.ok(!reply.text.includes('[DONE]'), reply.text);
    assert.deepEqual(await service.wallet(app, user), { balance: BALANCE, held: 0, openStreams: 0 });
  }
});

function gemini(text: string, usageMetadata: Fields, finishReason?: string): string {
  const candidate = { index: 0, content: { role: 'model', parts: [{ text }] }, ...(finishReason && { finishReason }) };
  return `data: ${JSON.stringify({ candidates: [candidate], usageMetadata })}\n\n`;
}

test('MO-08 a stream of Gemini is charged by the larger report of each count', async () => {
  const first = { promptTokenCount: 900, cachedContentTokenCount: 100, candidatesTokenCount: 1, totalTokenCount: 901 };
  for (const last of [
    { candidatesTokenCount: 40 },
    { promptTokenCount: 0, candidatesTokenCount: 40, totalTokenCount: 40 },
    { promptTokenCount: 900, cachedContentTokenCount: 0, candidatesTokenCount: 40, totalTokenCount: 940 },
  ]) {
    const frames = [gemini('Hel', first), gemini('lo', last, 'STOP')];
    for (const steps of [[], [{ destroy: true }]] as const) {
      const { bill } = await streamed(frames, { model: 'acme.gemini-1' }, ...steps);
      assert.deepEqual([bill.charged, bill.outcome], [850, 'answered'], JSON.stringify(last));
    }
  }
});

test('CC-23 output that was counted only before its text is our own count', async () => {
  const long = ' of an answer that is somewhat longer than others of its kind.';
  const said = [EMPTY, delta(0, { type: 'text_delta', text: long }), stop(0)];
  const first = { input_tokens: 900, output_tokens: 1 };
  const claude = [
    [start(first), ...said, end('end_turn', {}), STOP],
    [start(first), ...said, event('message_delta', { delta: { stop_reason: 'end_turn' } }), STOP],
    [start(first), ...said, end('end_turn', { output_tokens: null }), STOP],
  ];
  const early = { promptTokenCount: 900, candidatesTokenCount: 1, totalTokenCount: 901 };
  const last = { candidates: [{ content: { role: 'model', parts: [{ text: long }] }, finishReason: 'STOP' }] };
  const ofGemini = [gemini('a', early), `data: ${JSON.stringify(last)}\n\n`];
  for (const frames of [...claude, ofGemini]) {
    const { bill, text } = await streamed(frames, frames === ofGemini ? { model: 'acme.gemini-1' } : {});
    assert.ok(bill.charged > 910 && bill.charged < 925, `${bill.charged}`);
    assert.deepEqual([bill.outcome, bill.isEstimated], ['answered', true], text);
  }
});

test('CC-23 an answer of Claude without counts is our own count', async () => {
  const answer = { content: [{ type: 'text', text: 'Hello' }], stop_reason: 'end_turn' };
  for (const { bill, text } of [
    await plain(answer),
    await plain({ ...answer, usage: null }),
    await plain({ ...answer, usage: { input_tokens: '50', output_tokens: null } }),
    await streamed([
      event('message_start', { message: { id: 'm', content: [] } }),
      ...HELLO,
      end('end_turn', {}),
      STOP,
    ]),
  ]) {
    assert.ok(bill.charged > 0 && bill.charged < 40, `${bill.charged}`);
    assert.deepEqual([bill.outcome, bill.isEstimated], ['answered', true], text);
  }
});

/** What may stand between the events of a stream or behind them. */
const PASSED_OVER = [
  'data:\n\n',
  'event: progress\ndata: half of it\n\nevent: progress\ndata: {}\n\n',
  'data: {"any":1}\n\n',
  'event: ping\ndata: {"type":"ping"}\n\n',
  ': alive\n\n',
];

test('CC-11 frames of other sorts are passed over at Claude and Gemini', async () => {
  const ofGemini = [gemini('Hel', GEMINI_USAGE), gemini('lo', GEMINI_USAGE, 'STOP')];
  const ofClaude = [start(USAGE), ...HELLO, end('end_turn', USAGE), STOP];
  for (const other of PASSED_OVER) {
    for (const { bill, text } of [
      await streamed([other, ...ofClaude.flatMap((frame) => [frame, other])]),
      await streamed([other, ...ofGemini.flatMap((frame) => [frame, other])], { model: 'acme.gemini-1' }),
    ]) {
      assert.deepEqual([bill.charged, bill.outcome], [70, 'answered'], other);
      assert.equal(payloadsOf(text).at(-1), '[DONE]');
    }
  }
});

test('CC-11 an error behind a whole answer of Claude or Gemini takes nothing back', async () => {
  const failed = event('error', { error: { type: 'overloaded_error', message: 'x' } });
  const broken = `data: ${JSON.stringify({ error: { code: 503, message: 'x', status: 'UNAVAILABLE' } })}\n\n`;
  for (const { bill, text } of [
    await streamed([start(USAGE), ...HELLO, end('end_turn', USAGE), failed]),
    await streamed([gemini('Hello', GEMINI_USAGE, 'STOP'), broken], { model: 'acme.gemini-1' }),
  ]) {
    assert.deepEqual([bill.charged, bill.outcome], [70, 'answered']);
    assert.equal(payloadsOf(text).at(-1), '[DONE]');
  }
});

test('MO-09 fields of the vendor that are new in known events are passed over', async () => {
  const edits = { applied_edits: [{ type: 'new_edit', any: 1 }] };
  const [container, usage] = [{ any: 1 }, { ...USAGE, iterations: [{ type: 'new_iteration' }] }];
  const last = { delta: { stop_reason: 'end_turn', container }, usage, context_management: edits };
  const content = [{ type: 'text', text: 'Hello' }];
  for (const { bill, text } of [
    await streamed([start(usage), ...HELLO, event('message_delta', last), STOP]),
    await plain({ content, stop_reason: 'end_turn', usage, context_management: edits, container }),
  ]) {
    assert.deepEqual([bill.charged, bill.outcome], [70, 'answered'], text);
    assert.match(text, /"content":"Hello"/);
  }
});

test('CC-01 what a block of Claude begins with reaches the caller', async () => {
  const begun = [block(0, { type: 'text', text: 'Hel' }), delta(0, { type: 'text_delta', text: 'lo' }), stop(0)];
  const { text } = await streamed([start(USAGE), ...begun, end('end_turn', USAGE), STOP]);
  assert.match(text, /"content":"Hel".*"content":"lo"/s);
});

test('CC-01 calls of Claude have arguments that are JSON', async () => {
  const tools = [{ type: 'function', function: { name: 'now', parameters: { type: 'object', properties: {} } } }];
  for (const [input, told] of [
    [null, '{}'],
    [undefined, '{}'],
    ['{"zone":1}', '{"zone":1}'],
    [{ zone: 1 }, '{"zone":1}'],
  ] as const) {
    const called = { type: 'tool_use', id: 'a', name: 'now', input };
    const { bill, text } = await plain({ content: [called], stop_reason: 'tool_use', usage: USAGE }, { tools });
    assert.equal(bill.charged, 70);
    assert.ok(text.includes(`"arguments":${JSON.stringify(told)}`), text);
    const stream = await streamed([start(USAGE), block(0, called), stop(0), end('tool_use', USAGE), STOP], { tools });
    assert.equal(stream.bill.charged, 70);
    assert.ok(stream.text.includes(`"arguments":${JSON.stringify(told)}`), stream.text);
  }
});
