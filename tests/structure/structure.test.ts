import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspect } from '../../tools/structure/inspect.ts';
import { readTree } from '../../tools/structure/read-tree.ts';
import { RULES } from '../../tools/structure/rules.ts';
import { listingOf } from './fixture.ts';

test('the repository keeps its rules', (t) => {
  const { findings, counts } = inspect(readTree(join(import.meta.dirname, '..', '..')), RULES);
  t.diagnostic(`read: ${JSON.stringify(counts)}`);
  assert.equal(findings.length, 0, `${findings.length} findings:\n${listingOf(findings)}`);
});
