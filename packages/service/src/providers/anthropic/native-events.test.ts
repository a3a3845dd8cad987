import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TextRun } from '@purser/text-runs/text-run.ts';
import fc from 'fast-check';
import { createMessageEvents } from '#providers/anthropic/native-events.ts';
import type { Chunk } from '#providers/port/completion.ts';
import type { StreamChunk } from '#providers/port/provider.ts';
import { eventsOf, type Fields } from '../../../../../tests/support/claude-upstream.ts';

/** Texts that JSON escapes, that end an event or a string, and that equal the marks of templates. */
const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(' fox', 'x', '', 'über', '東京', '\u{1F680}') },
  { weight: 1, arbitrary: fc.constantFrom('"', '\\', '\n\n', 'data: ', '"}\n\n', '~~<text>~~', '7') },
);

const TYPES = { text: 'text_delta', thinking: 'thinking_delta', partial_json: 'input_json_delta' } as const;
const STARTS: Readonly<Record<keyof typeof TYPES, Fields>> = {
  text: { type: 'text', text: '' },
  thinking: { type: 'thinking', thinking: '', signature: '' },
  partial_json: { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
};

type Block = readonly [member: keyof typeof TYPES, said: readonly string[]];

/** Written with blanks before the last bracket, as the vendor does: each event with others, or all without. */
function streamOf(blocks: readonly Block[], isNamed: boolean, isPadded = true): string {
  const [start = {}, , ...end] = eventsOf({ content: [], reason: 'end_turn' });
  const inner = blocks.flatMap(([member, said], index) => [
    { type: 'content_block_start', index, content_block: STARTS[member] },
    ...said.map((one) => ({ type: 'content_block_delta', index, delta: { type: TYPES[member], [member]: one } })),
    { type: 'content_block_stop', index },
  ]);
  return [start, ...inner, ...end]
    .map((event, place) => {
      const padding = ' '.repeat(isPadded ? (place * 7) % 16 : 0);
      const json = `${JSON.stringify(event).slice(0, -1)}${padding}}`;
      return `${isNamed ? `event: ${String(event['type'])}\n` : ''}data: ${json}\n\n`;
    })
    .join('');
}

function chunksOf(parts: readonly string[]): { readonly chunks: readonly Chunk[]; readonly runs: number } {
  const reader = createMessageEvents();
  const came: StreamChunk[] = [];
  for (const part of parts) {
    reader.feed(part);
    came.push(...reader.take());
  }
  reader.end();
  came.push(...reader.take());
  assert.ok(reader.isDone());
  const runs = came.filter((one) => one instanceof TextRun).length;
  return { chunks: came.flatMap((one) => (one instanceof TextRun ? one.chunks : [one])), runs };
}

function saidIn(chunks: readonly Chunk[], field: string): string {
  const choices = chunks.flatMap((chunk) => chunk.choices);
  return choices.map(({ delta }) => (typeof delta[field] === 'string' ? delta[field] : '')).join('');
}

function eventsIn(chunks: readonly Chunk[]) {
  return chunks.flatMap(({ native = [] }) => native);
}

test('WI-02 a stream of Claude means the same however it is cut, parsed or not', () => {
  const block = fc.tuple(
    fc.constantFrom('text' as const, 'thinking' as const, 'partial_json' as const),
    fc.array(text, { minLength: 1, maxLength: 9 }),
  );
  const property = fc.property(
    fc.array(block, { maxLength: 4 }),
    fc.boolean(),
    fc.boolean(),
    fc.integer({ min: 1, max: 300 }),
    (blocks, isNamed, isPadded, size) => {
      const stream = streamOf(blocks, isNamed, isPadded);
      const pieces = Array.from({ length: Math.ceil(stream.length / size) }, (_, at) =>
        stream.slice(at * size, (at + 1) * size),
      );
      const [whole, cut] = [chunksOf([stream]).chunks, chunksOf(pieces).chunks];
      assert.deepEqual(eventsIn(cut), eventsIn(whole));
      for (const [field, member] of [
        ['content', 'text'],
        ['reasoning_content', 'thinking'],
      ] as const) {
        const said = blocks.flatMap(([of, texts]) => (of === member ? texts : [])).join('');
        assert.deepEqual([saidIn(whole, field), saidIn(cut, field)], [said, said]);
      }
    },
  );
  fc.assert(property, { numRuns: 300 });
});

test('WI-02 most events of Claude are not parsed', () => {
  const said = Array.from({ length: 50 }, (_, place) => `word ${place} `);
  const events =
    streamOf(
      [
        ['thinking', said],
        ['text', said],
        ['partial_json', said],
      ],
      true,
    ).match(/.*?\n\n/gs) ?? [];
  const { runs, chunks } = chunksOf(events);
  assert.ok(runs > 140, `${runs}`);
  assert.equal(chunks.length, 157 - 1);
});
