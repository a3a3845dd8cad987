import { emailsOf, type Queryable } from '#db/pool/pool.ts';
import type { Email } from '#people/email.ts';
import type { IdentityId } from '#kernel/values/ids.ts';

/** When an identity signed in for the first time, and the database's time. */
export async function selectCreation(
  db: Queryable,
  identityId: IdentityId,
): Promise<{ readonly created_at: Date; readonly read_at: Date } | undefined> {
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

/** Deletes an identity. Its sessions, passkeys and moves must be gone. */
export async function deleteIdentityRow(tx: Queryable, identityId: IdentityId): Promise<void> {
  await tx.query(`delete from identities.identities where identity_id = $1`, [identityId]);
}

/** A change of a person's address by an operator (WA-15). */
export interface MoveRow {
  readonly at: Date;
  readonly before: Email;
  readonly after: Email;
}

export async function insertEmailChange(
  tx: Queryable,
  identityId: IdentityId,
  { before, after }: Pick<MoveRow, 'before' | 'after'>,
): Promise<void> {
  await tx.query(`insert into identities.moves (identity_id, before, after) values ($1, $2, $3)`, [
    identityId,
    emailsOf(tx).seal(before),
    emailsOf(tx).seal(after),
  ]);
}

/** The changes of a person's address, the newest first. */
export async function selectMovesOf(db: Queryable, identityId: IdentityId, most: number): Promise<readonly MoveRow[]> {
  const { rows } = await db.query<MoveRow>(
    `select at, before, after from identities.moves where identity_id = $1 order by move_id desc limit $2`,
    [identityId, most],
  );
  const { open } = emailsOf(db);
  return rows.map(({ at, before, after }) => ({ at, before: open(before), after: open(after) }));
}

export async function deleteMovesOf(tx: Queryable, identityId: IdentityId): Promise<void> {
  await tx.query(`delete from identities.moves where identity_id = $1`, [identityId]);
}
