import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { judgeMutants } from '../../../tools/mutants/judge.ts';
import type { Files, Mutant } from '../../../tools/mutants/mutant.ts';

const repository = mkdtempSync(join(tmpdir(), 'purser-mutants-test-'));
mkdirSync(join(repository, 'node_modules'));
after(() => rmSync(repository, { recursive: true }));

const FILES: Files = new Map([
  ['package.json', '{ "type": "module" }'],
  ['sum.ts', 'export const sum = (left: number, right: number): number => left + right; // Adds.'],
  [
    'sum.test.ts',
    `import assert from 'node:assert/strict';
    import { before, test } from 'node:test';
    import { sum } from './sum.ts';
    before(() => assert.ok(sum(0, 0) < 9));
    test('adds (2 + 3)', () => assert.equal(sum(2, 3), 5));
    test('fails', () => assert.equal(1, 2));`,
  ],
]);

function mutant(id: string, find: string, replacement: string, name = 'adds (2 + 3)'): Mutant {
  return {
    id,
    clause: 'WA-09',
    edits: [{ file: 'sum.ts', find, replacement }],
    killer: { file: 'sum.test.ts', name },
  };
}

function judge(mutants: readonly Mutant[]) {
  return judgeMutants({ root: repository, files: FILES, mutants, jobs: 2, signal: AbortSignal.timeout(60_000) });
}

test('only a failed assertion of its test kills a mutant', async () => {
  const verdicts = await judge([
    mutant('subtracts', 'left + right', 'left - right'),
    mutant('says-another-thing', 'Adds.', 'Adds up.'),
    mutant('throws', 'left + right', '[left].at(left).valueOf() + right'),
    mutant('is-no-program', 'left + right', 'left +'),
    mutant('breaks-the-hook', 'left + right', 'left + right + 9'),
  ]);
  assert.deepEqual(
    verdicts.map(({ mutant: { id }, isKilled }) => [id, isKilled]),
    [
      ['subtracts', true],
      ['says-another-thing', false],
      ['throws', false],
      ['is-no-program', false],
      ['breaks-the-hook', false],
    ],
  );
  const reasons = verdicts.map(({ reason }) => reason);
  assert.deepEqual(reasons.slice(0, 2), ['', 'survived']);
  for (const reason of reasons.slice(2)) assert.match(reason, /^no assertion failed, but: ./);
});

test('a rotten mutant is not planted', async () => {
  await assert.rejects(judge([mutant('gone', 'left * right', 'left')]), /gone has rotted: this text occurs 0 times/);
  await assert.rejects(judge([mutant('twice', 'number', 'bigint')]), /twice has rotted: this text occurs 3 times/);
  await assert.rejects(judge([mutant('same', 'left +', 'left +')]), /same has rotted: it puts back/);
});

test('a missing test or one that fails anyway judges no mutant', async () => {
  await assert.rejects(judge([mutant('subtracts', '+', '-', 'fails')]), /Without a mutant, "fails" .* does not pass/);
  await assert.rejects(judge([mutant('subtracts', '+', '-', 'gone')]), /Without a mutant, "gone" .* it did not run/);
});
