import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesText, durationText } from '#web/ops/health/measures.ts';

test('CP-10 bytes and times have a readable unit', () => {
  assert.deepEqual([0, 1_023, 1_536, 20 * 1_024 ** 2, 5 * 1_024 ** 5].map(bytesText), [
    '0 B',
    '1023 B',
    '1.5 KiB',
    '20 MiB',
    '5120 TiB',
  ]);
  assert.deepEqual([-1, 0.25, 59, 60, 3_725, 90_061].map(durationText), [
    '0 ms',
    '250 ms',
    '59 s',
    '1 min',
    '1 h 2 min',
    '1 d 1 h',
  ]);
});
