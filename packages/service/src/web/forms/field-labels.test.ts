import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuse } from '#kernel/faults/refusal.ts';
import { withFieldLabels } from '#web/forms/form.ts';

test('ER-09 a page names refused fields by their labels', () => {
  const refusal = refuse('BAD_REQUEST', '`a` must be one of the `bs`; run `purser listen`, not `toString`.', {
    param: 'a',
  });
  const { code, message, detail } = withFieldLabels(refusal, { a: 'Address', bs: 'Addresses' });
  assert.equal(message, '“Address” must be one of the “Addresses”; run `purser listen`, not `toString`.');
  assert.deepEqual([code, detail], ['BAD_REQUEST', { param: 'a' }]);
});
