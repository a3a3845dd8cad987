import type { Queryable } from '#db/pool.ts';
import type { IdentityId } from '#kernel/ids.ts';

/** When an identity signed in for the first time, and the database's time. */
export async function selectCreation(db: Queryable, identityId: IdentityId): Promise<{ readonly created_at: Date; readonly read_at: Date } | undefined> {
  const { rows } = await db.query<{ created_at: Date; read_at: Date }>(
    `select created_at, clock_timestamp() as read_at from identities.identities where identity_id = $1`,
    [identityId],
  );
  return rows[0];
}

interface SessionDates {
  readonly created_at: Date;
  readonly last_used_at: Date;
  readonly expires_at: Date;
}

/** The sessions of an identity that have not expired, the newest first. */
export async function selectSessionsOf(
  db: Queryable,
  identityId: IdentityId,
  most: number,
): Promise<readonly SessionDates[]> {
  const { rows } = await db.query<SessionDates>(
    `select created_at, last_used_at, expires_at from identities.sessions
     where identity_id = $1 and expires_at > clock_timestamp()
     order by created_at desc, session_id limit $2`,
    [identityId, most],
  );
  return rows;
}

/**
 * Keeps an identity from being deleted until the transaction ends. False if there is none any more: a deletion that is under way
 * is waited for.
 */
export async function holdIdentity(tx: Queryable, identityId: IdentityId): Promise<boolean> {
  const { rowCount } = await tx.query(`select from identities.identities where identity_id = $1 for key share`, [
    identityId,
  ]);
  return rowCount === 1;
}

/** Deletes an identity. Its sessions and passkeys must be gone. */
export async function deleteIdentityRow(tx: Queryable, identityId: IdentityId): Promise<void> {
  await tx.query(`delete from identities.identities where identity_id = $1`, [identityId]);
}
