import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAuditOptions } from '#cli/audit-command.ts';

test('CP-09 a head for the audit check is the number of a line and its hash', () => {
  const known = readAuditOptions(['--head', `12:${'ab'.repeat(32)}`]);
  assert.deepEqual([known?.linkNo, known?.hash.length], [12n, 32]);
  assert.equal(readAuditOptions([]), undefined);
  for (const words of [
    ['--head', '12'],
    ['--head', `12:${'ab'.repeat(31)}`],
    ['--head', `x:${'ab'.repeat(32)}`],
    ['more'],
  ]) {
    assert.throws(() => readAuditOptions(words), /--head/);
  }
});
