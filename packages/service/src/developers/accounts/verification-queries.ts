import type { Queryable } from '#db/pool/pool.ts';
import type { AccountId } from '#kernel/values/ids.ts';

/** Stores the mail by which an account proves its e-mail, and voids any earlier one. */
export async function upsertVerification(
  db: Queryable,
  verification: { readonly accountId: AccountId; readonly digest: Buffer; readonly lifetimeMs: number },
): Promise<void> {
  await db.query(
    `insert into accounts.email_verifications (account_id, digest, expires_at)
     values ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
     on conflict (account_id) do update set digest = excluded.digest, expires_at = excluded.expires_at`,
    [verification.accountId, verification.digest, verification.lifetimeMs],
  );
}

/** Uses up the mail of an account. False when the token is not its newest, or has expired: nothing is used up then. */
export async function takeVerification(tx: Queryable, accountId: AccountId, digest: Buffer): Promise<boolean> {
  const { rowCount } = await tx.query(
    `delete from accounts.email_verifications
     where account_id = $1 and digest = $2 and expires_at > clock_timestamp()`,
    [accountId, digest],
  );
  return rowCount === 1;
}

/** Records that an account's e-mail is proven. False when it was before. */
export async function updateVerified(tx: Queryable, accountId: AccountId): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update accounts.accounts set email_verified_at = clock_timestamp()
     where account_id = $1 and email_verified_at is null`,
    [accountId],
  );
  return rowCount === 1;
}

/** Returns true when the account has proved its e-mail. */
export async function isVerified(db: Queryable, accountId: AccountId): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from accounts.accounts where account_id = $1 and email_verified_at is not null`,
    [accountId],
  );
  return rowCount === 1;
}
