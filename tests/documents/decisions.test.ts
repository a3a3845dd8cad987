import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../../tools/toolchain.ts';

/** Holds the records of decisions short, and every mention of one right. */

const RECORDS_MAX = 45;
const WORDS_MAX = 500;

const folder = 'docs/decisions';
const records = globSync('[0-9]*.md', { cwd: path.join(ROOT, folder) }).toSorted();
const numbers = new Set(records.map((record) => Number(record.slice(0, 4))));

/** Files in which people mention a record. */
const FILES = '{docs,packages,tests,tools,benchmarks,deploy,examples,scripts,.}/{**/,}*.{md,ts,sql,cjs,js,py,yml,yaml}';
const EXCLUDED = ['**/node_modules/**', '.*/**', 'tests/fixtures/**'];

/** "decision 4", "decisions 4, 29 and 41", also over the end of a line in a comment. */
const NUMBERED = /\bdecisions?\s+(?:\*\s+|--\s+)?\d+(?:(?:,|\s+and)\s+\[?\d+)*/gi;
const NAMED = /\bdecisions\/(\d{4}(?:-[a-z0-9-]+\.md)?)/g;

interface Mention {
  readonly file: string;
  readonly record: string;
}

function mentionsIn(file: string, text: string): readonly Mention[] {
  const prose = text.replaceAll(/\]\([^)]*\)/g, '');
  const byNumber = [...prose.matchAll(NUMBERED)].flatMap(([all]) => all.match(/\d+/g) ?? []);
  const byName = [...text.matchAll(NAMED)].map(([, name = '']) => name);
  return [...byNumber, ...byName].map((record) => ({ file, record }));
}

function exists({ record }: Mention): boolean {
  return record.endsWith('.md') ? records.includes(record) : numbers.has(Number(record));
}

const mentions = [...new Set(globSync(FILES, { cwd: ROOT, exclude: EXCLUDED }).map((file) => path.normalize(file)))]
  .filter((file) => file !== 'tests/documents/decisions.test.ts')
  .flatMap((file) => mentionsIn(file, readFileSync(path.join(ROOT, file), 'utf8')));

test('every decision mentioned has a record', () => {
  assert.ok(mentions.length > 100, String(mentions.length));
  assert.deepEqual(
    mentions.filter((mention) => !exists(mention)),
    [],
  );
});

test(`there are at most ${RECORDS_MAX} decision records, numbered uniquely`, () => {
  assert.ok(records.length <= RECORDS_MAX, String(records.length));
  assert.equal(numbers.size, records.length);
});

test('the list of decisions has each record once', () => {
  const list = textOf('README.md');
  const rows = [...list.matchAll(/^- \[(\d+)\]\(([^)]+)\): (.+)$/gm)];
  assert.equal(rows.length, records.length);
  assert.deepEqual(
    Object.fromEntries(rows.map(([, number, file, title]) => [file, `# ${number}. ${title}`])),
    Object.fromEntries(records.map((record) => [record, titleOf(record)])),
  );
});

test(`no decision record has more than ${WORDS_MAX} words`, () => {
  const long = records.map((record) => ({ record, words: wordsOf(record) })).filter(({ words }) => words > WORDS_MAX);
  assert.deepEqual(long, []);
});

function textOf(record: string): string {
  return readFileSync(path.join(ROOT, folder, record), 'utf8');
}

function titleOf(record: string): string {
  return textOf(record).split('\n')[0] ?? '';
}

function wordsOf(record: string): number {
  return textOf(record).trim().split(/\s+/).length;
}
