import { email, name, newPassword } from '@purser/contract/control.ts';
import { enrolmentKeys, makeEnrolmentCode } from '#developers/factors/enrolment.ts';
import { CommandError, UsageError } from '#cli/terminal/command-error.ts';
import type { DatabaseCommand } from '#cli/ground/ground.ts';
import { type PasswordSource, readPassword } from '#cli/terminal/read-password.ts';
import type { Pool } from '#db/pool/pool.ts';
import { proofsOf } from '#kernel/crypto/keys.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import { createAccountDesk } from '#operator/people/accounts.ts';

/** A checked request for a new operator account. */
interface NewOperator {
  readonly email: string;
  readonly name: string | undefined;
  readonly password: string;
}

/** Checks the options of a new operator, and reads the password from `source`. Throws `CommandError`. */
export async function readNewOperator(
  options: { readonly email: string; readonly name?: string | undefined },
  source: PasswordSource,
  write: (text: string) => unknown,
): Promise<NewOperator> {
  const address = readEmail(options.email);
  const called = name.optional().safeParse(options.name);
  if (!called.success) throw new UsageError('--name must have 1 to 100 characters.');
  const password = newPassword.safeParse(await readPassword(source, write));
  if (!password.success) throw new CommandError('The password must have 10 to 256 characters.');
  return { email: address, name: called.data, password: password.data };
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
    `${account.email} is now an operator and can sign in.\nIn production they must first add a second factor, at /account/second-factor. That takes a code, which the page mails or you print with \`npm run purser -- operator enrol --email <address>\`.`,
  );
  return 0;
}

/** Reads the e-mail of an operator. Throws `UsageError`. */
function readEmail(given: string): string {
  const address = email.safeParse(given);
  if (!address.success) throw new UsageError('--email must be an e-mail address.');
  return address.data;
}

/**
 * Prints the code with which an operator adds their first second factor, for services without mail. Exit status 1 when there is no
 * such operator, or when they have a factor. Throws `UsageError` if this is no e-mail.
 */
export function enrolling(given: string): DatabaseCommand {
  const address = readEmail(given);
  return async (owner, { config }) => {
    const code = await makeEnrolmentCode(owner, enrolmentKeys(proofsOf(config)), address);
    if (code === undefined) {
      console.error(`${address} is no operator without a second factor. Nothing was changed.`);
      return 1;
    }
    console.error(`This is the code for ${address}. It works once, within 24 hours. Earlier codes no longer work.`);
    console.log(code);
    return 0;
  };
}
