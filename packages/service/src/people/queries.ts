import { emailsOf, type Queryable, withEmail } from '#db/pool/pool.ts';
import type { Email } from '#people/email.ts';
import type { IdentityId } from '#kernel/values/ids.ts';

export interface IdentityRow {
  readonly identity_id: IdentityId;
  readonly email: Email;
}

/** Returns the identity of an e-mail and creates it if needed. The update changes nothing; it makes the insert return the row. */
export async function upsertIdentity(db: Queryable, identityId: IdentityId, email: Email): Promise<IdentityRow> {
  const { rows } = await db.query<IdentityRow>(
    `insert into identities.identities (identity_id, email) values ($1, $2)
     on conflict (email) do update set email = excluded.email
     returning identity_id, email`,
    [identityId, emailsOf(db).seal(email)],
  );
  const row = rows[0];
  if (row === undefined) throw new Error('The identity could not be stored.');
  return withEmail(db, row);
}

export async function selectIdentity(db: Queryable, identityId: IdentityId): Promise<IdentityRow | undefined> {
  const { rows } = await db.query<IdentityRow>(
    `select identity_id, email from identities.identities where identity_id = $1`,
    [identityId],
  );
  return rows[0] && withEmail(db, rows[0]);
}

export async function selectIdentityByEmail(db: Queryable, email: Email): Promise<IdentityRow | undefined> {
  const { rows } = await db.query<IdentityRow>(
    `select identity_id, email from identities.identities where email = $1`,
    [emailsOf(db).seal(email)],
  );
  return rows[0] && withEmail(db, rows[0]);
}

/** Finds an identity and locks it, so that no sign-in creates a session while its e-mail changes. */
export async function lockIdentity(tx: Queryable, identityId: IdentityId): Promise<IdentityRow | undefined> {
  const { rows } = await tx.query<IdentityRow>(
    `select identity_id, email from identities.identities where identity_id = $1 for update`,
    [identityId],
  );
  return rows[0] && withEmail(tx, rows[0]);
}

export async function updateEmail(tx: Queryable, identityId: IdentityId, email: Email): Promise<void> {
  await tx.query(`update identities.identities set email = $2 where identity_id = $1`, [
    identityId,
    emailsOf(tx).seal(email),
  ]);
}

interface NewCode {
  readonly digest: Buffer;
  readonly email: Email;
  readonly proof: Buffer;
  readonly guesses: number;
  readonly lifetimeMs: number;
}

/** Stores a code as an HMAC, with the number of guesses it allows. */
export async function insertCode(db: Queryable, code: NewCode): Promise<void> {
  await db.query(
    `insert into identities.codes (digest, email, proof, guesses_left, expires_at)
     values ($1, $2, $3, $4, clock_timestamp() + $5 * interval '1 ms')`,
    [code.digest, emailsOf(db).seal(code.email), code.proof, code.guesses, code.lifetimeMs],
  );
}

/** The e-mail that a code was sent to. Undefined when the code can no longer be used. */
export async function selectCodeEmail(db: Queryable, digest: Buffer): Promise<Email | undefined> {
  const { rows } = await db.query<{ email: Email }>(
    `select email from identities.codes
     where digest = $1 and guesses_left > 0 and expires_at > clock_timestamp()`,
    [digest],
  );
  return rows[0] && emailsOf(db).open(rows[0].email);
}

/** Takes one guess and returns the HMAC to compare. Undefined when no guesses are left or there is no such code. */
export async function takeGuess(
  db: Queryable,
  digest: Buffer,
): Promise<{ readonly proof: Buffer; readonly email: Email } | undefined> {
  const { rows } = await db.query<{ proof: Buffer; email: Email }>(
    `update identities.codes set guesses_left = guesses_left - 1
     where digest = $1 and guesses_left > 0 and expires_at > clock_timestamp()
     returning proof, email`,
    [digest],
  );
  return rows[0] && withEmail(db, rows[0]);
}

/** Deletes a code. True only for the one request that deleted it, so that a code is used once. */
export async function deleteCode(db: Queryable, digest: Buffer): Promise<boolean> {
  const { rowCount } = await db.query(`delete from identities.codes where digest = $1`, [digest]);
  return rowCount === 1;
}

/** Voids all codes that were mailed to an e-mail. */
export async function deleteCodesOf(db: Queryable, email: Email): Promise<void> {
  await db.query(`delete from identities.codes where email = $1`, [emailsOf(db).seal(email)]);
}

/** A passkey with the identity that it belongs to. */
export interface PasskeyRow extends IdentityRow {
  readonly credential_id: string;
  readonly public_key: Buffer;
  readonly sign_count: bigint;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
}

const PASSKEY = `p.credential_id, p.public_key, p.sign_count, p.created_at, p.last_used_at, i.identity_id, i.email
  from identities.passkeys p join identities.identities i on i.identity_id = p.identity_id`;

export async function selectPasskey(db: Queryable, credentialId: string): Promise<PasskeyRow | undefined> {
  const { rows } = await db.query<PasskeyRow>(`select ${PASSKEY} where p.credential_id = $1`, [credentialId]);
  return rows[0] && withEmail(db, rows[0]);
}

/** Lists an identity's passkeys, newest first. */
export async function selectPasskeysOf(db: Queryable, identityId: IdentityId): Promise<readonly PasskeyRow[]> {
  const { rows } = await db.query<PasskeyRow>(
    `select ${PASSKEY} where p.identity_id = $1 order by p.created_at desc, p.credential_id`,
    [identityId],
  );
  return rows.map((row) => withEmail(db, row));
}

interface NewPasskey {
  readonly credentialId: string;
  readonly identityId: IdentityId;
  /** The e-mail that the person has signed in with. */
  readonly email: Email;
  readonly publicKey: Buffer;
  readonly signCount: number;
}

/**
 * Adds a passkey. False when the credential is already registered, to anybody, or the person was moved to another e-mail
 * meanwhile: then the session that adds it has ended (WA-15).
 */
export async function insertPasskey(db: Queryable, passkey: NewPasskey): Promise<boolean> {
  const { rowCount } = await db.query(
    // The lock waits for a move that is under way, and then the e-mail is compared again.
    `insert into identities.passkeys (credential_id, identity_id, public_key, sign_count)
     select $1, i.identity_id, $3, $4 from identities.identities i where i.identity_id = $2 and i.email = $5
     for key share
     on conflict (credential_id) do nothing`,
    [passkey.credentialId, passkey.identityId, passkey.publicKey, passkey.signCount, emailsOf(db).seal(passkey.email)],
  );
  return rowCount === 1;
}

/**
 * Records a use of a passkey. False when it counts its uses and the count did not grow: then it may be a copy. Many passkeys
 * do not count and always say 0.
 */
export async function advancePasskey(db: Queryable, credentialId: string, signCount: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `update identities.passkeys set sign_count = $2, last_used_at = clock_timestamp()
     where credential_id = $1 and (sign_count < $2 or sign_count = 0 and $2 = 0)`,
    [credentialId, signCount],
  );
  return rowCount === 1;
}

/** Removes a passkey. The identity is part of the condition, so nobody can remove another person's. */
export async function deletePasskey(db: Queryable, identityId: IdentityId, credentialId: string): Promise<void> {
  await db.query(`delete from identities.passkeys where identity_id = $1 and credential_id = $2`, [
    identityId,
    credentialId,
  ]);
}

/** Removes all passkeys of an identity. */
export async function deletePasskeysOf(tx: Queryable, identityId: IdentityId): Promise<void> {
  await tx.query(`delete from identities.passkeys where identity_id = $1`, [identityId]);
}

/** Uses up a challenge. False when it was answered before. */
export async function answerChallenge(
  db: Queryable,
  challenge: { readonly digest: Buffer; readonly expiresAtMs: number },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into identities.answered_challenges (digest, expires_at) values ($1, to_timestamp($2))
     on conflict (digest) do nothing`,
    [challenge.digest, challenge.expiresAtMs / 1_000],
  );
  return rowCount === 1;
}

/**
 * Deletes expired sessions, codes and challenges, at most `rowsMax` of each. Challenges stay an hour longer: they expire by
 * the clock of a gateway process, which may be behind the database's.
 */
export async function deleteExpired(db: Queryable, rowsMax: number): Promise<void> {
  await db.query(
    `with sessions as (
       delete from identities.sessions where session_id in
         (select session_id from identities.sessions where expires_at < clock_timestamp() limit $1)
     ), challenges as (
       delete from identities.answered_challenges where digest in
         (select digest from identities.answered_challenges
          where expires_at < clock_timestamp() - interval '1 hour' limit $1)
     )
     delete from identities.codes where digest in
       (select digest from identities.codes where expires_at < clock_timestamp() limit $1)`,
    [rowsMax],
  );
}
