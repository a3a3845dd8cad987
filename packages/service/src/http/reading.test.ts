import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReading } from '#http/reading.ts';

const KIB = 1_024;

test('C3 a body counts for 16 KiB at least, so that the number of bodies is bounded as well', () => {
  const reading = createReading({ bytesMax: 64 * KIB, callerBytesMax: 64 * KIB });
  const bodies = Array.from({ length: 4 }, () => reading.begin('a'));
  assert.equal(reading.begin('a'), undefined);
  assert.equal(reading.bytes(), 64 * KIB);
  bodies[0]?.end();
  bodies[0]?.end();
  assert.equal(reading.bytes(), 48 * KIB);
  assert.ok(reading.begin('a'));
});

test('C3 a body that grows is refused at the limit of all bodies, and gives back what it had', () => {
  const reading = createReading({ bytesMax: 100 * KIB, callerBytesMax: 100 * KIB });
  const one = reading.begin('a');
  const other = reading.begin('b');
  assert.equal(one?.grow(10 * KIB), true);
  assert.equal(one?.grow(84 * KIB), true);
  assert.equal(other?.grow(16 * KIB), true);
  assert.equal(other?.grow(17 * KIB), false);
  one?.end();
  assert.equal(other?.grow(100 * KIB), true);
  other?.end();
  assert.equal(reading.bytes(), 0);
});

test('C3 one caller cannot take the room of all others', () => {
  const reading = createReading({ bytesMax: 128 * KIB, callerBytesMax: 32 * KIB });
  assert.ok(reading.begin('a'));
  const second = reading.begin('a');
  assert.ok(second);
  assert.equal(reading.begin('a'), undefined);
  assert.ok(reading.begin('b'));
  assert.equal(second.grow(17 * KIB), false);
});
