import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMarkers, MARKER } from '#cells/routing/marker.ts';
import { proofsOf } from '#kernel/crypto/keys.ts';

const clock = { nowMs: () => 1_000_000 };
const [former, coming] = [Buffer.from('the former secret of all cells'), Buffer.from('the coming secret of all cells')];

test('CE-08 during a secret change only neighbouring cells accept each other’s markers', () => {
  const steps = [
    { secret: former },
    { secret: former, secretAlso: coming },
    { secret: coming, secretAlso: former },
    { secret: coming },
  ].map((secrets) => proofsOf(secrets)('cells'));
  const takes = steps.map((here) =>
    steps.map((there) => {
      const marker = createMarkers('c1', there, clock).make('c2', 'id', '192.0.2.7');
      const headers = { [MARKER]: marker, 'x-correlation-id': 'id' };
      return createMarkers('c2', here, clock).read(headers) !== undefined;
    }),
  );
  assert.deepEqual(takes, [
    [true, true, false, false],
    [true, true, true, true],
    [true, true, true, true],
    [false, false, true, true],
  ]);
});
