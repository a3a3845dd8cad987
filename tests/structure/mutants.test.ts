import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rotOf } from '../../tools/mutants/mutant.ts';
import { MUTANTS } from '../../tools/mutants/mutants.ts';
import { readTree } from '../../tools/structure/read-tree.ts';
import { ROOT } from '../../tools/toolchain.ts';
import { testNamesIn } from '../../tools/prose/test-names.ts';

const MUTANTS_MIN = 100;
const files = readTree(ROOT);

test('the text that each mutant replaces occurs once', () => {
  const rotten = MUTANTS.map((one) => ({ id: one.id, rot: rotOf(files, one) })).filter(({ rot }) => rot !== undefined);
  assert.deepEqual(rotten, []);
  assert.ok(MUTANTS.length >= MUTANTS_MIN);
  assert.equal(new Set(MUTANTS.map(({ id }) => id)).size, MUTANTS.length);
});

test('the test that must notice each mutant exists', () => {
  for (const { id, killer } of MUTANTS) {
    assert.ok(
      namePatternsIn(files.get(killer.file) ?? '').some((pattern) => pattern.test(killer.name)),
      id,
    );
  }
});

/** Patterns of the test names in a file. The parts that a template fills in may be anything. */
function namePatternsIn(text: string): readonly RegExp[] {
  return testNamesIn(text).map((name) => {
    const parts = name.split(/\$\{[^}]*\}/);
    return new RegExp(`^${parts.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)).join('.+')}$`);
  });
}
