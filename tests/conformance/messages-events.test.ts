import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message, MessageDeltaUsage, RawMessageStreamEvent } from '@anthropic-ai/sdk/resources/messages';
import { joinStream } from './messages/join-stream.ts';
import { callPiece, eventsNamed, STREAM_NAMES, type StreamName } from './messages/stream-cases.ts';
import { echoOf, eventsOf, MESSAGE, played } from './messages/streams.ts';
import { callOfReply, chunkOf, runOf } from './responses/streams.ts';
import { createMessagesReply } from '../../packages/service/src/gateway/wires/messages/reply/reply.ts';
import type { JsonObject } from '../../packages/service/src/kernel/text/json.ts';

const BEGUN_USAGE = {
  input_tokens: 9,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens_details: null,
  server_tool_use: null,
} satisfies MessageDeltaUsage;
/** 21 tokens, 8 of which came from the cache, and 2 of which were written to it. */
const USAGE = {
  input_tokens: 11,
  output_tokens: 13,
  cache_creation_input_tokens: 2,
  cache_read_input_tokens: 8,
  output_tokens_details: { thinking_tokens: 5 },
  server_tool_use: null,
} satisfies MessageDeltaUsage;

function textDelta(text: string) {
  return { type: 'content_block_delta' as const, index: 0, delta: { type: 'text_delta' as const, text } };
}

function named(event: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(event).replace(/msg_[\da-f-]{36}/, 'msg_1')) as JsonObject;
}

test('WI-09 a text is told by the events of the vendor’s own types', () => {
  const none = { cache_creation: null, inference_geo: null, service_tier: null, speed: null };
  const expected = [
    {
      type: 'message_start',
      message: { id: 'msg_1', ...MESSAGE, content: [], stop_reason: null, usage: { ...BEGUN_USAGE, ...none } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', citations: null } },
    textDelta('Hi'),
    textDelta(' you'),
    textDelta(' "two"'),
    textDelta(' ünd\n'),
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null, stop_details: null, container: null },
      usage: USAGE,
      charge_micros: 4_321,
    },
    { type: 'message_stop' },
  ] satisfies (RawMessageStreamEvent & { readonly charge_micros?: number })[];
  const [ping, ...events] = eventsNamed('text').map(named);
  assert.deepEqual(ping, { type: 'ping' });
  assert.deepEqual(events, expected);
});

const call = (index: number, name: string, input: JsonObject) => ({
  type: 'tool_use',
  id: `call_${index}`,
  name,
  input,
  caller: { type: 'direct' },
});
const text = (words: string, citations: unknown = null) => ({ type: 'text', text: words, citations });

/** What a client has at the end. */
const ENDS: Readonly<Record<StreamName, { readonly stop: unknown; readonly content: readonly JsonObject[] }>> = {
  text: { stop: 'end_turn', content: [text('Hi you "two" ünd\n')] },
  'thoughts of Claude': {
    stop: 'end_turn',
    content: [
      { type: 'thinking', thinking: 'Let me see.', signature: 'c2lnbmVk' },
      { type: 'redacted_thinking', data: 'hidden' },
      text('Rome.'),
    ],
  },
  'thoughts and calls': {
    stop: 'tool_use',
    content: [
      {
        type: 'thinking',
        thinking: 'Let me see.',
        signature: `purser.${Buffer.from('[{"type":"message.reasoning_content"}]').toString('base64url')}`,
      },
      text('I look.'),
      call(0, 'look', { city: 'Rome' }),
      call(1, 'find', {}),
    ],
  },
  'pieces of calls in turn': {
    stop: 'tool_use',
    content: [call(0, 'first', { a: 1 }), call(1, 'second', { b: 2 }), call(2, 'third', {}), text('Wait.')],
  },
  'a citation and a picture': {
    stop: 'end_turn',
    content: [
      text('Rome is old.![image](https://b.example/c.png)', [
        {
          type: 'web_search_result_location',
          url: 'https://a.example',
          title: 'A',
          cited_text: '',
          encrypted_index: '',
        },
      ]),
    ],
  },
  'a refusal': { stop: 'refusal', content: [text('No.')] },
  'a filter': { stop: 'refusal', content: [text('I')] },
  'a stop sequence': { stop: 'stop_sequence', content: [text('One ')] },
  'a limit': { stop: 'max_tokens', content: [text('One ')] },
  nothing: { stop: 'end_turn', content: [] },
};

for (const name of STREAM_NAMES) {
  test(`WI-09 the events of a stream make a whole Message: ${name}`, () => {
    const { content, stop_reason: stop, stop_sequence: sequence, usage } = joinStream(eventsNamed(name));
    assert.deepEqual({ stop, content }, ENDS[name]);
    assert.equal(sequence, stop === 'stop_sequence' ? 'END' : null);
    assert.deepEqual(usage, USAGE);
  });
}

test('WI-09 a stream that is cut ends as at its limit', () => {
  const sent = [chunkOf({ tool_calls: [{ index: 0, id: 'call_0', function: { name: 'f', arguments: '{"a' } }] })];
  const { stop_reason: stop, content } = joinStream(eventsOf(sent, { how: 'cut' }));
  assert.deepEqual([stop, content], ['max_tokens', [{ ...call(0, 'f', {}), input: '{"a' }]]);
  assert.equal(joinStream(eventsOf([], { how: 'cut' }))['stop_reason'], 'max_tokens');
});

test('WI-09 a long text is in lines that all clients take', () => {
  const long = '"ü\n'.repeat(20_000);
  const events = eventsOf([
    chunkOf({ content: long }),
    runOf((words) => chunkOf({ content: words }), [long]),
    chunkOf({ tool_calls: [{ index: 0, id: 'call_0', function: { name: 'f', arguments: JSON.stringify({ long }) } }] }),
    chunkOf({}, 'tool_calls'),
  ]);
  assert.deepEqual(joinStream(events)['content'], [text(long + long), call(0, 'f', { long })]);
});

test('WI-09 the charge is beside the usage, and a comment at the very end', () => {
  const frames = played([chunkOf({ content: 'Hi' }, 'stop')]);
  assert.match(frames, /"output_tokens":13\},"charge_micros":4321\}\n\nevent: message_stop\n/);
  assert.match(frames, /\n\n: charge-micros=4321 call-id=[\da-f-]{36}\n\n$/);
});

test('WI-09 a failure after the first byte is an error event', () => {
  const error = { code: 'UPSTREAM_PROVIDER_ERROR', message: 'It broke.', correlationId: 'cor_1', param: null } as const;
  const [, , , failed] = eventsOf([chunkOf({ content: 'Hi' })], {
    how: { error: { ...error, type: 'upstream_broken' } },
  });
  assert.deepEqual(failed, {
    type: 'error',
    error: { ...error, type: 'api_error', serviceType: 'upstream_broken' },
    request_id: 'cor_1',
  });
});

test('WI-09 runs go on without parsing, and only where they belong', () => {
  const run = runOf((words) => chunkOf({ content: words }), ['a', 'b']);
  const events = eventsOf([run, run, chunkOf({ reasoning_content: 'Hm.' }), run, chunkOf({}, 'stop')], {
    echo: echoOf({ thinking: undefined }),
  });
  assert.deepEqual(joinStream(events)['content'], [text('ababab')]);
});

test('WI-09 a call begins as soon as the arguments before it are whole', () => {
  const stream = createMessagesReply(echoOf()).stream(callOfReply());
  const [first, second] = [callPiece(0, '{"a":', 'f'), callPiece(1, '{}', 'g')];
  assert.match(stream.write(chunkOf(first)), /"index":0/);
  const frames = stream.writeRun(runOf((words) => chunkOf(callPiece(0, words)), ['1', '}']));
  assert.match(frames ?? '', /"partial_json":"1"(.|\n)*"partial_json":"\}"/);
  assert.match(
    stream.write(chunkOf(second)),
    /content_block_stop","index":0(.|\n)*"index":1(.|\n)*"partial_json":"\{\}"/,
  );
});

test('WI-09 a stream begins with what is known of its prompt', () => {
  const counts = { prompt: 20, cached: 8, cacheWrite: 2, cacheWriteLong: 1 };
  const first = { ...chunkOf({ content: 'Hi' }), usage: { counts, extra: {}, isContradictory: false } };
  const [{ message } = {}] = eventsOf([first, chunkOf({}, 'stop')]);
  const { input_tokens: input, ...cache } = (message as Message).usage;
  assert.deepEqual([input, cache.cache_creation_input_tokens, cache.cache_read_input_tokens], [9, 3, 8]);
});
