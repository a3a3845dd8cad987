import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { UsageError } from '#cli/terminal/command-error.ts';
import { commandNames, runCommand } from '#cli/run-command.ts';
import { VERSION } from '#db/schema/functions.ts';
import { namedVersion, readBuild } from '#kernel/build.ts';

/** Nothing may be done on this ground. */
const fails = () => assert.fail('a refused command did something');
const NOTHING = { settings: fails, onDatabase: fails, withAddresses: fails };

async function printed(t: TestContext, ...words: readonly string[]): Promise<string> {
  const { mock } = t.mock.method(process.stdout, 'write', () => true);
  try {
    assert.equal(await runCommand(words, NOTHING), 0, words.join(' '));
    return mock.calls.map(({ arguments: [text] }) => String(text)).join('');
  } finally {
    mock.restore();
  }
}

/** Returns what is said about words that are no command. */
async function refusal(...words: readonly string[]): Promise<string> {
  const fault = await runCommand(words, NOTHING).then(fails, (thrown: unknown) => thrown);
  assert.ok(fault instanceof UsageError, String(fault));
  return fault.message;
}

test('OP-01 help lists all commands with what they do, before settings are read', async (t) => {
  const all = await printed(t, '--help');
  for (const name of commandNames()) assert.match(all, new RegExp(`^  ${name}( .*)? {2,}[A-Z]`, 'm'), name);
  assert.equal(commandNames().length, 39);
  const [, several = ''] = all.split('\nOnly for several databases:\n');
  const below = commandNames().filter((name) => new RegExp(`^  ${name} `, 'm').test(several));
  assert.deepEqual(
    below,
    commandNames().filter((name) => name.startsWith('cells ')),
    'all of these, and no others',
  );
  for (const words of [[], ['help'], ['-h'], ['frobnicate', '--help']]) assert.equal(await printed(t, ...words), all);
});

test('OP-01 help says what one command or a group of commands takes', async (t) => {
  const restore = await printed(t, 'backup', 'restore', '--help');
  assert.match(restore, /^Usage: npm run purser -- backup restore \[options\] \[folder\]\n/);
  assert.match(restore, /--at <time> .*such as 2026-11-23T14:00:00Z/);
  for (const words of ['help backup restore', 'backup restore folder -h', 'backup restore --frob --help']) {
    assert.equal(await printed(t, ...words.split(' ')), restore, words);
  }
  const operator = await printed(t, 'operator', '-h');
  assert.match(operator, /\n {2}operator create +Create an operator account\n {2}operator enrol +Print /);
  assert.match(await printed(t, 'catalogue', 'prices', '--help'), /--without-check <model>/);
  assert.equal(await printed(t, '-v'), `${namedVersion(VERSION, readBuild())}\n`);
});

test('OP-01 words that are no command are refused with a remedy', async () => {
  for (const [words, what, near] of [
    ['frobnicate', "Unknown command 'frobnicate'.", '`npm run purser -- --help` lists all commands.'],
    ['led check', "Unknown command 'led'. (Did you mean seed?)", '--help` lists all'],
    ['servee', "Unknown command 'servee'. (Did you mean serve?)", '--help` lists all'],
    ['backup', 'A word is missing after the command.', 'backup [options] [command]'],
    ['backup make', "Unknown command 'make'.", 'backup [options] [command]'],
    ['migrate now', 'There are too many words after the command.', '-- migrate [options]'],
    ['catalogue import', "Missing required argument 'file'.", '-- catalogue import [options] <file>'],
    ['catalogue import --force', "Unknown option '--force'.", '<file>'],
    ['operator create', "Required option '--email <address>' not specified.", '--name <name>'],
    ['operator create --email', "Option '--email <address>' argument missing.", '--name <name>'],
    ['audit check more', 'There are too many words after the command.', '--head <line:hash>'],
    ['secret replace --lst', "Unknown option '--lst'. (Did you mean --lost?)", 'secret replace [options]'],
  ] as const) {
    const message = await refusal(...words.split(' '));
    assert.ok(message.startsWith(`${what}\n\n`), message);
    assert.ok(message.includes(near), message);
  }
});

test('CP-05 a password that was given as a word is not repeated', async () => {
  const operator = ['operator', 'create', '--email', 'n@example.test'];
  for (const words of [
    ['hidden-word'],
    ['--password', 'hidden-word'],
    ['--password=hidden-word'],
    ['--nmae=hidden-word'],
    ['-phidden-word'],
  ]) {
    assert.doesNotMatch(await refusal(...operator, ...words), /hidden-word/);
  }
});
