import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usageFinding } from '#probe/findings.ts';

function findingOf(usage: object) {
  return usageFinding('usage', { usage } as unknown as Parameters<typeof usageFinding>[1]);
}

test('MO-13 a provider reporting more reasoning than output is found out', () => {
  // As Perplexity documented for deep research.
  const odd = findingOf({ prompt: 33, completion: 7_163, reasoning: 73_997, total: 7_196 });
  assert.equal(odd.is, 'no');
  assert.match(odd.words, /more reasoning \(73997\) than output \(7163\)/);
  assert.equal(findingOf({ prompt: 33, completion: 10, reasoning: 10, total: 43 }).is, 'yes');
});
