import assert from 'node:assert/strict';
import { totalmem } from 'node:os';
import { test } from 'node:test';
import { memoryBytes, sharedBuffersMib } from '#embedded/server/memory.ts';

const GIB = 2 ** 30;

test('OP-15 shared buffers take a bounded eighth of the memory', () => {
  const asked = [0, 0.5, 1, 2, 3.5, 4, 16, 64];
  assert.deepEqual(
    asked.map((gib) => sharedBuffersMib(gib * GIB)),
    [128, 128, 128, 256, 448, 512, 2048, 2048],
  );
});

test('OP-15 the memory never exceeds what the machine has', () => {
  assert.ok(memoryBytes() > 0 && memoryBytes() <= totalmem());
});
