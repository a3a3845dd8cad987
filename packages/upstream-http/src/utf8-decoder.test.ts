import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Utf8Decoder } from './utf8-decoder.ts';
import { anyCharacter } from '../../../tests/support/any-character.ts';

function textOf(pieces: readonly Uint8Array[]): string | undefined {
  const decoder = new Utf8Decoder();
  let all = '';
  for (const piece of pieces) {
    const next = decoder.decode(Buffer.from(piece));
    if (next === undefined) return undefined;
    all += next;
  }
  return decoder.isComplete ? all : undefined;
}

function piecesOf(bytes: Uint8Array, cuts: readonly number[]): readonly Uint8Array[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  return places.slice(1).map((place, index) => bytes.subarray(places[index], place));
}

const CUTS = fc.array(fc.nat(), { maxLength: 8 });

test('CC-09 text cut anywhere decodes to the same text', () => {
  const anyText = fc.string({ unit: anyCharacter, maxLength: 30 }).map((text) => text.toWellFormed());
  fc.assert(
    fc.property(anyText, CUTS, (text, cuts) => {
      assert.equal(textOf(piecesOf(Buffer.from(text), cuts)), text);
    }),
    { numRuns: 1_000 },
  );
});

test('CC-09 bytes cut anywhere decode exactly if a strict decoder accepts them', () => {
  // First, middle and last bytes of characters, and bytes that never occur. Random bytes would almost never be valid.
  const byte = fc.constantFrom(
    0x41,
    0x7f,
    0x80,
    0xbf,
    0xc1,
    0xc3,
    0xe0,
    0xe2,
    0xed,
    0xa0,
    0xef,
    0xf0,
    0x9f,
    0xf4,
    0xf8,
  );
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 8 }), CUTS, (bytes, cuts) => {
      let expected: string | undefined;
      try {
        expected = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
      } catch {
        expected = undefined;
      }
      assert.equal(textOf(piecesOf(Uint8Array.from(bytes), cuts)), expected);
    }),
    { numRuns: 5_000 },
  );
});

test('CC-09 the decoder keeps none of its given memory', () => {
  const decoder = new Utf8Decoder();
  const memory = Buffer.from('a\u{1F600}').subarray(0, 3);
  assert.equal(decoder.decode(memory), 'a');
  memory.fill(0);
  assert.equal(decoder.decode(Buffer.from('\u{1F600}').subarray(2)), '\u{1F600}');
});
