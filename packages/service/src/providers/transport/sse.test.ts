import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Utf8Decoder } from '../../../../upstream-http/src/utf8-decoder.ts';
import { UpstreamError } from '#providers/port/provider.ts';
import { createEventReader } from '#providers/transport/sse.ts';
import { anyCharacter } from '../../../../../tests/support/any-character.ts';

/** The events that each piece completes; the bytes may be cut anywhere. */
function readsOf(...pieces: readonly (Buffer | string)[]): readonly (readonly string[])[] {
  const text = new Utf8Decoder();
  const reads: string[][] = [];
  const reader = createEventReader({ onEvent: (data) => void reads.at(-1)?.push(data), skim: (_text, at) => at });
  for (const piece of pieces) {
    reads.push([]);
    reader.feed(text.decode(Buffer.from(piece)) ?? assert.fail('no UTF-8'));
  }
  reads.push([]);
  reader.end();
  return reads;
}

function eventsOf(...pieces: readonly (Buffer | string)[]): readonly string[] {
  return readsOf(...pieces).flat();
}

const STREAM = [
  ': a comment\n\n',
  'data: {"content":"Größe \u{1F600}"}\n\n',
  'data: one\r\n\r\n',
  'event: chunk\r\nid: 7\r\ndata: two\r\nretry: 5\r\n\r\n',
  'data: line one\ndata: line two\n\n',
  'data:without a space\n\n',
  'data: [DONE]\n\n',
].join('');
const EVENTS = ['{"content":"Größe \u{1F600}"}', 'one', 'two', 'line one\nline two', 'without a space', '[DONE]'];

test('CC-01 a stream cut at any byte gives the same events', () => {
  const bytes = Buffer.from(STREAM);
  assert.deepEqual(eventsOf(bytes), EVENTS);
  for (let at = 0; at <= bytes.length; at += 1) {
    assert.deepEqual(eventsOf(bytes.subarray(0, at), bytes.subarray(at)), EVENTS, `split at ${at}`);
  }
});

test('CC-01 a stream that arrives byte by byte gives the same events', () => {
  assert.deepEqual(eventsOf(...Array.from(Buffer.from(STREAM), (byte) => Buffer.from([byte]))), EVENTS);
});

test('CC-01 events cut anywhere arrive whole and in order', () => {
  const payload = fc
    .string({ unit: anyCharacter, maxLength: 20 })
    .filter((text) => !/[\r\n]/.test(text) && text !== '');
  const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 6 });
  fc.assert(
    fc.property(fc.array(payload, { maxLength: 6 }), cuts, fc.constantFrom('\n', '\r\n'), (texts, at, end) => {
      const wellFormed = texts.map((text) => text.toWellFormed());
      const bytes = Buffer.from(wellFormed.map((text) => `data: ${text}${end}${end}`).join(''));
      const places = [0, ...at.map((place) => Math.min(place, bytes.length)), bytes.length].toSorted((a, b) => a - b);
      const pieces = places.slice(1).map((place, index) => bytes.subarray(places[index], place));
      assert.deepEqual(eventsOf(...pieces), wellFormed);
    }),
    { numRuns: 500 },
  );
});

test('CC-01 a last event without a blank line counts', () => {
  for (const end of ['', '\n', '\r\n']) assert.deepEqual(eventsOf(`data: one\n\ndata: two${end}`), ['one', 'two']);
});

test('CC-01 events that arrive in one read are returned together', () => {
  assert.deepEqual(readsOf('data: one\n\ndata: two\n\nda', 'ta: three\n\n'), [['one', 'two'], ['three'], []]);
});

test('CC-09 an event is given up after a mebibyte', () => {
  const reader = createEventReader({ onEvent: () => {}, skim: (_text, at) => at });
  reader.feed('data: ');
  let sent = 0;
  const sendOn = (): void => {
    for (; sent < 64; sent += 1) reader.feed('a'.repeat(65_536));
  };
  assert.throws(sendOn, (fault) => fault instanceof UpstreamError && fault.kind === 'malformed');
  assert.ok(sent <= 17, `${sent} pieces were read`);
});
