import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import type { JsonObject } from '../../packages/service/src/kernel/text/json.ts';
import { checkStream } from './responses/check-stream.ts';
import { PLAIN_CASES } from './responses/plain-cases.ts';
import { eventsOf, STREAM_CASES } from './responses/stream-cases.ts';
import { assertModelsTake, type Spoken } from './strict-types.ts';

for (const name of Object.keys(STREAM_CASES)) {
  test(`WI-06 the events of a stream agree with each other: ${name}`, () => void checkStream(eventsOf(name)));
}

/** Without what is new in each call. */
function known(event: JsonObject): JsonObject {
  const text = JSON.stringify(event).replaceAll(/(msg|rs|fc|ctc|ig)_[\da-f]{32}/g, '$1_');
  return JSON.parse(text) as JsonObject;
}

function part(text: string) {
  return { type: 'output_text' as const, text, annotations: [], logprobs: [] };
}

test('WI-06 a text is told by the events of the vendor’s own types', () => {
  const place = { item_id: 'msg_0', output_index: 0, content_index: 0 } as const;
  const message = (status: 'in_progress' | 'completed', text?: string) => ({
    id: 'msg_0',
    type: 'message' as const,
    status,
    role: 'assistant' as const,
    content: text === undefined ? [] : [part(text)],
  });
  const expected = [
    { type: 'response.output_item.added', sequence_number: 2, output_index: 0, item: message('in_progress') },
    { type: 'response.content_part.added', sequence_number: 3, ...place, part: part('') },
    { type: 'response.output_text.delta', sequence_number: 4, ...place, delta: 'Hi', logprobs: [] },
    { type: 'response.output_text.delta', sequence_number: 5, ...place, delta: ' you', logprobs: [] },
    { type: 'response.output_text.delta', sequence_number: 6, ...place, delta: ' "two"', logprobs: [] },
    { type: 'response.output_text.delta', sequence_number: 7, ...place, delta: ' ünd\n', logprobs: [] },
    { type: 'response.output_text.done', sequence_number: 8, ...place, text: 'Hi you "two" ünd\n', logprobs: [] },
    { type: 'response.content_part.done', sequence_number: 9, ...place, part: part('Hi you "two" ünd\n') },
    {
      type: 'response.output_item.done',
      sequence_number: 10,
      output_index: 0,
      item: message('completed', 'Hi you "two" ünd\n'),
    },
  ] satisfies ResponseStreamEvent[];
  assert.deepEqual(eventsOf('text in runs').slice(2, -1).map(known), expected);
});

test('WI-06 thoughts and calls are told by the events of the vendor’s own types', () => {
  const summary = { item_id: 'rs_0', output_index: 0, summary_index: 0 } as const;
  const first = { item_id: 'fc_1', output_index: 1 } as const;
  const last = { item_id: 'ctc_3', output_index: 3 } as const;
  const expected = [
    {
      type: 'response.output_item.added',
      sequence_number: 2,
      output_index: 0,
      item: { id: 'rs_0', type: 'reasoning', summary: [] },
    },
    {
      type: 'response.reasoning_summary_part.added',
      sequence_number: 3,
      ...summary,
      part: { type: 'summary_text', text: '' },
    },
    { type: 'response.reasoning_summary_text.delta', sequence_number: 4, ...summary, delta: 'Let me ' },
    { type: 'response.reasoning_summary_text.delta', sequence_number: 5, ...summary, delta: 'see.' },
    { type: 'response.reasoning_summary_text.done', sequence_number: 6, ...summary, text: 'Let me see.' },
    {
      type: 'response.reasoning_summary_part.done',
      sequence_number: 7,
      ...summary,
      part: { type: 'summary_text', text: 'Let me see.' },
    },
    { type: 'response.function_call_arguments.delta', sequence_number: 10, ...first, delta: '{"city":' },
    { type: 'response.function_call_arguments.done', sequence_number: 15, ...first, arguments: '{"city":"Rome"}' },
    { type: 'response.custom_tool_call_input.delta', sequence_number: 19, ...last, delta: 'ls -l\n' },
    { type: 'response.custom_tool_call_input.done', sequence_number: 20, ...last, input: 'ls -l\n' },
  ] satisfies ResponseStreamEvent[];
  const events = eventsOf('thoughts and calls').map(known);
  for (const event of expected) assert.deepEqual(events[event.sequence_number], event);
});

test('WI-06 the vendor’s strict models take every event and every Response', (t) => {
  const events = Object.keys(STREAM_CASES).flatMap((name) =>
    eventsOf(name).map((event): Spoken => ['event of Responses', name, event]),
  );
  const responses = Object.entries(PLAIN_CASES).map(([name, make]): Spoken => ['response', name, make()]);
  assertModelsTake(t, [...events, ...responses]);
});
