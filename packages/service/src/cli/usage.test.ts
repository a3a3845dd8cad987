import assert from 'node:assert/strict';
import { test } from 'node:test';
import { helpFor, USAGE, usageOf } from '#cli/usage.ts';

const commandsIn = (text = '') => [...text.matchAll(/^ {2}(\S+(?: [a-z]+\b)?)/gm)].map(([, name = '']) => name);

test('OP-01 help says what one command takes, what a group of commands takes, or all', () => {
  assert.deepEqual(commandsIn(helpFor(['backup', 'restore', '--help'])), ['backup restore']);
  assert.deepEqual(commandsIn(helpFor(['operator', '-h'])), ['operator create', 'operator enrol']);
  assert.deepEqual(commandsIn(helpFor(['help', 'audit'])), ['audit check']);
  assert.deepEqual(commandsIn(helpFor(['bill', 'file.json', '--help'])), ['bill']);
  for (const words of [[], ['--help'], ['help'], ['frobnicate', '--help']]) assert.equal(helpFor(words), USAGE);
});

test('OP-01 words that do not ask for help get none, and no part of a word names a command', () => {
  assert.equal(helpFor(['ledger', 'check', '--incremental']), undefined);
  assert.equal(helpFor(['catalogue', 'import', 'help']), undefined);
  for (const word of ['led', '', '  ', '--version-of']) assert.equal(usageOf(word), undefined, word);
});
