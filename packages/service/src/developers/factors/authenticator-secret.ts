import { lockAuthenticatorSecrets, updateAuthenticatorSecrets } from '#developers/factors/queries.ts';
import type { Queryable } from '#db/pool/pool.ts';
import { seal } from '#kernel/crypto/crypto.ts';
import type { AccountId } from '#kernel/values/ids.ts';
import { unsealAny } from '#kernel/crypto/keys.ts';

/** Seals the secret of an authenticator app for its account: it is worth nothing in the row of another. */
export function sealAuthenticator(key: Buffer, accountId: AccountId, secret: Buffer): Buffer {
  return seal(key, contextOf(accountId), secret.toString('base64'));
}

/**
 * Opens a sealed secret. Returns undefined if it was sealed under another key, because the former `PURSER_SECRET` was
 * lost.
 */
export function openAuthenticator(key: Buffer, accountId: AccountId, sealed: Buffer): Buffer | undefined {
  const text = unsealAny([key], contextOf(accountId), sealed);
  return text === undefined ? undefined : Buffer.from(text, 'base64');
}

/** Seals the secret of every authenticator app under another key. One that the key before does not open stays as it is. */
export async function resealAuthenticators(tx: Queryable, before: Buffer, after: Buffer): Promise<void> {
  const rows = (await lockAuthenticatorSecrets(tx)).flatMap(({ account_id: accountId, secret: sealed }) => {
    const secret = openAuthenticator(before, accountId, sealed);
    return secret === undefined ? [] : [{ account_id: accountId, secret: sealAuthenticator(after, accountId, secret) }];
  });
  await updateAuthenticatorSecrets(tx, rows);
}

function contextOf(accountId: AccountId): Buffer {
  return Buffer.from(`authenticator ${accountId}`);
}
