import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WIRES } from '#gateway/wires/wires.ts';

test('WI-01 each wire has its own name and its own path under /v1', () => {
  const paths = WIRES.map(({ path }) => path);
  assert.equal(new Set(paths).size, WIRES.length);
  assert.equal(new Set(WIRES.map(({ name }) => name)).size, WIRES.length);
  assert.ok(paths.every((path) => path.startsWith('/v1/')));
});
