import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { freeBytes, logMib } from '#embedded/disk.ts';

const GIB = 2 ** 30;

test('the server keeps an eighth of the free disk in its log, from 1 to 4 GiB', () => {
  const free = [0, 1, 8, 12, 32, 1_000];
  assert.deepEqual(
    free.map((gib) => logMib(gib * GIB)),
    [1_024, 1_024, 1_024, 1_536, 4_096, 4_096],
  );
});

test('what is free is told of a directory that is there', async () => {
  assert.ok((await freeBytes(tmpdir())) > 0);
  assert.equal(await freeBytes(join(tmpdir(), 'not', 'there')), 0);
});
