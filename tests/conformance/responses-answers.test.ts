import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReply } from '../../packages/service/src/gateway/wires/responses/reply/reply.ts';
import type { JsonObject } from '../../packages/service/src/kernel/text/json.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { checkStream, responseOf } from './responses/check-stream.ts';
import { answered, completionOf, NATIVE, PLAIN_CASES, SEALED_THOUGHT, TOOLS } from './responses/plain-cases.ts';
import { eventsOf, FAILURE } from './responses/stream-cases.ts';
import {
  callOfReply,
  CHARGED,
  chunkOf,
  echoOf,
  eventsIn,
  openSealing,
  played,
  TOLD,
  unpacked,
} from './responses/streams.ts';

const USAGE = {
  input_tokens: 21,
  input_tokens_details: { cached_tokens: 8, cache_write_tokens: 2 },
  output_tokens: 13,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 34,
};
const TEXT = [chunkOf({ role: 'assistant', content: 'Hi' }), chunkOf({}, 'stop')];

function outputOf(response: JsonObject): readonly JsonObject[] {
  return response['output'] as readonly JsonObject[];
}

function details(text: string): JsonObject {
  return { reasoning_details: [{ type: 'reasoning.text', index: 0, text }] };
}

test('WI-06 the usage told is the usage taken, not the vendor’s own', () => {
  for (const make of Object.values(PLAIN_CASES)) assert.deepEqual(make()['usage'], USAGE);
  for (const name of ['text', 'the output limit', 'a cut text', 'events of a vendor', 'cut events of a vendor']) {
    assert.deepEqual(checkStream(eventsOf(name))['usage'], USAGE, name);
  }
  const counted = { isReported: false, usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } };
  assert.deepEqual(
    createReply(echoOf(), openSealing()).plain(callOfReply(), completionOf({ content: '' }), counted)['usage'],
    {
      input_tokens: 3,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 4,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 7,
    },
  );
});

test('WI-06 the charge stands in the last event, and behind it', () => {
  const call = callOfReply();
  const reply = createReply(echoOf(), openSealing());
  const stream = reply.stream(call);
  const written = TEXT.map(stream.write).join('');
  assert.doesNotMatch(written, /response\.completed|charge/);
  const end = stream.end(() => TOLD);
  assert.equal(
    stream.end(() => assert.fail('it is known')),
    end,
    'asked twice, it is the same',
  );
  const frames = reply.endFrames(end, CHARGED);
  const comment = `: charge-micros=4321 call-id=${call.callId}\n\n`;
  assert.ok(frames.startsWith('event: response.completed\n') && frames.endsWith(`\n\n${comment}`));
  assert.equal(responseOf(eventsIn(frames)[0])['charge_micros'], 4_321);
  // A kept answer is kept as JSON, and told again for nothing.
  const kept = JSON.parse(JSON.stringify(end)) as typeof end;
  const replayed = reply.endFrames(kept, micros(0n));
  assert.equal(
    replayed,
    frames.replace('charge-micros=4321', 'charge-micros=0').replace('"charge_micros":4321', '"charge_micros":0'),
  );
});

test('WI-06 the head of an answer is ours, with the small settings of its request', () => {
  const call = callOfReply();
  const response = createReply(TOOLS, openSealing()).plain(call, { ...completionOf({}), native: NATIVE }, TOLD);
  const { id, object, model, store, instructions, user, tools, temperature, metadata, reasoning } = response;
  assert.deepEqual(
    { id, object, model, store, instructions, user, tools, temperature, metadata, reasoning },
    {
      id: `resp_${call.callId}`,
      object: 'response',
      model: 'gpt-test',
      store: false,
      instructions: null,
      user: null,
      tools: [],
      temperature: 0.5,
      metadata: { a: 'b' },
      reasoning: { effort: 'low', summary: null },
    },
  );
  assert.doesNotMatch(JSON.stringify(response), /hidden|pseudonym|flex|vendor-1|resp_vendor/);
});

test('WI-06 an answer says why it is incomplete', () => {
  const endings = ['text', 'the output limit', 'a filter'].map((name) => [
    PLAIN_CASES[name]?.() ?? {},
    checkStream(eventsOf(name)),
  ]);
  const told = [
    { status: 'completed', incomplete_details: null },
    { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
  ];
  for (const [place, responses] of endings.entries()) {
    for (const { status, incomplete_details } of responses)
      assert.deepEqual({ status, incomplete_details }, told[place]);
  }
  const item = outputOf(checkStream(eventsOf('the output limit')))[0];
  assert.equal(item?.['status'], 'incomplete');
});

test('WI-06 a cut ends what is open, once, as incomplete', () => {
  const reply = createReply(echoOf(), openSealing());
  const stream = reply.stream(callOfReply());
  const begun = stream.write(chunkOf({ content: 'Hi' }));
  const open = [{ index: 0, delta: {}, finish_reason: 'length' as const }];
  const cut = stream.cut(open);
  assert.equal(stream.cut(open), cut);
  const last = checkStream(
    eventsIn(
      begun +
        cut +
        reply.endFrames(
          stream.end(() => TOLD),
          CHARGED,
        ),
    ),
  );
  assert.deepEqual(last['incomplete_details'], { reason: 'max_output_tokens' });
  assert.equal(outputOf(checkStream(eventsOf('cut events of a vendor')))[1]?.['status'], 'incomplete');
});

test('WI-06 items stand in the order in which they were said', () => {
  const call = { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{}' } }] };
  const said = [{ content: 'A' }, { reasoning: 'B' }, { content: 'C' }, call, { content: 'D' }];
  const output = outputOf(checkStream(eventsIn(played([...said.map((delta) => chunkOf(delta)), chunkOf({}, 'stop')]))));
  const types = output.map(({ type }) => type);
  assert.deepEqual(types, ['message', 'reasoning', 'message', 'function_call', 'message']);
});

test('WI-06 the probabilities of tokens stand in deltas and in the whole text', () => {
  const events = eventsOf('probabilities of tokens');
  const [item] = outputOf(checkStream(events));
  assert.ok(item);
  const [part] = item['content'] as readonly JsonObject[];
  const bytes = [72, 105];
  const tokens = [{ token: 'Hi', logprob: -0.1, bytes, top_logprobs: [{ token: 'Hi', logprob: -0.1, bytes }] }];
  const told = events.filter(({ type }) => String(type).startsWith('response.output_text.'));
  assert.deepEqual(
    [...told, part].map((one) => one?.['logprobs']),
    [tokens, tokens, tokens],
  );
});

test('WI-06 calls come back under the names and types that the caller gave', () => {
  for (const output of [
    outputOf(PLAIN_CASES['thoughts and calls']?.() ?? {}),
    outputOf(checkStream(eventsOf('thoughts and calls'))),
  ]) {
    const calls = output.filter(({ type }) => String(type).endsWith('_call'));
    const plain = calls.map(({ type, call_id, name, namespace, input }) => ({ type, call_id, name, namespace, input }));
    const byName = new Map(plain.map((call) => [call.name, call]));
    assert.equal(byName.size, 3);
    assert.deepEqual(
      { ...byName.get('look'), call_id: '' },
      { type: 'function_call', call_id: '', name: 'look', namespace: 'ns', input: undefined },
    );
    const exec = byName.get('exec');
    assert.equal(exec?.type, 'custom_tool_call');
    assert.match(String(exec?.input), /^ls.*\n$/);
  }
});

test('WI-06 arguments that were cut still give the input of a custom tool', () => {
  const inputs = ['{"input":"a\\n', '{"input":"a\\', '{"input":"a\\u00', '{"other":"a\\u00e4', '{}', '[1', ''].map(
    (words) => {
      const call = { index: 0, id: 'c', type: 'function', function: { name: 'exec', arguments: words } };
      return outputOf(
        checkStream(eventsIn(played([chunkOf({ tool_calls: [call] }), chunkOf({}, 'length')], { echo: TOOLS }))),
      )[0]?.['input'];
    },
  );
  assert.deepEqual(inputs, ['a\n', 'a', 'a', 'aä', '{}', '[1', '']);
});

test('WI-06 reasoning carries what its vendor sealed, or else its text and field', () => {
  for (const output of [
    outputOf(PLAIN_CASES['thoughts and calls']?.() ?? {}),
    outputOf(checkStream(eventsOf('thoughts and a text'))),
  ]) {
    const [thought] = output;
    assert.deepEqual(thought?.['summary'], [{ type: 'summary_text', text: 'Let me see.' }]);
    assert.deepEqual(unpacked(thought?.['encrypted_content']), { details: SEALED_THOUGHT });
  }
  for (const field of ['reasoning', 'reasoning_content']) {
    const [thought] = outputOf(answered(completionOf({ [field]: 'Hm.', content: 'Hi' })));
    assert.deepEqual(unpacked(thought?.['encrypted_content']), {
      details: [{ type: `message.${field}`, text: 'Hm.' }],
    });
  }
  const inParts = {
    content: [
      { type: 'thinking', thinking: 'Hm.' },
      { type: 'text', text: 'Hi' },
    ],
  };
  const [bare] = outputOf(answered(completionOf(inParts)));
  assert.deepEqual([bare?.['type'], bare?.['encrypted_content']], ['reasoning', undefined]);
});

test('WI-06 what a vendor wants back with a call goes behind it, sealed', () => {
  const output = outputOf(PLAIN_CASES['thoughts and calls']?.() ?? {});
  const extra = {
    type: 'tool_call.extra_content',
    id: 'call_1',
    extra_content: { google: { thought_signature: 'gem' } },
  };
  assert.deepEqual(unpacked(output.at(-1)?.['encrypted_content']), { details: [extra] });
});

test('WI-06 thoughts that stand in several places come once', () => {
  for (const deltas of [
    [
      { reasoning_content: 'A', reasoning: 'A' },
      { reasoning_content: 'B', reasoning: 'B' },
    ],
    [
      { reasoning_content: 'A', ...details('A') },
      { reasoning_content: 'B', ...details('B') },
    ],
    [{ reasoning: 'AB' }, details('AB')],
    [
      { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'A' }] }] },
      { content: [{ type: 'thinking', thinking: 'B' }] },
    ],
  ]) {
    const output = outputOf(
      checkStream(eventsIn(played([...deltas.map((delta) => chunkOf(delta)), chunkOf({}, 'stop')]))),
    );
    assert.deepEqual(
      output.map(({ summary }) => summary),
      [[{ type: 'summary_text', text: 'AB' }]],
    );
  }
});

test('WI-07 a failure after output says our words and codes, and whether a repeat may help', () => {
  const told = [
    ['upstream_outage', 'UPSTREAM_PROVIDER_ERROR', 'server_error'],
    ['upstream_broken', 'UPSTREAM_PROVIDER_ERROR', 'server_error'],
    ['upstream_rejected', 'UPSTREAM_PROVIDER_ERROR', 'invalid_prompt'],
    ['context_length_exceeded', 'UPSTREAM_PROVIDER_ERROR', 'invalid_prompt'],
    ['upstream_unauthorized', 'UPSTREAM_PROVIDER_ERROR', 'invalid_prompt'],
    ['upstream_refused', 'UPSTREAM_PROVIDER_ERROR', 'invalid_prompt'],
    ['rate_limit_error', 'UPSTREAM_THROTTLED', 'rate_limit_exceeded'],
    ['api_error', 'INTERNAL_SERVER_ERROR', 'server_error'],
  ] as const;
  for (const [type, code, known] of told) {
    const how = { error: { ...FAILURE.error, type, code } };
    const last = checkStream(eventsIn(played([chunkOf({ content: 'Hi' })], { how })));
    assert.equal(last['status'], 'failed');
    const { message, correlationId } = how.error;
    assert.deepEqual(last['error'], { code: known, message, type, param: null, correlationId, serviceCode: code });
  }
});

test('WI-07 silence is filled with a data event, which begins a stream', () => {
  const stream = createReply(echoOf(), openSealing()).stream(callOfReply());
  const frames = stream.alive() + stream.alive() + stream.write(chunkOf({ content: 'Hi' })) + stream.alive();
  const types = eventsIn(frames).map(({ type, sequence_number: number }) => `${String(number)} ${String(type)}`);
  assert.deepEqual(types, [
    '0 response.created',
    '1 response.in_progress',
    '2 response.in_progress',
    '3 response.output_item.added',
    '4 response.content_part.added',
    '5 response.output_text.delta',
    '6 response.in_progress',
  ]);
});
