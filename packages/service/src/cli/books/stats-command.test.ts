import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '#cli/terminal/command-error.ts';
import { readDays } from '#cli/books/stats-command.ts';

test('OP-01 a rebuild covers the named UTC days or all', () => {
  const nowMs = Date.parse('2026-11-23T23:59:00Z');
  assert.deepEqual(readDays({}, nowMs), { from: new Date('2000-01-01'), to: new Date('2026-11-24') });
  assert.deepEqual(readDays({ from: '2026-02-01', to: '2026-03-01' }, nowMs), {
    from: new Date('2026-02-01'),
    to: new Date('2026-03-01'),
  });
});

test('OP-01 days that are none are refused with what to write', () => {
  for (const days of [
    { from: '2026-02-30' },
    { from: 'yesterday' },
    { to: '2026-11-30T00:00:00Z' },
    { from: '2026-02-01', to: '2026-02-01' },
  ]) {
    assert.throws(() => readDays(days), UsageError, JSON.stringify(days));
  }
});
