import type { Queryable } from '#db/pool/pool.ts';
import type { AccountId } from '#kernel/values/ids.ts';

/** Stores a password reset and voids any earlier one: an account has at most one. */
export async function upsertReset(
  db: Queryable,
  reset: { readonly accountId: AccountId; readonly digest: Buffer; readonly lifetimeMs: number },
): Promise<void> {
  await db.query(
    `insert into accounts.password_resets (account_id, digest, expires_at)
     values ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
     on conflict (account_id) do update set digest = excluded.digest, expires_at = excluded.expires_at`,
    [reset.accountId, reset.digest, reset.lifetimeMs],
  );
}

/** The account that a reset belongs to. Undefined when the reset is unknown, used or expired. */
export async function selectResetAccount(db: Queryable, digest: Buffer): Promise<AccountId | undefined> {
  const { rows } = await db.query<{ account_id: AccountId }>(
    `select account_id from accounts.password_resets where digest = $1 and expires_at > clock_timestamp()`,
    [digest],
  );
  return rows[0]?.account_id;
}

/**
 * Uses up a reset and returns its account. Undefined when it is unknown, used or expired. The delete is what makes it work
 * only once: of two requests with the same token, one gets the row.
 */
export async function takeReset(db: Queryable, digest: Buffer): Promise<AccountId | undefined> {
  const { rows } = await db.query<{ account_id: AccountId; is_current: boolean }>(
    `delete from accounts.password_resets r using accounts.accounts a
     where r.digest = $1 and a.account_id = r.account_id and not a.is_disabled
     returning r.account_id, r.expires_at > clock_timestamp() as is_current`,
    [digest],
  );
  const row = rows[0];
  return row?.is_current === true ? row.account_id : undefined;
}

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
