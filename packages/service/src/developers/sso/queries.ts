import type { OperatorRole } from '@purser/contract/operator-access.ts';
import { ACCOUNT_COLUMNS, type AccountRow } from '#developers/accounts/queries.ts';
import { emailsOf, type Queryable, withEmail } from '#db/pool/pool.ts';
import type { AccountId, SessionId } from '#kernel/values/ids.ts';

/** The issuer and the subject by which a provider names a person. */
interface SubjectName {
  readonly issuer: string;
  readonly subject: string;
}

/** Finds and locks the account of a person at a provider. Undefined when they have none. */
export async function lockSsoAccount(tx: Queryable, { issuer, subject }: SubjectName): Promise<AccountRow | undefined> {
  const { rows } = await tx.query<AccountRow>(
    `select ${ACCOUNT_COLUMNS} from accounts.accounts where sso_issuer = $1 and sso_subject = $2 for no key update`,
    [issuer, subject],
  );
  return rows[0] && withEmail(tx, rows[0]);
}

/** Adds an operator's account without a password. Undefined when the e-mail or the person has one already. */
export async function insertSsoAccount(
  tx: Queryable,
  account: SubjectName & {
    readonly accountId: AccountId;
    readonly email: string;
    readonly name: string | undefined;
    readonly role: OperatorRole;
  },
): Promise<AccountRow | undefined> {
  const { rows } = await tx.query<AccountRow>(
    `insert into accounts.accounts
       (account_id, email, name, role, operator_role, email_verified_at, sso_issuer, sso_subject)
     values ($1, $2, $3, 'operator', $4, clock_timestamp(), $5, $6)
     on conflict do nothing
     returning ${ACCOUNT_COLUMNS}`,
    [
      account.accountId,
      emailsOf(tx).seal(account.email),
      account.name ?? null,
      account.role,
      account.issuer,
      account.subject,
    ],
  );
  return rows[0] && withEmail(tx, rows[0]);
}

/** Gives an account to a person at a provider. It loses its password. False when it has a person already, or is disabled. */
export async function updateToSso(tx: Queryable, accountId: AccountId, person: SubjectName): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update accounts.accounts set sso_issuer = $2, sso_subject = $3, password_hash = null,
       email_verified_at = coalesce(email_verified_at, clock_timestamp())
     where account_id = $1 and sso_subject is null and not is_disabled`,
    [accountId, person.issuer, person.subject],
  );
  return rowCount === 1;
}

/** Ends the link of an account to a person at a provider, and its sessions. It has no password then. False if it has no link. */
export async function updateFromSso(tx: Queryable, accountId: AccountId): Promise<boolean> {
  const { rowCount } = await tx.query(
    `with ended as (delete from accounts.sessions where account_id = $1)
     update accounts.accounts set sso_issuer = null, sso_subject = null
     where account_id = $1 and sso_subject is not null`,
    [accountId],
  );
  return rowCount === 1;
}

/** Records that the holder of a session showed the provider who they are. */
export async function updateSsoProof(tx: Queryable, sessionId: SessionId, authTimeMs: number): Promise<void> {
  await tx.query(
    `update accounts.sessions
     set proved_at = greatest(proved_at, least(clock_timestamp(), to_timestamp($2::double precision / 1000)))
     where session_id = $1`,
    [sessionId, authTimeMs],
  );
}
