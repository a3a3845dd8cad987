import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { freeBytes, logMib } from '#embedded/server/disk.ts';

const GIB = 2 ** 30;

test('OP-15 the write-ahead log takes a bounded eighth of the disk', () => {
  const free = [0, 1, 8, 12, 32, 1_000];
  assert.deepEqual(
    free.map((gib) => logMib(gib * GIB)),
    [1_024, 1_024, 1_024, 1_536, 4_096, 4_096],
  );
});

test('OP-15 free space is reported for an existing directory', async () => {
  assert.ok((await freeBytes(tmpdir())) > 0);
  assert.equal(await freeBytes(join(tmpdir(), 'not', 'there')), 0);
});
