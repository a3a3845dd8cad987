import type { Queryable } from '#db/pool/pool.ts';
import { WAITING } from '#db/processes/queries.ts';
import type { AccountId } from '#kernel/values/ids.ts';

/** The second factors of an account, without their secrets. */
interface FactorsRow {
  readonly authenticator_created_at: Date | null;
  readonly authenticator_last_used_at: Date | null;
  readonly recovery_codes: number;
}

export async function selectFactors(db: Queryable, accountId: AccountId): Promise<FactorsRow> {
  const { rows } = await db.query<FactorsRow>(
    `select t.created_at as authenticator_created_at, t.last_used_at as authenticator_last_used_at,
       (select count(*)::int from accounts.recovery_codes r where r.account_id = a.account_id) as recovery_codes
     from accounts.accounts a left join accounts.authenticators t on t.account_id = a.account_id
     where a.account_id = $1`,
    [accountId],
  );
  return rows[0] ?? { authenticator_created_at: null, authenticator_last_used_at: null, recovery_codes: 0 };
}

/** Adds the authenticator app. False when the account has one. `step`: that of the code that confirmed it, which is used. */
export async function insertAuthenticator(
  tx: Queryable,
  authenticator: { readonly accountId: AccountId; readonly secret: Buffer; readonly step: number },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into accounts.authenticators (account_id, secret, last_step) values ($1, $2, $3) on conflict do nothing`,
    [authenticator.accountId, authenticator.secret, authenticator.step],
  );
  return rowCount === 1;
}

/** The sealed secret of the account's authenticator app. Undefined when it has none. */
export async function selectAuthenticatorSecret(db: Queryable, accountId: AccountId): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ secret: Buffer }>(
    `select secret from accounts.authenticators where account_id = $1`,
    [accountId],
  );
  return rows[0]?.secret;
}

interface AuthenticatorSecretRow {
  readonly account_id: AccountId;
  readonly secret: Buffer;
}

/** The sealed secrets of all authenticator apps, locked until the transaction ends. */
export async function lockAuthenticatorSecrets(tx: Queryable): Promise<readonly AuthenticatorSecretRow[]> {
  const { rows } = await tx.query<AuthenticatorSecretRow>(
    `select account_id, secret from accounts.authenticators for update`,
  );
  return rows;
}

export async function updateAuthenticatorSecrets(
  tx: Queryable,
  rows: readonly AuthenticatorSecretRow[],
): Promise<void> {
  await tx.query(
    `update accounts.authenticators t set secret = n.secret
     from unnest($1::text[], $2::bytea[]) as n(account_id, secret) where t.account_id = n.account_id`,
    [rows.map((row) => row.account_id), rows.map((row) => row.secret)],
  );
}

/** Uses up the code of a step. False when that code, or a newer one, was used before: then it must not count again. */
export async function takeStep(tx: Queryable, accountId: AccountId, step: number): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update accounts.authenticators set last_step = $2, last_used_at = clock_timestamp()
     where account_id = $1 and last_step < $2`,
    [accountId, step],
  );
  return rowCount === 1;
}

/** Removes the authenticator app. Returns false when the account has none. */
export async function deleteAuthenticator(tx: Queryable, accountId: AccountId): Promise<boolean> {
  const { rowCount } = await tx.query(`delete from accounts.authenticators where account_id = $1`, [accountId]);
  return rowCount === 1;
}

/** Replaces all recovery codes of an account. None of the old ones works any more. */
export async function replaceRecoveryCodes(
  tx: Queryable,
  accountId: AccountId,
  proofs: readonly Buffer[],
): Promise<void> {
  await tx.query(`delete from accounts.recovery_codes where account_id = $1`, [accountId]);
  await tx.query(`insert into accounts.recovery_codes (account_id, proof) select $1, unnest($2::bytea[])`, [
    accountId,
    proofs,
  ]);
}

/** Uses up a recovery code. True only for the one request that deleted it, so that a code works once. */
export async function takeRecoveryCode(tx: Queryable, accountId: AccountId, proof: Buffer): Promise<boolean> {
  const { rowCount } = await tx.query(
    `delete from accounts.recovery_codes where account_id = $1 and proof = $2 and ${WAITING}`,
    [accountId, proof],
  );
  return rowCount === 1;
}

/** Removes the recovery codes of an account that has no second factor left: they would be codes for nothing. */
export async function deleteSpareCodes(tx: Queryable, accountId: AccountId): Promise<void> {
  await tx.query(
    `delete from accounts.recovery_codes where account_id = $1
       and not exists (select from accounts.authenticators where account_id = $1)
       and not exists (select from accounts.passkeys where account_id = $1)`,
    [accountId],
  );
}

/** Removes every second factor of an account. False when it had none. */
export async function deleteFactors(tx: Queryable, accountId: AccountId): Promise<boolean> {
  const { rows } = await tx.query<{ had: boolean }>(
    `with codes as (delete from accounts.recovery_codes where account_id = $1),
       waiting as (delete from accounts.pending_sign_ins where account_id = $1),
       apps as (delete from accounts.authenticators where account_id = $1 returning 1),
       keys as (delete from accounts.passkeys where account_id = $1 returning 1)
     select exists (select from apps) or exists (select from keys) as had`,
    [accountId],
  );
  return rows[0]?.had === true;
}

interface AccountPasskeyRow {
  readonly credential_id: string;
  readonly account_id: AccountId;
  readonly public_key: Buffer;
  readonly sign_count: bigint;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
}

const PASSKEY = 'credential_id, account_id, public_key, sign_count, created_at, last_used_at';

export async function selectAccountPasskey(
  db: Queryable,
  credentialId: string,
): Promise<AccountPasskeyRow | undefined> {
  const { rows } = await db.query<AccountPasskeyRow>(
    `select ${PASSKEY} from accounts.passkeys where credential_id = $1`,
    [credentialId],
  );
  return rows[0];
}

/** Lists the passkeys of an account, newest first. */
export async function selectAccountPasskeys(
  db: Queryable,
  accountId: AccountId,
): Promise<readonly AccountPasskeyRow[]> {
  const { rows } = await db.query<AccountPasskeyRow>(
    `select ${PASSKEY} from accounts.passkeys where account_id = $1 order by created_at desc, credential_id`,
    [accountId],
  );
  return rows;
}

/** Adds a passkey. False when the credential is already registered, to anybody. */
export async function insertAccountPasskey(
  tx: Queryable,
  passkey: {
    readonly credentialId: string;
    readonly accountId: AccountId;
    readonly publicKey: Buffer;
    readonly signCount: number;
  },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into accounts.passkeys (credential_id, account_id, public_key, sign_count) values ($1, $2, $3, $4)
     on conflict do nothing`,
    [passkey.credentialId, passkey.accountId, passkey.publicKey, passkey.signCount],
  );
  return rowCount === 1;
}

/** Records a use. False when the passkey counts its uses and the count did not grow: then it may be a copy. */
export async function advanceAccountPasskey(tx: Queryable, credentialId: string, signCount: number): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update accounts.passkeys set sign_count = $2, last_used_at = clock_timestamp()
     where credential_id = $1 and (sign_count < $2 or sign_count = 0 and $2 = 0)`,
    [credentialId, signCount],
  );
  return rowCount === 1;
}

/** Removes a passkey. Returns false when the account has no such passkey. */
export async function deleteAccountPasskey(
  tx: Queryable,
  accountId: AccountId,
  credentialId: string,
): Promise<boolean> {
  const { rowCount } = await tx.query(`delete from accounts.passkeys where account_id = $1 and credential_id = $2`, [
    accountId,
    credentialId,
  ]);
  return rowCount === 1;
}

/** Uses up a challenge. False when it was answered before. */
export async function answerAccountChallenge(
  tx: Queryable,
  challenge: { readonly digest: Buffer; readonly expiresAtMs: number },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into accounts.answered_challenges (digest, expires_at) values ($1, to_timestamp($2))
     on conflict (digest) do nothing`,
    [challenge.digest, challenge.expiresAtMs / 1_000],
  );
  return rowCount === 1;
}

/** Stores the code for the first factor of an account, and voids any earlier one. */
export async function upsertEnrolment(
  tx: Queryable,
  {
    accountId,
    proof,
    lifetimeMs,
  }: { readonly accountId: AccountId; readonly proof: Buffer; readonly lifetimeMs: number },
): Promise<void> {
  await tx.query(
    `insert into accounts.enrolments (account_id, proof, expires_at)
     values ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
     on conflict (account_id) do update set proof = excluded.proof, expires_at = excluded.expires_at`,
    [accountId, proof, lifetimeMs],
  );
}

/** Uses up the code for the first factor. False when it is wrong, used or expired: nothing is used up then. */
export async function takeEnrolment(tx: Queryable, accountId: AccountId, proof: Buffer): Promise<boolean> {
  const { rowCount } = await tx.query(
    `delete from accounts.enrolments where account_id = $1 and proof = $2 and expires_at > clock_timestamp()`,
    [accountId, proof],
  );
  return rowCount === 1;
}
