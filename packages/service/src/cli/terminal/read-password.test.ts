import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { CommandError } from '#cli/terminal/command-error.ts';
import { type PasswordSource, readPassword } from '#cli/terminal/read-password.ts';

/** A fake terminal that records what it shows and whether raw mode is switched off again. */
function terminal(...parts: readonly string[]) {
  const modes: boolean[] = [];
  const shown: string[] = [];
  const input = new PassThrough();
  const source = Object.assign(input, { isTTY: true, setRawMode: (isRaw: boolean) => modes.push(isRaw) });
  for (const part of parts) input.write(part);
  return { read: () => readPassword(source, (text) => shown.push(text)), modes, shown };
}

function piped(text: string): PasswordSource {
  const input = new PassThrough();
  input.end(text);
  return input;
}

test('OP-01 a password typed twice is accepted, never shown', async () => {
  const { read, modes, shown } = terminal('s3cret', ' wörds\r', 's3cret wörds\r');
  assert.equal(await read(), 's3cret wörds');
  assert.deepEqual(modes, [true, false]);
  assert.equal(shown.join(''), 'Password: \nPassword again: \n');
});

test('OP-01 both lines may be pasted at once, and backspace works', async () => {
  assert.equal(await terminal('abx\u007fc\rab€\bc\r').read(), 'abc');
});

test('OP-01 two different passwords are refused', async () => {
  await assert.rejects(terminal('one\r', 'two\r').read(), CommandError);
});

for (const [name, key] of [
  ['Ctrl-C', '\u0003'],
  ['Ctrl-D', '\u0004'],
] as const) {
  test(`OP-01 ${name} gives up and leaves the terminal as it was`, async () => {
    const { read, modes } = terminal('one', key);
    await assert.rejects(read(), /Cancelled/);
    assert.deepEqual(modes, [true, false]);
  });
}

for (const [text, password] of [
  ['one line', 'one line'],
  ['one line\n', 'one line'],
  ['one line\r\nand another\n', 'one line'],
  ['', ''],
] as const) {
  test(`OP-01 with ${JSON.stringify(text)} piped in, the first line is the password`, async () => {
    assert.equal(await readPassword(piped(text), assert.fail), password);
  });
}
