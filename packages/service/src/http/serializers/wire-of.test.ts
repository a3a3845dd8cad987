import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { wireOf } from '#http/serializers/wire-of.ts';
import { dateOf } from '#kernel/time/clock.ts';

const schema = z.object({
  walletId: z.string(),
  name: z.string().nullable(),
  cell: z.string().optional(),
  seq: z.int(),
  amountMicros: z.int(),
  suspended: z.boolean(),
  at: z.iso.datetime(),
  ended: z.iso.datetime().nullable(),
  waitMs: z.int(),
  entries: z.array(z.object({ balanceAfterMicros: z.int(), stream: z.boolean(), placedAt: z.iso.datetime() })),
});

test('CP-05 each kind of field is found by its names in code and rows', () => {
  const row = { balance_after_micros: 2n ** 60n, is_stream: true, placed_at: dateOf(0) };
  const value = { walletId: 7n, name: undefined, seq: 3n, amount: 5n, isSuspended: false, atMs: 1, endedMs: undefined };
  assert.deepEqual(wireOf(schema, { ...value, waitMs: 9, entries: [row], secret: 'inside' }), {
    walletId: '7',
    name: null,
    seq: 3,
    amountMicros: 5,
    suspended: false,
    at: '1970-01-01T00:00:00.001Z',
    ended: null,
    waitMs: 9,
    entries: [{ balanceAfterMicros: Number.MAX_SAFE_INTEGER, stream: true, placedAt: '1970-01-01T00:00:00.000Z' }],
  });
});
