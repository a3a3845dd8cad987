import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CAPABILITIES } from '../../packages/service/src/providers/capabilities/capabilities.ts';
import type { SentParameter } from '../../packages/service/src/providers/capabilities/rules.ts';
import { rowsUnder } from './documents.ts';
import { PARAMETER_TABLE } from '../support/parameter-table.ts';

/** The table of what each kind of provider does with each parameter, in the document and in the code. */

const DOCUMENT = 'docs/PARAMETERS.md';
const KINDS = Object.keys(CAPABILITIES) as (keyof typeof CAPABILITIES)[];
const SENT = Object.keys(CAPABILITIES.anthropic) as SentParameter[];

test('MO-09 each kind has a rule for every forwarded parameter', () => {
  const forwarded = ['messages', ...PARAMETER_TABLE.filter(({ kind }) => kind === 'forwarded').map(({ name }) => name)];
  assert.deepEqual(
    forwarded.filter((name) => !(SENT as string[]).includes(name)),
    [],
  );
});

test('MO-09 the document describes parameters in the code’s words', () => {
  const rows = rowsUnder(DOCUMENT, '## What providers of other kinds take');
  const expected = SENT.toSorted().map((name) => [
    `\`${name}\``,
    ...KINDS.map((kind) => {
      const { does, words } = CAPABILITIES[kind][name];
      return words === undefined ? does : `${does}: ${words}`;
    }),
  ]);
  const table = expected.map((row) => `| ${row.join(' | ')} |`).join('\n');
  assert.deepEqual(rows, expected, `The table must be:\n${table}`);
});
