import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { CommandError } from '#cli/terminal/command-error.ts';
import { readNewOperator } from '#cli/service/operator-command.ts';

const PASSWORD = 'correct horse battery';

function read(email: string, name: string | undefined, input = PASSWORD) {
  return readNewOperator({ email, name }, Readable.from([input]), assert.fail);
}

test('CP-05 the new operator is read from the options and standard input', async () => {
  const email = 'a@example.test';
  assert.deepEqual(await read(email, undefined), { email, name: undefined, password: PASSWORD });
  assert.deepEqual(await read(email, ' Ann '), { email, name: 'Ann', password: PASSWORD });
});

for (const [email, name, input, says] of [
  ['x', undefined, PASSWORD, /--email must be an e-mail address/],
  ['n@example.test', '', PASSWORD, /--name must have 1 to 100 characters/],
  ['n@example.test', undefined, 'short', /10 to 256 characters/],
  ['n@example.test', undefined, 'x'.repeat(257), /10 to 256 characters/],
  ['n@example.test', undefined, '\n', /10 to 256 characters/],
] as const) {
  test(`CP-05 an operator \`${email}\` with ${input.length} piped characters is refused with the reason`, async () => {
    await assert.rejects(
      read(email, name, input),
      (fault) => fault instanceof CommandError && says.test(fault.message),
    );
  });
}
