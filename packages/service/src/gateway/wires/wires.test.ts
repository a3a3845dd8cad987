import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWires } from '#gateway/wires/wires.ts';
import { createKeys, keptKeysBy } from '#kernel/crypto/keys.ts';

test('WI-01 each wire has its own name and its own path under /v1', () => {
  const keys = createKeys(
    { secret: Buffer.alloc(32) },
    keptKeysBy(() => Buffer.alloc(32)),
  );
  const wires = createWires(keys);
  const paths = wires.map(({ path }) => path);
  assert.equal(new Set(paths).size, wires.length);
  assert.equal(new Set(wires.map(({ name }) => name)).size, wires.length);
  assert.ok(paths.every((path) => path.startsWith('/v1/')));
});
