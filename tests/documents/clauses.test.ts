import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTree } from '../../tools/structure/read-tree.ts';
import { promiseFiles } from '../../tools/test-files.ts';
import { ROOT } from '../../tools/toolchain.ts';
import { testNamesIn } from '../../tools/prose/test-names.ts';

/** Holds docs/CLAUSES.md, the law, to what cites it. */

const LAW = 'docs/CLAUSES.md';

const tree = readTree(ROOT);
const law = tree.get(LAW) ?? '';
const ids = [...law.matchAll(/^- \*\*([A-Z]+-\d{2})\*\* /gm)].map(([, id = '']) => id);
const sections = [...law.matchAll(/^## ([A-Z]+): /gm)].map(([, prefix = '']) => prefix);
const CITED = new RegExp(String.raw`\b(?:${sections.join('|')})-\d{2}\b`, 'g');

const citedIn = (text: string): readonly string[] => text.match(CITED) ?? [];

test('clause ids fit their section without gaps', () => {
  const numbered = sections.flatMap((prefix) => {
    const own = ids.filter((id) => id.startsWith(`${prefix}-`));
    return own.map((_, index) => `${prefix}-${String(index + 1).padStart(2, '0')}`);
  });
  assert.deepEqual(ids, numbered);
  assert.equal(law.match(/^- /gm)?.length, ids.length);
});

test('every cited clause exists', () => {
  const known = new Set(ids);
  const unknown = [...tree].flatMap(([file, text]) =>
    citedIn(text)
      .filter((id) => !known.has(id))
      .map((id) => `${file}: ${id}`),
  );
  assert.deepEqual(unknown, [], `${LAW} has no such clause. Cite another one, or add it.`);
});

test('every clause has a test in `npm test`', () => {
  const names = promiseFiles(ROOT).flatMap((file) => testNamesIn(tree.get(file) ?? ''));
  const cited = new Set(names.flatMap(citedIn));
  assert.deepEqual(
    ids.filter((id) => !cited.has(id)),
    [],
    'Write a test of the clause, or begin the name of one that proves it with its id.',
  );
});
