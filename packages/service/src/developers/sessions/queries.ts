import { ACCOUNT_COLUMNS, type AccountRow } from '#developers/accounts/queries.ts';
import { type Queryable, withEmail } from '#db/pool/pool.ts';
import type { AccountId, SessionId } from '#kernel/values/ids.ts';

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

/**
 * Opens a session of somebody whom the provider signed in. It counts as a fresh proof from the moment at which they showed the
 * provider who they are, or not at all if it did not say when. Undefined when the account has been disabled.
 */
export async function insertSsoSession(
  db: Queryable,
  session: {
    readonly sessionId: SessionId;
    readonly accountId: AccountId;
    readonly digest: Buffer;
    readonly operatorLifetimeMs: number;
    readonly authTimeMs: number | undefined;
  },
): Promise<SessionRow | undefined> {
  const { rows } = await db.query<SessionRow>(
    `insert into accounts.sessions (session_id, account_id, digest, expires_at, proved_at)
     select $1, account_id, $3, clock_timestamp() + $4 * interval '1 millisecond',
       least(clock_timestamp(), to_timestamp($5::double precision / 1000))
     from accounts.accounts where account_id = $2 and sso_subject is not null and not is_disabled for share
     returning ${SESSION_COLUMNS}`,
    [session.sessionId, session.accountId, session.digest, session.operatorLifetimeMs, session.authTimeMs ?? 0],
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
