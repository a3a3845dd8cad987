import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lex } from '../../tools/structure/lexer.ts';
import { readModuleStatements } from '../../tools/structure/module-statements.ts';

const kindsOf = (text: string): readonly string[] => lex(text).tokens.map((token) => `${token.kind}:${token.text}`);
const exportsOf = (text: string): readonly string[] => readModuleStatements(lex(text)).exports.map(({ name }) => name);

test('a slash is a division only after a value', () => {
  const texts: readonly (readonly [text: string, isRegex: boolean])[] = [
    ['const a = /x"/g;', true],
    ['return /[/"]/;', true],
    ['if (a) /x"/.test(b);', true],
    ['const a = !/x"/.test(b);', true],
    ['f(/\\/"/)', true],
    ['const a = b / c / d;', false],
    ['const a = (b) / c / d;', false],
    ['const a = b[0] / c / d;', false],
    ['const a = b! / c / d;', false],
    ['const a = b.return / c / d;', false],
  ];
  for (const [text, isRegex] of texts)
    assert.equal(
      lex(text).tokens.some(({ kind }) => kind === 'regex'),
      isRegex,
      text,
    );
});

test('a template consists of texts and tokens', () => {
  const shown = kindsOf('`a ${b + `c ${{ d: 1 }.d}`} \\` $ e`').map((kind) => kind.replace('punctuation:', ''));
  const inner = 'template:c |${|{|word:d|:|number:1|}|.|word:d|}|template-rest:';
  assert.equal(shown.join('|'), `template:a |\${|word:b|+|${inner}|}|template-rest: \\\` $ e`);
});

test('strings and comments hide their content, but not their lines', () => {
  const { tokens, comments } = lex("#!/usr/bin/env node\n'it\\'s // no' /* two\nlines */\n// \"\n`\n` last");
  assert.deepEqual(
    tokens.map(({ text, line }) => [text, line]),
    [
      ["it\\'s // no", 2],
      ['\n', 5],
      ['last', 6],
    ],
  );
  assert.deepEqual(
    comments.map(({ line }) => line),
    [1, 2, 4],
  );
});

test('mismatched brackets are reported with their line', () => {
  assert.throws(() => lex('\n(]'), /line 2: `\]` closes nothing/);
  assert.throws(() => lex('\n{ ('), /line 2: `\(` is never closed/);
  assert.throws(() => lex('`a ${b}'), /line 1: a template is never closed/);
});

test('imports of every form are read', () => {
  const { imports } = readModuleStatements(
    lex("import a, { b as c, type D } from 'x'; import type { E } from './e.ts'; import * as f from 'f'; import 's'"),
  );
  assert.deepEqual(
    imports.map(({ specifier, names, isTypeOnly }) => [specifier, names, isTypeOnly]),
    [
      ['x', ['default', 'b', 'D'], false],
      ['./e.ts', ['E'], true],
      ['f', 'all', false],
      ['s', [], false],
    ],
  );
});

test('exports of every form are read', () => {
  assert.deepEqual(exportsOf('export const a = 1; export async function b() {} export abstract class C {}'), [
    'a',
    'b',
    'C',
  ]);
  assert.deepEqual(exportsOf('export interface D {} export type E = 1; export { f, g as h }; export default 1;'), [
    'D',
    'E',
    'f',
    'h',
    'default',
  ]);
  assert.deepEqual(exportsOf('export const { i, j: k } = l; export type { M as N };'), ['i', 'k', 'N']);
  assert.deepEqual(
    exportsOf('interface A { export: boolean; import: string } const b = { export: 1 }; c.export(d);'),
    [],
  );
});
