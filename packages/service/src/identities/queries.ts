import type { Queryable } from '#db/pool.ts';
import type { IdentityId, SessionId } from '#kernel/ids.ts';

interface IdentityRow {
  readonly identity_id: IdentityId;
  readonly email: string;
}

export interface SessionRow extends IdentityRow {
  readonly session_id: SessionId;
  readonly created_at: Date;
  readonly last_used_at: Date;
}

/** The identity of an e-mail, made where there is none. */
export async function upsertIdentity(db: Queryable, identityId: IdentityId, email: string): Promise<IdentityRow> {
  const { rows } = await db.query<IdentityRow>(
    `insert into identities.identities (identity_id, email) values ($1, $2)
     on conflict (email) do update set email = excluded.email
     returning identity_id, email`,
    [identityId, email],
  );
  const row = rows[0];
  if (row === undefined) throw new Error('An identity was not made.');
  return row;
}

interface NewSession {
  readonly sessionId: SessionId;
  readonly identityId: IdentityId;
  readonly digest: Buffer;
  readonly lifetimeMs: number;
}

export async function insertSession(db: Queryable, session: NewSession): Promise<void> {
  await db.query(
    `insert into identities.sessions (session_id, identity_id, digest, expires_at)
     values ($1, $2, $3, clock_timestamp() + $4 * interval '1 ms')`,
    [session.sessionId, session.identityId, session.digest, session.lifetimeMs],
  );
}

/** Of a session that has not expired; writes down that it was used, to the minute. */
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
  return rows[0];
}

/** Null: all of them. */
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
