import type { OperatorRole } from '@purser/contract/operator-access.ts';
import { emailsOf, type Queryable, withEmail } from '#db/pool/pool.ts';
import type { AccountId, SessionId } from '#kernel/values/ids.ts';

/** Owners manage their own apps. Operators manage the whole service as well (CP-05). */
export type Role = 'owner' | 'operator';

export interface AccountRow {
  readonly account_id: AccountId;
  readonly email: string;
  readonly name: string | null;
  readonly role: Role;
  /** The role among operators. It is null for owners. */
  readonly operator_role: OperatorRole | null;
  /**
   * The hash of the password. It is also null while an operator has the account disabled, so that no password is right.
   */
  readonly password_hash: string | null;
  readonly is_disabled: boolean;
  readonly created_at: Date;
  /** The time when the account proved its e-mail. It is null until then. */
  readonly email_verified_at: Date | null;
  readonly has_second_factor: boolean;
  /** Signs in through the OpenID Connect provider, and has no password. */
  readonly is_sso: boolean;
}

// A disabled account reads as one without a password. So every path that checks a password refuses it, without having to
// know about disabled accounts.
export const ACCOUNT_COLUMNS = `accounts.account_id, email, name, role, operator_role, is_disabled, accounts.created_at, email_verified_at,
  case when is_disabled then null else password_hash end as password_hash, sso_subject is not null as is_sso,
  (exists (select from accounts.authenticators t where t.account_id = accounts.account_id)
    or exists (select from accounts.passkeys p where p.account_id = accounts.account_id)) as has_second_factor`;

/** Finds an account by its normalised e-mail. Undefined when there is none. */
export async function selectAccountByEmail(db: Queryable, email: string): Promise<AccountRow | undefined> {
  const { rows } = await db.query<AccountRow>(`select ${ACCOUNT_COLUMNS} from accounts.accounts where email = $1`, [
    emailsOf(db).seal(email),
  ]);
  return rows[0] && withEmail(db, rows[0]);
}

export async function selectAccountById(db: Queryable, accountId: AccountId): Promise<AccountRow | undefined> {
  const { rows } = await db.query<AccountRow>(
    `select ${ACCOUNT_COLUMNS} from accounts.accounts where account_id = $1`,
    [accountId],
  );
  return rows[0] && withEmail(db, rows[0]);
}

/** Locks an account, so that changes of its second factors come one after the other. */
export async function lockOwnAccount(tx: Queryable, accountId: AccountId): Promise<void> {
  await tx.query(`select from accounts.accounts where account_id = $1 for no key update`, [accountId]);
}

/** Lists accounts, oldest first, from the one after `page.after` when it is given. */
export async function selectAccounts(
  db: Queryable,
  page: { readonly after: string | undefined; readonly most: number },
): Promise<readonly AccountRow[]> {
  const { rows } = await db.query<AccountRow>(
    `select ${ACCOUNT_COLUMNS} from accounts.accounts
     where $1::text is null
       or (created_at, account_id) > (select created_at, account_id from accounts.accounts where account_id = $1)
     order by created_at, account_id limit $2`,
    [page.after ?? null, page.most],
  );
  return rows.map((row) => withEmail(db, row));
}

interface NewSignInAccount {
  readonly accountId: AccountId;
  readonly email: string;
  readonly name: string | undefined;
  readonly role: Role;
  /** The role among operators. If it is left out, an operator is an admin. Owners have none. */
  readonly operatorRole?: OperatorRole | undefined;
  readonly passwordHash: string;
  /**
   * If it is false, the account proves its e-mail by a mailed link. It is true for accounts that somebody else vouches
   * for.
   */
  readonly isVerified: boolean;
}

/** Adds an account. Undefined when the e-mail already has one. */
export async function insertAccount(
  db: Queryable,
  { accountId, email, name, role, operatorRole, passwordHash, isVerified }: NewSignInAccount,
): Promise<AccountRow | undefined> {
  const { rows } = await db.query<AccountRow>(
    `insert into accounts.accounts (account_id, email, name, role, operator_role, password_hash, email_verified_at)
     values ($1, $2, $3, $4, case when $4 = 'operator' then coalesce($5, 'admin') end, $6, case when $7 then clock_timestamp() end)
     on conflict (email) do nothing
     returning ${ACCOUNT_COLUMNS}`,
    [accountId, emailsOf(db).seal(email), name ?? null, role, operatorRole ?? null, passwordHash, isVerified],
  );
  return rows[0] && withEmail(db, rows[0]);
}

/** Sets the password hash. Undefined when there is no such account. The caller ends the sessions in the same transaction. */
export async function updatePassword(
  db: Queryable,
  accountId: AccountId,
  passwordHash: string,
): Promise<AccountRow | undefined> {
  const { rows } = await db.query<AccountRow>(
    `update accounts.accounts set password_hash = $2 where account_id = $1 returning ${ACCOUNT_COLUMNS}`,
    [accountId, passwordHash],
  );
  return rows[0] && withEmail(db, rows[0]);
}

export interface SessionRow {
  readonly session_id: SessionId;
  readonly account_id: AccountId;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly last_used_at: Date;
}

const SESSION_COLUMNS = 'session_id, account_id, created_at, expires_at, last_used_at';

/** A session with its account, and whether its holder has proved who they are within `proofMs`. */
interface FoundSessionRow extends SessionRow {
  readonly is_proved: boolean;
  /** Its use has not been recorded for a minute. */
  readonly is_untouched: boolean;
  readonly account: AccountRow;
}

/**
 * Opens a session, unless the account's password has changed since it was checked: then undefined. `for share` waits for a
 * password change in progress; a change that comes later ends the sessions that were opened before it. So no session that
 * was opened with the old password survives the change.
 */
export async function insertSession(
  db: Queryable,
  session: {
    readonly sessionId: SessionId;
    readonly accountId: AccountId;
    readonly passwordHash: string;
    readonly digest: Buffer;
    readonly lifetimeMs: number;
    /** The lifetime of the session if the account is an operator's. */
    readonly operatorLifetimeMs: number;
  },
): Promise<SessionRow | undefined> {
  const { rows } = await db.query<SessionRow>(
    `insert into accounts.sessions (session_id, account_id, digest, expires_at)
     select $1, account_id, $4,
       clock_timestamp() + case role when 'operator' then $6::bigint else $5::bigint end * interval '1 millisecond'
     from accounts.accounts where account_id = $2 and password_hash = $3 for share
     returning ${SESSION_COLUMNS}`,
    [
      session.sessionId,
      session.accountId,
      session.passwordHash,
      session.digest,
      session.lifetimeMs,
      session.operatorLifetimeMs,
    ],
  );
  return rows[0];
}

/** Ends all sessions of an account except the `kept` newest. */
export async function deleteOldestSessions(db: Queryable, accountId: AccountId, kept: number): Promise<void> {
  await db.query(
    `delete from accounts.sessions where session_id in
       (select session_id from accounts.sessions where account_id = $1 order by created_at desc, session_id offset $2)`,
    [accountId, kept],
  );
}

/**
 * Finds a session by the digest of its token, with its account. Undefined when it has expired, when the account is disabled, or
 * when an operator has not used it for `idleMs`.
 */
export async function selectSession(
  db: Queryable,
  digest: Buffer,
  { proofMs, idleMs }: { readonly proofMs: number; readonly idleMs: number },
): Promise<FoundSessionRow | undefined> {
  const { rows } = await db.query<Omit<FoundSessionRow, 'account'> & AccountRow & { readonly opened_at: Date }>(
    `select ${ACCOUNT_COLUMNS}, s.session_id, s.created_at as opened_at, s.expires_at, s.last_used_at,
       s.proved_at > clock_timestamp() - $2 * interval '1 millisecond' as is_proved,
       s.last_used_at < clock_timestamp() - interval '1 minute' as is_untouched
     from accounts.sessions s join accounts.accounts on accounts.account_id = s.account_id
     where s.digest = $1 and s.expires_at > clock_timestamp() and not is_disabled
       and (role <> 'operator' or s.last_used_at > clock_timestamp() - $3 * interval '1 millisecond')`,
    [digest, proofMs, idleMs],
  );
  const row = rows[0] && withEmail(db, rows[0]);
  return row && { ...row, created_at: row.opened_at, account: row };
}

/** Lists the account's sessions that have not expired, newest first. */
export async function selectSessions(db: Queryable, accountId: AccountId): Promise<readonly SessionRow[]> {
  const { rows } = await db.query<SessionRow>(
    `select ${SESSION_COLUMNS} from accounts.sessions
     where account_id = $1 and expires_at > clock_timestamp()
     order by created_at desc, session_id`,
    [accountId],
  );
  return rows;
}

/** Records the use of a session, at most once a minute, also if two requests find it untouched. */
export async function touchSession(db: Queryable, sessionId: SessionId): Promise<void> {
  await db.query(
    `update accounts.sessions set last_used_at = clock_timestamp()
     where session_id = $1 and last_used_at < clock_timestamp() - interval '1 minute'`,
    [sessionId],
  );
}

/** Ends a session. False when the account has no such session. */
export async function deleteSession(db: Queryable, accountId: AccountId, sessionId: SessionId): Promise<boolean> {
  const { rowCount } = await db.query(`delete from accounts.sessions where account_id = $1 and session_id = $2`, [
    accountId,
    sessionId,
  ]);
  return rowCount === 1;
}

/** Ends all sessions of an account except `kept`; all of them when `kept` is undefined. */
export async function deleteOtherSessions(
  db: Queryable,
  accountId: AccountId,
  kept: SessionId | undefined,
): Promise<void> {
  await db.query(`delete from accounts.sessions where account_id = $1 and session_id is distinct from $2`, [
    accountId,
    kept ?? null,
  ]);
}

/** Deletes expired sessions and resets, at most `rowsMax` of each, so that one pass never holds many locks. */
export async function deleteExpired(db: Queryable, rowsMax: number): Promise<void> {
  await db.query(
    `with sessions as (
       delete from accounts.sessions where session_id in
         (select session_id from accounts.sessions where expires_at < clock_timestamp() limit $1)
     )
     delete from accounts.password_resets where account_id in
       (select account_id from accounts.password_resets where expires_at < clock_timestamp() limit $1)`,
    [rowsMax],
  );
}

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
