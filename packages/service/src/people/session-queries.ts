import { emailsOf, type Queryable, withEmail } from '#db/pool/pool.ts';
import type { Email } from '#people/email.ts';
import type { IdentityRow } from '#people/queries.ts';
import type { IdentityId, SessionId } from '#kernel/values/ids.ts';

/** A session with the identity that is signed in. */
interface SessionRow extends IdentityRow {
  readonly session_id: SessionId;
  readonly created_at: Date;
  readonly last_used_at: Date;
}

interface NewSession {
  readonly sessionId: SessionId;
  readonly identityId: IdentityId;
  readonly digest: Buffer;
  readonly lifetimeMs: number;
}

/** Opens a session. The database's clock decides when it expires. */
export async function insertSession(db: Queryable, session: NewSession): Promise<void> {
  await db.query(
    `insert into identities.sessions (session_id, identity_id, digest, expires_at)
     values ($1, $2, $3, clock_timestamp() + $4 * interval '1 ms')`,
    [session.sessionId, session.identityId, session.digest, session.lifetimeMs],
  );
}

/**
 * Opens a session that began elsewhere, and is as old here. If there is one with this id, it gets the new digest. False if that one is
 * of another identity.
 */
export async function upsertSession(
  db: Queryable,
  { createdAtMs, ...session }: NewSession & { readonly createdAtMs: number },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `with began as (select least(to_timestamp($5::float8 / 1000), clock_timestamp()) as at)
     insert into identities.sessions as s (session_id, identity_id, digest, created_at, expires_at)
     select $1, $2, $3, at, at + $4 * interval '1 ms' from began
     on conflict (session_id) do update set digest = excluded.digest where s.identity_id = excluded.identity_id`,
    [session.sessionId, session.identityId, session.digest, session.lifetimeMs, createdAtMs],
  );
  return rowCount === 1;
}

/** Finds a session that has not expired and records its use, to the minute. One round trip for both. */
export async function selectSession(db: Queryable, digest: Buffer): Promise<SessionRow | undefined> {
  const { rows } = await db.query<SessionRow>(
    `with touched as (
       update identities.sessions set last_used_at = clock_timestamp()
       where digest = $1 and last_used_at < clock_timestamp() - interval '1 minute'
     )
     select s.session_id, s.created_at, s.last_used_at, i.identity_id, i.email
     from identities.sessions s join identities.identities i on i.identity_id = s.identity_id
     where s.digest = $1 and s.expires_at > clock_timestamp()`,
    [digest],
  );
  return rows[0] && withEmail(db, rows[0]);
}

/** Whether a person has this session, and it has not expired. */
export async function hasSession(db: Queryable, email: Email, sessionId: SessionId): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from identities.sessions s join identities.identities i on i.identity_id = s.identity_id
     where s.session_id = $1 and i.email = $2 and s.expires_at > clock_timestamp()`,
    [sessionId, emailsOf(db).seal(email)],
  );
  return rowCount === 1;
}

/** Ends one session of an identity, or all of them when `sessionId` is undefined. */
export async function deleteSessions(
  db: Queryable,
  identityId: IdentityId,
  sessionId: SessionId | undefined,
): Promise<void> {
  await db.query(`delete from identities.sessions where identity_id = $1 and ($2::text is null or session_id = $2)`, [
    identityId,
    sessionId ?? null,
  ]);
}

/** Ends a session of the person with this e-mail, or all of them if `sessionId` is undefined. */
export async function deleteSessionsOf(db: Queryable, email: Email, sessionId: SessionId | undefined): Promise<void> {
  await db.query(
    `delete from identities.sessions s using identities.identities i
     where i.identity_id = s.identity_id and i.email = $1 and ($2::text is null or s.session_id = $2)`,
    [emailsOf(db).seal(email), sessionId ?? null],
  );
}
