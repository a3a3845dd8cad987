import assert from 'node:assert/strict';
import { test } from 'node:test';
import { affectedFiles, type CompilerNotes, keptOf } from '../../tools/lint/kept.ts';

const FILES: Readonly<Record<string, string>> = {
  'package.json': '{}',
  'tools/lint/config.ts': 'export {};',
  'packages/a.ts': 'export const a = 1;',
  'packages/b.ts': "import { a } from './a.ts';",
  'packages/c.ts': "import './b.ts';",
  'packages/d.ts': '',
  'packages/e.ts': '',
  'packages/f.ts': '',
  'packages/g.ts': '',
  'packages/h.ts': '',
  'scripts/s.cjs': '',
};
const NAMES = ['lib.d.ts', '../packages/a.ts', '../packages/b.ts', '../packages/c.ts', '../packages/d.ts'];
const NOTES: CompilerNotes = {
  fileNames: [
    ...NAMES,
    '../packages/e.ts',
    '../packages/f.ts',
    '../packages/g.ts',
    '../packages/h.ts',
    '../tools/lint/config.ts',
  ],
  fileIdsList: [[1, 2], [3]],
  referencedMap: [
    [3, 1],
    [4, 2],
  ],
};
const before = keptOf(treeWith({}), NOTES, Number.POSITIVE_INFINITY);
const ALWAYS = ['scripts/s.cjs']; // The compiler does not know it.

function treeWith(changes: Readonly<Record<string, string | undefined>>): ReadonlyMap<string, string> {
  const files = Object.entries({ ...FILES, ...changes });
  return new Map(files.flatMap(([file, text]) => (text === undefined ? [] : [[file, text] as const])));
}

for (const [what, changes, wanted] of [
  ['nothing', {}, []],
  ['a file that others import', { 'packages/a.ts': 'x' }, ['packages/a.ts', 'packages/b.ts', 'packages/c.ts']],
  ['a file that imports', { 'packages/c.ts': 'x' }, ['packages/c.ts']],
  ['a file that is new', { 'packages/i.ts': 'x' }, ['packages/i.ts']],
] as const) {
  test(`a lint after a change reads that and its importers: ${what}`, () => {
    assert.deepEqual(affectedFiles(treeWith(changes), before)?.toSorted(), [...wanted, ...ALWAYS].toSorted());
  });
}

for (const [what, changes] of [
  ['a rule', { 'tools/lint/config.ts': 'x' }],
  ['a package', { 'packages/sdk/package.json': '{}' }],
  ['a file that is gone', { 'packages/d.ts': undefined }],
  ['the meaning of a module', { 'packages/d.ts': "declare module 'x' {}" }],
  ['most files', { 'packages/a.ts': 'x', 'packages/d.ts': 'x', 'packages/f.ts': 'x' }],
] as const) {
  test(`a lint reads all files after a change of ${what}`, () => {
    assert.equal(affectedFiles(treeWith(changes), before), undefined);
  });
}

test('the first lint reads all files', () => {
  assert.equal(affectedFiles(treeWith({}), undefined), undefined);
});

test('a lint reads again what was written since the one before began', () => {
  const since = keptOf(treeWith({}), NOTES, 0);
  assert.deepEqual(affectedFiles(treeWith({}), since), [...ALWAYS, 'tools/lint/config.ts']);
});
