import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHead } from '#cli/books/audit-command.ts';

test('CP-09 an audit head is a line number and its hash', () => {
  const known = readHead(`12:${'ab'.repeat(32)}`);
  assert.deepEqual([known?.linkNo, known?.hash.length], [12n, 32]);
  assert.equal(readHead(undefined), undefined);
  for (const head of ['12', `12:${'ab'.repeat(31)}`, `x:${'ab'.repeat(32)}`, '']) {
    assert.throws(() => readHead(head), /--head must be/, head);
  }
});
