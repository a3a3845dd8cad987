import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { CommandError } from '#cli/command-error.ts';
import { readNewOperator } from '#cli/operator-command.ts';

const PASSWORD = 'correct horse battery';

function read(words: readonly string[], input = PASSWORD) {
  return readNewOperator(words, Readable.from([input]), assert.fail);
}

test('CP-05 the new operator is read from the arguments and standard input', async () => {
  const email = 'a@example.test';
  assert.deepEqual(await read(['--email', email]), { email, name: undefined, password: PASSWORD });
  assert.deepEqual(await read(['--name', ' Ann ', `--email=${email}`]), { email, name: 'Ann', password: PASSWORD });
});

for (const [words, input, says] of [
  [['--email', 'x'], PASSWORD, /--email must be an e-mail address/],
  [[], PASSWORD, /--email must be an e-mail address/],
  [['--email'], PASSWORD, /Unknown arguments/],
  [['--email', 'n@example.test', '--name', ''], PASSWORD, /--name must have 1 to 100 characters/],
  [['--email', 'n@example.test'], 'short', /10 to 256 characters/],
  [['--email', 'n@example.test'], 'x'.repeat(257), /10 to 256 characters/],
  [['--email', 'n@example.test'], '\n', /10 to 256 characters/],
  [['--email', 'n@example.test', '--password', PASSWORD], PASSWORD, /Unknown arguments/],
  [['n@example.test'], PASSWORD, /Unknown arguments/],
] as const) {
  test(`CP-05 \`${words.join(' ').slice(0, 60)}\` with ${input.length} piped characters is refused with the reason`, async () => {
    await assert.rejects(read(words, input), (fault) => fault instanceof CommandError && says.test(fault.message));
  });
}
