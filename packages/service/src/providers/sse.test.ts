import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { UpstreamError } from '#providers/provider.ts';
import { readEvents } from '#providers/sse.ts';

async function* inPieces(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces;
}

async function eventsOf(...pieces: readonly (Buffer | string)[]): Promise<readonly string[]> {
  const events: string[] = [];
  for await (const read of readEvents(inPieces(pieces.map((piece) => Buffer.from(piece))))) {
    assert.ok(read.length > 0, 'a read without events gives nothing');
    events.push(...read);
  }
  return events;
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

test('CC-01 a stream split in two at any byte gives the same events', async () => {
  const bytes = Buffer.from(STREAM);
  assert.deepEqual(await eventsOf(bytes), EVENTS);
  for (let at = 0; at <= bytes.length; at += 1) {
    assert.deepEqual(await eventsOf(bytes.subarray(0, at), bytes.subarray(at)), EVENTS, `split at ${at}`);
  }
});

test('CC-01 a stream that comes byte by byte gives the same events', async () => {
  assert.deepEqual(await eventsOf(...Array.from(Buffer.from(STREAM), (byte) => Buffer.from([byte]))), EVENTS);
});

test('CC-01 any events cut anywhere come whole and in order', async () => {
  const payload = fc.string({ unit: 'binary', maxLength: 20 }).filter((text) => !/[\r\n]/.test(text) && text !== '');
  const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(payload, { maxLength: 6 }),
      cuts,
      fc.constantFrom('\n', '\r\n'),
      async (texts, at, end) => {
        const wellFormed = texts.map((text) => text.toWellFormed());
        const bytes = Buffer.from(wellFormed.map((text) => `data: ${text}${end}${end}`).join(''));
        const places = [0, ...at.map((place) => Math.min(place, bytes.length)), bytes.length].toSorted((a, b) => a - b);
        const pieces = places.slice(1).map((place, index) => bytes.subarray(places[index], place));
        assert.deepEqual(await eventsOf(...pieces), wellFormed);
      },
    ),
    { numRuns: 500 },
  );
});

test('CC-01 a last event without the blank line behind it is an event', async () => {
  for (const end of ['', '\n', '\r\n'])
    assert.deepEqual(await eventsOf(`data: one\n\ndata: two${end}`), ['one', 'two']);
});

test('CC-01 events of one read come together, so that they are passed on together', async () => {
  const reads: (readonly string[])[] = [];
  const pieces = ['data: one\n\ndata: two\n\nda', 'ta: three\n\n'].map((piece) => Buffer.from(piece));
  for await (const read of readEvents(inPieces(pieces))) reads.push(read);
  assert.deepEqual(reads, [['one', 'two'], ['three']]);
});

test('CC-09 bytes that are no UTF-8 are a malformed answer, in one read or over two', async () => {
  for (const pieces of [[Buffer.from([0x64, 0xff])], [Buffer.from([0xf0, 0x9f]), Buffer.from('data')]]) {
    await assert.rejects(eventsOf(...pieces), (fault) => fault instanceof UpstreamError && fault.kind === 'malformed');
  }
});

test('CC-09 an event that never ends is given up after a mebibyte, however it comes', async () => {
  let sent = 0;
  async function* endless(): AsyncGenerator<Buffer> {
    yield Buffer.from('data: ');
    for (; sent < 64; sent += 1) yield Buffer.alloc(65_536, 'a');
  }
  const reading = (async () => {
    for await (const _ of readEvents(endless()));
  })();
  await assert.rejects(reading, (fault) => fault instanceof UpstreamError && fault.kind === 'malformed');
  assert.ok(sent <= 17, `${sent} pieces were read`);
});

test('CC-09 no event says what the provider sent, in the words of its failure', async () => {
  await assert.rejects(eventsOf(Buffer.from([0x43, 0x41, 0x4e, 0x41, 0x52, 0x59, 0xff])), (fault) => {
    return fault instanceof UpstreamError && !fault.message.includes('CANARY');
  });
});
