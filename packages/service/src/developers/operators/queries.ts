import type { OperatorRole } from '@purser/contract/operator-access.ts';
import { ACCOUNT_COLUMNS, type AccountRow, type Role } from '#developers/accounts/queries.ts';
import { type Queryable, withEmail } from '#db/pool/pool.ts';
import type { AccountId } from '#kernel/values/ids.ts';

/**
 * Locks the account to be changed together with every operator's account, and returns it. Without that, two operators who
 * demote each other at the same moment could leave the service without any. The rows are locked in one order, so that
 * concurrent changes wait for each other and never deadlock.
 */
export async function lockAccount(tx: Queryable, accountId: AccountId): Promise<AccountRow | undefined> {
  const { rows } = await tx.query<AccountRow>(
    `select ${ACCOUNT_COLUMNS} from accounts.accounts where account_id = $1 or role = 'operator'
     order by account_id for no key update`,
    [accountId],
  );
  const row = rows.find((one) => one.account_id === accountId);
  return row && withEmail(tx, row);
}

/** Changes the roles and the disabled flag, and ends the account's sessions and resets. */
export async function updateAccount(
  tx: Queryable,
  accountId: AccountId,
  change: {
    readonly role: Role;
    readonly operatorRole: OperatorRole | null;
    readonly isDisabled: boolean;
  },
): Promise<AccountRow | undefined> {
  const { rows } = await tx.query<AccountRow>(
    `with ended as (delete from accounts.sessions where account_id = $1),
       voided as (delete from accounts.password_resets where account_id = $1)
     update accounts.accounts set role = $2, operator_role = $3, is_disabled = $4
     where account_id = $1 returning ${ACCOUNT_COLUMNS}`,
    [accountId, change.role, change.operatorRole, change.isDisabled],
  );
  return rows[0] && withEmail(tx, rows[0]);
}

/** Returns true while at least one account can still sign in as an operator who may do everything. */
export async function hasAdmin(tx: Queryable): Promise<boolean> {
  const { rowCount } = await tx.query(
    `select from accounts.accounts where operator_role = 'admin' and not is_disabled
       and (password_hash is not null or sso_subject is not null) limit 1`,
  );
  return rowCount === 1;
}

/** The operators who can sign in, with their roles, oldest first. At most 200. */
export async function selectSecondPersons(
  db: Queryable,
): Promise<
  readonly { readonly account_id: AccountId; readonly email: string; readonly operator_role: OperatorRole }[]
> {
  const { rows } = await db.query<{ account_id: AccountId; email: string; operator_role: OperatorRole }>(
    `select account_id, email, operator_role from accounts.accounts
     where role = 'operator' and operator_role is not null and not is_disabled
       and (password_hash is not null or sso_subject is not null)
     order by created_at, account_id limit 200`,
  );
  return rows.map((row) => withEmail(db, row));
}

/** How many operators can sign in, and how many of them can move money. */
export async function countOperators(db: Queryable): Promise<{ readonly all: number; readonly movers: number }> {
  const { rows } = await db.query<{ all: number; movers: number }>(
    `select count(*)::int as all, count(*) filter (where operator_role in ('finance', 'admin'))::int as movers
     from accounts.accounts where role = 'operator' and not is_disabled`,
  );
  return rows[0] ?? { all: 0, movers: 0 };
}

/** Operators who can sign in with a password alone, at most `most`. */
export async function selectOperatorsWithoutFactor(
  db: Queryable,
  most: number,
): Promise<readonly { readonly account_id: AccountId; readonly email: string }[]> {
  const { rows } = await db.query<{ account_id: AccountId; email: string }>(
    `select a.account_id, a.email from accounts.accounts a
     where a.role = 'operator' and not a.is_disabled and a.sso_subject is null
       and not exists (select from accounts.authenticators t where t.account_id = a.account_id)
       and not exists (select from accounts.passkeys p where p.account_id = a.account_id)
     order by a.account_id limit $1`,
    [most],
  );
  return rows.map((row) => withEmail(db, row));
}

/**
 * The role of an operator who can sign in, as it is now. Their account stays locked until the transaction ends. Undefined for
 * everybody else.
 */
export async function lockOperator(tx: Queryable, accountId: string): Promise<OperatorRole | undefined> {
  const { rows } = await tx.query<{ operator_role: OperatorRole | null }>(
    `select operator_role from accounts.accounts where account_id = $1 and role = 'operator' and not is_disabled
     for no key update`,
    [accountId],
  );
  const row = rows[0];
  return row && (row.operator_role ?? 'viewer');
}
