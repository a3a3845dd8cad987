import type { Queryable } from '#db/pool/pool.ts';
import type { Email } from '#people/email.ts';
import { deleteCodesOf, deletePasskeysOf, lockIdentity, selectIdentityByEmail, updateEmail } from '#people/queries.ts';
import { deleteSessions } from '#people/session-queries.ts';
import { insertEmailChange } from '#people/privacy-queries.ts';
import type { IdentityId } from '#kernel/values/ids.ts';

/**
 * Gives an identity another e-mail, for a person who has lost their mailbox (WA-15). Ends every session, passkey and code of the old
 * holder: they sign in with a code to the new mailbox. Returns the e-mail before. `taken`: the new e-mail already
 * has an identity, which owns its own wallets.
 */
export async function changeEmail(
  tx: Queryable,
  identityId: IdentityId,
  email: Email,
): Promise<{ readonly before: Email } | 'unknown' | 'same' | 'taken'> {
  const identity = await lockIdentity(tx, identityId);
  if (identity === undefined) return 'unknown';
  const before = identity.email;
  if (before === email) return 'same';
  if ((await selectIdentityByEmail(tx, email)) !== undefined) return 'taken';
  await updateEmail(tx, identityId, email);
  await insertEmailChange(tx, identityId, { before, after: email });
  await deleteSessions(tx, identityId, undefined);
  await deletePasskeysOf(tx, identityId);
  await deleteCodesOf(tx, before);
  await deleteCodesOf(tx, email);
  return { before };
}
