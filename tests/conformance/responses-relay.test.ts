import assert from 'node:assert/strict';
import { test } from 'node:test';
import { patternOf as madePattern, TextRun } from '@purser/text-runs/text-run.ts';
import { createReply } from '../../packages/service/src/gateway/wires/responses/reply/reply.ts';
import type { JsonObject } from '../../packages/service/src/kernel/text/json.ts';
import type { Chunk } from '../../packages/service/src/providers/port/completion.ts';
import { callItem, messageItem, reasoningItem, responseEvents } from '../support/responses-upstream.ts';
import { checkStream } from './responses/check-stream.ts';
import { answered, completionOf, NATIVE, PLAIN_CASES, TOOLS } from './responses/plain-cases.ts';
import { eventsOf, NATIVE_BEGINNING, NATIVE_ITEM, textDelta } from './responses/stream-cases.ts';
import {
  callOfReply,
  chunkOf,
  echoOf,
  eventsIn,
  nativeChunk,
  openSealing,
  patternOf,
  played,
  runFor,
  unpacked,
} from './responses/streams.ts';

const CALL = callOfReply();
const OPEN = [{ index: 0, delta: {}, finish_reason: 'length' as const }];

function outputOf(response: JsonObject): readonly JsonObject[] {
  return response['output'] as readonly JsonObject[];
}

/** A delta whose number is a text, as templates of runs have it. */
function numbered(text: string, number: string): Chunk {
  const { obfuscation: _padding, ...event } = textDelta(text, '');
  return nativeChunk([{ ...event, sequence_number: number }]);
}

function padded(text: string, padding: string, number: string): Chunk {
  return nativeChunk([{ ...textDelta(text, padding), sequence_number: number }]);
}

function wrapped(text: string): Chunk {
  return chunkOf({ tool_calls: [{ index: 0, function: { arguments: text } }] });
}

test('WI-06 a run writes the events of its chunks', () => {
  const texts = ['a', '"b"\n', 'ünd 😀'];
  for (const [first, chunkWith] of [
    [chunkOf({ content: 'x' }), (text: string) => chunkOf({ content: text })],
    [chunkOf({ reasoning: 'x' }), (text: string) => chunkOf({ reasoning: text })],
    [chunkOf({ refusal: 'x' }), (text: string) => chunkOf({ refusal: text })],
    [
      chunkOf({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: 'x' } }] }),
      (text: string) => chunkOf({ tool_calls: [{ index: 0, function: { arguments: text } }] }),
    ],
  ] as const) {
    const streams = [1, 2].map(() =>
      createReply(echoOf(), openSealing()).stream({ ...callOfReply(), callId: CALL.callId }),
    );
    const [run, single] = streams;
    assert.ok(run !== undefined && single !== undefined);
    const pattern = patternOf(chunkWith);
    assert.equal(run.writeRun(runFor(pattern, texts)), undefined, 'nothing has begun');
    assert.equal(run.write(first), single.write(first));
    assert.equal(run.writeRun(runFor(pattern, texts)), texts.map((text) => single.write(chunkWith(text))).join(''));
    assert.equal(run.write(chunkOf({}, 'stop')), single.write(chunkOf({}, 'stop')));
  }
});

test('WI-02 a run of a vendor’s events is renumbered, with padding or without', () => {
  const texts = ['a', '"b"\n', 'ünd'];
  for (const [chunkWith, textCount] of [
    [numbered, 2],
    [padded, 3],
  ] as const) {
    const [run, single] = [1, 2].map(() => createReply(echoOf(), openSealing()).stream(CALL));
    assert.ok(run !== undefined && single !== undefined);
    for (const sent of NATIVE_BEGINNING.slice(0, 4))
      assert.equal(run.write(sent as Chunk), single.write(sent as Chunk));
    const pattern = madePattern(textCount, ([one = '', two = '', three = '']) => chunkWith(one, two, three));
    const numbers = texts.map((_, place) => String(70 + place));
    const values = textCount === 2 ? [texts, numbers] : [texts, ['x', 'yy', ''], numbers];
    const escaped = values.map((list) => list.map((text) => JSON.stringify(text).slice(1, -1)));
    const written = run.writeRun(new TextRun(pattern, escaped, { said: texts.join(''), bytes: 8 }));
    const chunks = texts.map((_, place) =>
      chunkWith(...(values.map((list) => list[place]) as [string, string, string])),
    );
    assert.equal(written, chunks.map((chunk) => single.write(chunk)).join(''));
    assert.equal(run.cut(OPEN), single.cut(OPEN));
  }
});

test('WI-06 a run that does more than go on with a text is taken by chunks', () => {
  const content = patternOf((text) => chunkOf({ content: text }));
  const stream = createReply(TOOLS, openSealing()).stream(callOfReply());
  stream.write(chunkOf({ content: 'x' }));
  assert.notEqual(stream.writeRun(runFor(content, ['a'])), undefined);
  assert.equal(stream.writeRun(runFor(content, ['x'.repeat(20_000)])), undefined, 'too long for one line');
  assert.equal(
    stream.writeRun(
      runFor(
        patternOf((text) => chunkOf({ reasoning: text })),
        ['a'],
      ),
    ),
    undefined,
  );
  stream.write(chunkOf({ tool_calls: [{ index: 0, id: 'c', function: { name: 'exec', arguments: '{' } }] }));
  assert.equal(stream.writeRun(runFor(content, ['a'])), undefined, 'its message has ended');
  assert.equal(stream.writeRun(runFor(patternOf(wrapped), ['a'])), undefined, 'the input is in the arguments');
});

test('WI-05 the ids of a plain answer carry its items', () => {
  const [thought, message, called, custom] = outputOf(PLAIN_CASES['sealed ids']?.() ?? {});
  for (const item of [thought, message, custom]) {
    const { id: _id, ...rest } = item ?? {};
    assert.deepEqual(unpacked(item?.['id']), { item: rest });
  }
  assert.match(String(called?.['id']), /^fc_[\da-f]{32}\d$/);
  const native = { ...completionOf({}), native: NATIVE };
  const [vendors] = outputOf(answered(native, { sealing: openSealing({ isStored: true }) }));
  // What a vendor has sealed belongs to its own id.
  assert.deepEqual(unpacked(vendors?.['id']), { item: outputOf(NATIVE)[0] });
  assert.equal(outputOf(answered(native))[0]?.['id'], 'rs_v');
});

test('WI-05 a carrier has the items of a stream under their short ids', () => {
  const output = outputOf(checkStream(eventsOf('a carrier')));
  const [thought, message, carrier] = output;
  assert.deepEqual(carrier?.['summary'], []);
  assert.deepEqual(unpacked(carrier?.['id']), {
    items: { [String(thought?.['id'])]: thought, [String(message?.['id'])]: message },
  });
  const native = outputOf(checkStream(eventsOf('events of a vendor, with a carrier')));
  assert.deepEqual(unpacked(native[2]?.['id']), { items: { rs_v: native[0], msg_v: native[1] } });
  const called = chunkOf({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{}' } }] });
  const sealing = openSealing({ isCarried: true });
  assert.equal(outputOf(checkStream(eventsIn(played([called, chunkOf({}, 'tool_calls')], { sealing })))).length, 1);
});

test('WI-05 a picture is delivered, and carried without itself', () => {
  const answer = [
    chunkOf({ images: [{ image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }] }),
    chunkOf({}, 'stop'),
  ];
  const [picture, carrier] = outputOf(
    checkStream(eventsIn(played(answer, { sealing: openSealing({ isCarried: true }) }))),
  );
  assert.deepEqual(
    [picture?.['type'], picture?.['result'], picture?.['output_format']],
    ['image_generation_call', 'iVBORw0KGgo=', 'png'],
  );
  assert.deepEqual(unpacked(carrier?.['id']), { items: { [String(picture?.['id'])]: { ...picture, result: null } } });
});

test('WI-02 events of a vendor keep their fields, under our head and numbers', () => {
  const events = eventsOf('events of a vendor');
  const last = checkStream(events);
  assert.deepEqual(last['output'], [outputOf(NATIVE)[0], NATIVE_ITEM]);
  assert.deepEqual(last['reasoning'], { effort: 'low', summary: null });
  assert.deepEqual(
    events
      .filter(({ type }) => type === 'response.output_text.delta')
      .map(({ delta, obfuscation }) => [delta, obfuscation]),
    [
      ['Hel', ''],
      ['lo, ', ''],
      ['"wörld"\n', 'x'],
    ],
  );
  assert.doesNotMatch(JSON.stringify(events), /hidden|flex|vendor-1|resp_vendor/);
});

/** What vendors make of the numbers and ids of their items. */
const ODDLY_NAMED: Readonly<Record<string, (event: JsonObject, place: number) => JsonObject>> = {
  'other ids in the last event': ({ response, ...event }) => {
    if (event['type'] !== 'response.completed') return { ...event, response };
    const output = outputOf(response as JsonObject).map((item) => ({ ...item, id: `${String(item['id'])}x` }));
    return { ...event, response: { ...(response as JsonObject), output } };
  },
  'no numbers': ({ output_index: _index, ...event }) => event,
  // As llama.cpp's server writes them.
  'no numbers of texts': ({ output_index: _index, content_index: _text, summary_index: _summary, ...event }) => event,
  'numbers of no list': (event) => ('output_index' in event ? { ...event, output_index: 900_000_000 } : event),
  'numbers that are none': (event) =>
    'output_index' in event ? { ...event, output_index: 'a', content_index: {} } : event,
};

test('WI-02 items of a vendor come once, however they are numbered and named', () => {
  const thoughts = reasoningItem(['First.', 'Second.']);
  const events = responseEvents([thoughts, messageItem('Hello'), callItem('look', '{"a":1}')]);
  const relayed = (change: (event: JsonObject, place: number) => JsonObject) =>
    eventsIn(played(events.map((event, place) => nativeChunk([change(event, place)]))));
  const whole = outputOf(checkStream(relayed((event) => event)));
  assert.equal(whole.length, 3);
  for (const [name, change] of Object.entries(ODDLY_NAMED)) {
    assert.deepEqual(outputOf(checkStream(relayed(change))), whole, name);
    const unended = relayed((event, place) =>
      event['type'] === 'response.output_item.done' ? { type: 'response.other' } : change(event, place),
    );
    assert.equal(outputOf(checkStream(unended)).length, 3, name);
  }
});

test('WI-02 a call of a vendor comes once beside one that only the last event has', () => {
  const calls = [callItem('look', '{}', 'call_1'), callItem('look', '{}', 'call_2')];
  const rename = ODDLY_NAMED['other ids in the last event'];
  assert.ok(rename !== undefined);
  const told = responseEvents(calls).filter((event) => event['output_index'] !== 0);
  const chunks = told.map((event, place) => nativeChunk([rename(event, place)]));
  const ended = eventsIn(played(chunks)).filter(({ type }) => type === 'response.output_item.done');
  const ids = new Set(ended.map(({ item }) => (item as JsonObject)['call_id']));
  assert.deepEqual([ended.length, ids], [2, new Set(['call_1', 'call_2'])]);
});

test('WI-02 what llama.cpp leaves out of the event of a text is made here', () => {
  const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] };
  const bare = [
    { type: 'response.output_item.added', item },
    { type: 'response.content_part.added', item_id: 'msg_1', part: { type: 'output_text', text: '' } },
    { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'Hi' },
  ];
  const events = eventsIn(played(bare.map((event) => nativeChunk([event]))));
  const [, part, delta] = events.slice(2);
  assert.deepEqual(part?.['part'], { type: 'output_text', text: '', annotations: [] });
  assert.deepEqual([delta?.['output_index'], delta?.['content_index'], delta?.['logprobs']], [0, 0, []]);
});

test('WI-02 what a vendor leaves out of a stream is made here', () => {
  const whole = checkStream(eventsOf('events of a vendor'));
  for (const name of [
    'events of a vendor without the last',
    'events of a vendor without the end of an item',
    'nothing of a vendor but the last event',
  ]) {
    const made = checkStream(eventsOf(name));
    assert.deepEqual(outputOf(made).slice(0, 2), outputOf(whole), name);
    assert.deepEqual([made['status'], made['usage']], [whole['status'], whole['usage']], name);
  }
});
