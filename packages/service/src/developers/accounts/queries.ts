import type { OperatorRole } from '@purser/contract/operator-access.ts';
import { emailsOf, type Queryable, withEmail } from '#db/pool/pool.ts';
import type { AccountId } from '#kernel/values/ids.ts';

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

/** Records that an account's e-mail is proven. False when it was before. */
export async function updateVerified(tx: Queryable, accountId: AccountId): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update accounts.accounts set email_verified_at = clock_timestamp()
     where account_id = $1 and email_verified_at is null`,
    [accountId],
  );
  return rowCount === 1;
}

/** Returns true when the account has proved its e-mail. */
export async function isVerified(db: Queryable, accountId: AccountId): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from accounts.accounts where account_id = $1 and email_verified_at is not null`,
    [accountId],
  );
  return rowCount === 1;
}
