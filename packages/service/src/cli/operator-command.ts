import { parseArgs } from 'node:util';
import { email, name, newPassword } from '@purser/contract/control.ts';
import { makeEnrolmentCode } from '#accounts/enrolment.ts';
import { CommandError, UsageError } from '#cli/command-error.ts';
import { type PasswordSource, readPassword } from '#cli/read-password.ts';
import type { Pool } from '#db/pool.ts';
import type { ProofKeys } from '#kernel/keys.ts';
import { Refusal } from '#kernel/refusal.ts';
import { createAccountDesk } from '#operator/accounts.ts';

/** A checked request for a new operator account. */
interface NewOperator {
  readonly email: string;
  readonly name: string | undefined;
  readonly password: string;
}

/** Shown whenever the arguments do not make sense. */
const USAGE = 'npm run purser -- operator create --email <address> [--name <name>]';
const ENROL_USAGE = 'npm run purser -- operator enrol --email <address>';

/** Reads the new operator from the command's words, and the password from `source`. Throws `CommandError`. */
export async function readNewOperator(
  words: readonly string[],
  source: PasswordSource,
  write: (text: string) => unknown,
): Promise<NewOperator> {
  const options = optionsOf(words, USAGE);
  const address = email.safeParse(options.email);
  if (!address.success) throw new UsageError(`--email must be an e-mail address: ${USAGE}`);
  const called = name.optional().safeParse(options.name);
  if (!called.success) throw new UsageError('--name must have 1 to 100 characters.');
  const password = newPassword.safeParse(await readPassword(source, write));
  if (!password.success) throw new CommandError('The password must have 10 to 256 characters.');
  return { email: address.data, name: called.data, password: password.data };
}

/** Creates an operator account, in force at once on every running process. Exit status 1 when the e-mail has an account. */
export async function createOperator(owner: Pool, operator: NewOperator): Promise<number> {
  const desk = createAccountDesk(owner);
  const account = await desk.create(
    { actor: 'command-line', reason: undefined, limits: undefined },
    { ...operator, role: 'operator' },
  );
  if (account instanceof Refusal) {
    console.error(`${account.message} Nothing was changed.`);
    return 1;
  }
  console.log(
    `${account.email} is now an operator and can sign in.\nIn production they add a second factor first, at /account/second-factor. That takes a code: the page mails it, or you print it with \`${ENROL_USAGE}\`.`,
  );
  return 0;
}

/** Reads the e-mail of the operator who gets a code. Throws `UsageError`. */
export function readEnrolment(words: readonly string[]): string {
  const { email: given, name: others } = optionsOf(words, ENROL_USAGE);
  const address = email.safeParse(given);
  if (!address.success || others !== undefined)
    throw new UsageError(`--email must be an e-mail address: ${ENROL_USAGE}`);
  return address.data;
}

/**
 * Prints the code with which an operator adds their first second factor, for services without mail. Exit status 1 when there is no
 * such operator, or when they have a factor.
 */
export async function enrolOperator(owner: Pool, keys: ProofKeys, address: string): Promise<number> {
  const code = await makeEnrolmentCode(owner, keys, address);
  if (code === undefined) {
    console.error(`${address} is no operator without a second factor. Nothing was changed.`);
    return 1;
  }
  console.error(`The code for ${address}. It works once, within 24 hours. Any code before it works no more.`);
  console.log(code);
  return 0;
}

/** The parser's own message is not shown: it would repeat a password that was given as an argument by mistake. */
function optionsOf(words: readonly string[], usage: string): { readonly email?: string; readonly name?: string } {
  try {
    const { values } = parseArgs({
      args: [...words],
      options: { email: { type: 'string' }, name: { type: 'string' } },
    });
    return values;
  } catch {
    throw new UsageError(`Unknown arguments. Usage: ${usage}`);
  }
}
