import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TextRun } from '@purser/text-runs/text-run.ts';
import fc from 'fast-check';
import type { JsonObject } from '#kernel/text/json.ts';
import type { Chunk } from '#providers/port/completion.ts';
import { createResponseEvents } from '#providers/openai-responses/event-reader.ts';
import type { StreamChunk } from '#providers/port/provider.ts';

/** Texts that JSON escapes, that end an event or a string, and that equal the marks of templates. */
const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(' fox', 'x', '', 'über', '東京', '\u{1F680}') },
  { weight: 1, arbitrary: fc.constantFrom('"', '\\', '\n\n', 'data: ', '"}\n\n', '~~<text>~~', '~~<number>~~', '7') },
);

interface Shape {
  readonly isNamed: boolean;
  readonly isNumbered: boolean;
  readonly isPadded: boolean;
  readonly isOther: boolean;
}

function streamOf(said: readonly string[], { isNamed, isNumbered, isPadded, isOther }: Shape): string {
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' };
  const whole = [{ type: 'output_text', text: said.join(''), annotations: [] }];
  const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
  const events = [
    { type: 'response.created', response: { id: 'resp_1' } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
    ...said.map((delta, at) => ({
      type: 'response.output_text.delta',
      ...(isNumbered ? { sequence_number: at + 8 } : {}),
      ...place,
      delta,
      logprobs: isOther && at === 3 ? [{ token: 'x', logprob: -1, bytes: [120] }] : [],
      ...(isPadded ? { obfuscation: 'p'.repeat(at % 3) } : {}),
    })),
    { type: 'response.output_item.done', output_index: 0, item: { ...item, content: whole } },
    { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [], usage } },
  ];
  return events.map((event) => `${isNamed ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`).join('');
}

/** The events that a text which came as it is has, as it came. */
function eventsIn(source: string): readonly JsonObject[] {
  return Array.from(source.matchAll(/^event: .*\ndata: (.*)\n\n/gm), ([, data = '']) => JSON.parse(data) as JsonObject);
}

function assertSource(chunk: StreamChunk): void {
  const { source } = chunk;
  if (source === undefined) return;
  const isRun = chunk instanceof TextRun;
  const native = isRun ? chunk.chunks.flatMap((one) => one.native ?? []) : chunk.native;
  const first = isRun ? chunk.source?.number : undefined;
  const numbered = native?.map((event, at) =>
    first === undefined ? event : { ...event, sequence_number: first + at },
  );
  assert.deepEqual(eventsIn(typeof source === 'string' ? source : source.text), numbered);
}

function chunksOf(parts: readonly string[], isNative: boolean): { chunks: readonly Chunk[]; runs: number } {
  const reader = createResponseEvents({ isNative, outputTokensMax: 1_000 });
  const came: StreamChunk[] = [];
  for (const part of parts) {
    reader.feed(part);
    came.push(...reader.take());
  }
  reader.end();
  came.push(...reader.take());
  assert.ok(reader.isComplete());
  came.forEach(assertSource);
  const runs = came.filter((chunk) => chunk instanceof TextRun).length;
  return { chunks: came.flatMap((chunk) => (chunk instanceof TextRun ? chunk.chunks : [chunk])), runs };
}

const head = (type: string, rest: string) => `data: {"type":"${type}","response":{"id":"resp_1",${rest}}}\n\n`;
const answer =
  'data: {"type":"response.output_text.delta","delta":"Hi."}\n\ndata: {"type":"response.completed","response":{}}\n\n';

test('WI-03 a second head, which repeats the request, is passed over unread', () => {
  const unread = head('response.in_progress', '"tools":[~],"usage":null');
  const { chunks } = chunksOf([head('response.created', '"usage":null') + unread + answer], true);
  assert.equal(chunks[0]?.extra['id'], 'resp_1');
  assert.throws(() => chunksOf([unread + answer], true), /not JSON/);
});

test('WI-03 usage in a second head is read', () => {
  const second = head('response.in_progress', '"usage":{"input_tokens":7}');
  const { chunks } = chunksOf([head('response.created', '"usage":null') + second + answer], true);
  assert.equal(chunks[0]?.usage?.counts.prompt, 7);
});

/** Parsing gives no choice for an event without text. Callers get numbers of ours, so those of the vendor are not kept in runs. */
function withoutNothing(chunks: readonly Chunk[], isNative: boolean): readonly Chunk[] {
  const said = chunks.map((chunk) => (chunk.choices[0]?.delta['content'] === '' ? { ...chunk, choices: [] } : chunk));
  const unnumbered = said.map((chunk) => ({
    ...chunk,
    source: undefined,
    native: chunk.native?.map(({ sequence_number: _number, ...event }) => event),
  }));
  return isNative ? unnumbered : said.filter(({ choices, usage }) => choices.length > 0 || usage !== undefined);
}

test('WI-02 WI-03 events of text that are not parsed mean what parsing them gives', (t) => {
  let runs = 0;
  fc.assert(
    fc.property(
      fc.array(text, { minLength: 1, maxLength: 12 }),
      fc.record({ isNamed: fc.boolean(), isNumbered: fc.boolean(), isPadded: fc.boolean(), isOther: fc.boolean() }),
      fc.boolean(),
      (said, shape, isNative) => {
        const stream = streamOf(said, shape);
        const whole = chunksOf([stream], isNative);
        // An event that comes in two reads is always parsed.
        const parsed = chunksOf(stream.match(/[^]{1,20}/g) ?? [], isNative);
        assert.equal(parsed.runs, 0);
        assert.deepEqual(withoutNothing(whole.chunks, isNative), withoutNothing(parsed.chunks, isNative));
        const heard = whole.chunks.map(({ choices: [choice] }) => choice?.delta['content']);
        assert.equal(heard.filter((one) => typeof one === 'string').join(''), said.join(''));
        runs += whole.runs;
        const sources = whole.chunks.filter(({ source }) => source !== undefined);
        assert.equal(sources.length > 0, isNative && shape.isNamed);
      },
    ),
    { numRuns: 500 },
  );
  t.diagnostic(`${runs} runs`);
  assert.ok(runs > 200, String(runs));
});
