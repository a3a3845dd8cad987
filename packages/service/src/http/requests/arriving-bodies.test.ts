import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ArrivingBodies } from '#http/requests/read-body.ts';

const KIB = 1_024;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test('CP-11 a body counts for at least 16 KiB', () => {
  const arriving = new ArrivingBodies({ bytesMax: 128 * KIB, part: 1 });
  const bodies = Array.from({ length: 4 }, () => arriving.begin('a'));
  assert.equal(arriving.begin('a'), undefined);
  assert.equal(arriving.bytes(), 64 * KIB);
  bodies[0]?.end();
  bodies[0]?.end();
  assert.equal(arriving.bytes(), 48 * KIB);
  assert.ok(arriving.begin('a'));
});

test('CP-11 a growing body is refused at the limit', () => {
  const arriving = new ArrivingBodies({ bytesMax: 200 * KIB, part: 1 });
  const one = arriving.begin('a');
  const other = arriving.begin('b');
  assert.equal(one?.grow(10 * KIB), true);
  assert.equal(one?.grow(84 * KIB), true);
  assert.equal(other?.grow(58 * KIB), true);
  assert.equal(other?.grow(59 * KIB), false);
  one?.end();
  assert.equal(other?.grow(100 * KIB), true);
  other?.end();
  assert.equal(arriving.bytes(), 0);
});

test('CP-11 one caller cannot take all others’ room', () => {
  const arriving = new ArrivingBodies({ bytesMax: 160 * KIB, part: 4 });
  assert.ok(arriving.begin('a'));
  const second = arriving.begin('a');
  assert.ok(second);
  assert.equal(arriving.begin('a'), undefined);
  assert.ok(arriving.begin('b'));
  assert.equal(second.grow(17 * KIB), false);
});

test('CP-11 several greedy callers leave room for one more', () => {
  const arriving = new ArrivingBodies({ bytesMax: 1_024 * KIB, part: 4 });
  for (let body = 0; body < 16; body += 1) for (const caller of 'abcdefgh') arriving.begin(caller);
  const next = arriving.begin('another');
  assert.equal(next?.grow(64 * KIB), true, `${arriving.bytes()} bytes are taken`);
});

test('CP-11 callers who send nothing any more are forgotten', () => {
  const arriving = new ArrivingBodies({ bytesMax: 128 * KIB, part: 1 });
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let caller = 0; caller < 100_000; caller += 1) arriving.begin(`caller ${caller}`)?.end();
  collect();
  const grown = process.memoryUsage().heapUsed - before;
  assert.ok(grown < 2 * KIB * KIB, `${grown} bytes are kept`); // Ten million if none is forgotten.
  assert.equal(arriving.bytes(), 0);
});
