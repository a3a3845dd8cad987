import type { Queryable } from '#db/pool/pool.ts';
import type { AccountId } from '#kernel/values/ids.ts';

/**
 * Stores a sign-in that waits for the second factor, unless the password has changed since it was checked: then false. The lock
 * waits for a change in progress, which ends what was stored before it.
 */
export async function insertPendingSignIn(
  db: Queryable,
  pending: {
    readonly digest: Buffer;
    readonly accountId: AccountId;
    readonly passwordHash: string;
    readonly guesses: number;
    readonly lifetimeMs: number;
  },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into accounts.pending_sign_ins (digest, account_id, guesses_left, expires_at)
     select $1, account_id, $4, clock_timestamp() + $5 * interval '1 millisecond'
     from accounts.accounts where account_id = $2 and password_hash = $3 for share`,
    [pending.digest, pending.accountId, pending.passwordHash, pending.guesses, pending.lifetimeMs],
  );
  return rowCount === 1;
}

interface PendingRow {
  readonly account_id: AccountId;
  readonly guesses_left: number;
}

/** Finds a pending sign-in. Undefined when it is unknown, expired, used, or out of guesses. */
export async function selectPendingSignIn(db: Queryable, digest: Buffer): Promise<PendingRow | undefined> {
  const { rows } = await db.query<PendingRow>(
    `select account_id, guesses_left from accounts.pending_sign_ins
     where digest = $1 and guesses_left > 0 and expires_at > clock_timestamp()`,
    [digest],
  );
  return rows[0];
}

/** Takes one guess, before it is judged: many guesses at once all count. Undefined when none is left. */
export async function takePendingGuess(db: Queryable, digest: Buffer): Promise<PendingRow | undefined> {
  const { rows } = await db.query<PendingRow>(
    `update accounts.pending_sign_ins set guesses_left = guesses_left - 1
     where digest = $1 and guesses_left > 0 and expires_at > clock_timestamp()
     returning account_id, guesses_left`,
    [digest],
  );
  return rows[0];
}

/** Ends a pending sign-in. True only for the one request that deleted it, so that it becomes one session. */
export async function deletePendingSignIn(tx: Queryable, digest: Buffer): Promise<boolean> {
  const { rowCount } = await tx.query(`delete from accounts.pending_sign_ins where digest = $1`, [digest]);
  return rowCount === 1;
}

/** Ends all pending sign-ins of an account: its password, or what the second step asks for, has changed. */
export async function deletePendingSignIns(tx: Queryable, accountId: AccountId): Promise<void> {
  await tx.query(`delete from accounts.pending_sign_ins where account_id = $1`, [accountId]);
}

/** Records that the holder of a session has just proved who they are. */
export async function updateProvedAt(tx: Queryable, sessionId: string): Promise<void> {
  await tx.query(`update accounts.sessions set proved_at = clock_timestamp() where session_id = $1`, [sessionId]);
}

/** Deletes what has expired, at most `rowsMax` of each. Challenges stay an hour longer: a process's clock may be behind. */
export async function deleteExpiredSteps(db: Queryable, rowsMax: number): Promise<void> {
  await db.query(
    `with waiting as (
       delete from accounts.pending_sign_ins where digest in
         (select digest from accounts.pending_sign_ins where expires_at < clock_timestamp() limit $1)
     ), mails as (
       delete from accounts.email_verifications where account_id in
         (select account_id from accounts.email_verifications where expires_at < clock_timestamp() limit $1)
     )
     delete from accounts.answered_challenges where digest in
       (select digest from accounts.answered_challenges where expires_at < clock_timestamp() - interval '1 hour' limit $1)`,
    [rowsMax],
  );
}
