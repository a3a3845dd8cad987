import { insertAccount, type Role, selectAccountByEmail, updatePassword } from '#developers/accounts/queries.ts';
import { normalisedEmail } from '#developers/accounts/email.ts';
import { hashPassword } from '#developers/sign-in/password.ts';
import type { Queryable } from '#db/pool/pool.ts';
import { newAccountId } from '#kernel/values/ids.ts';

/**
 * Makes sure that an e-mail has an account that can sign in. An account that can sign in already, or that is disabled, stays
 * as it is, with its password and role: a restart must not undo what a person changed. True when something was created.
 */
export async function ensureSignIn(
  db: Queryable,
  account: { readonly email: string; readonly password: string; readonly name: string; readonly role: Role },
): Promise<boolean> {
  const email = normalisedEmail(account.email);
  const known = await selectAccountByEmail(db, email);
  if (known !== undefined && (known.password_hash !== null || known.is_sso || known.is_disabled)) return false;
  const passwordHash = await hashPassword(account.password);
  if (known !== undefined) await updatePassword(db, known.account_id, passwordHash);
  else await insertAccount(db, { ...account, accountId: newAccountId(), email, passwordHash, isVerified: true });
  return true;
}
