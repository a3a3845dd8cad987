import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InlinePictures } from '#gateway/usage/inline-pictures.ts';

const body = 'iVBORw0KGgoA'.repeat(40);
const picture = fc.constantFrom(
  `data:image/png;base64,${body}`,
  `data:image/svg+xml;base64,${body.slice(0, 48)}==`,
  `data:image/jpeg;base64,${body.slice(0, 47)}`,
  'data:image/png;base64,...',
  'data:image/png;utf8,<svg/>',
  'data:',
  'd',
);
const text = fc.array(fc.oneof(picture, fc.constantFrom(' and ', ') data', '\n', 'dda')), { maxLength: 8 });
const DRAWN = /data:image\/[\w.+-]{1,40};base64,[\w+/=]{48,}/g;

/** What is left of a text that comes in these pieces, and its pictures. */
function left(pieces: readonly string[], isFlushed: boolean) {
  const drawn = new InlinePictures();
  let out = '';
  for (const piece of pieces) out += drawn.take(piece) + (isFlushed ? drawn.flush() : '');
  return { text: out + drawn.flush(), pictures: drawn.count() };
}

function piecesOf(whole: string, lengths: readonly number[]): readonly string[] {
  const pieces: string[] = [];
  for (let [at, turn] = [0, 0]; at < whole.length; turn += 1) {
    const length = lengths[turn % lengths.length] ?? 1;
    pieces.push(whole.slice(at, at + length));
    at += length;
  }
  return pieces;
}

test('CC-23 a picture in a text is found however the text is cut', () => {
  fc.assert(
    fc.property(text, fc.array(fc.integer({ min: 1, max: 70 }), { minLength: 1, maxLength: 5 }), (parts, lengths) => {
      const whole = parts.join('|');
      const right = { text: whole.replaceAll(DRAWN, ''), pictures: whole.match(DRAWN)?.length ?? 0 };
      assert.deepEqual(left([whole], false), right);
      assert.deepEqual(left(piecesOf(whole, lengths), false), right);
      const counted = left(piecesOf(whole, lengths), true);
      assert.equal(counted.pictures, right.pictures);
      const more = counted.text.length - right.text.length;
      assert.ok(more >= 0 && more <= 110 * right.pictures, 'a beginning that was counted stays counted');
    }),
    { numRuns: 300 },
  );
});
