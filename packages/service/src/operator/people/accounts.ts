import type { AccountChange } from '@purser/contract/operator-accounts.ts';
import type { OperatorRole } from '@purser/contract/operator-access.ts';
import {
  type AccountRow,
  insertAccount,
  type Role,
  selectAccountByEmail,
  selectAccountById,
  selectAccounts,
  updateVerified,
} from '#developers/accounts/queries.ts';
import { updateAppointed } from '#developers/operators/appointment-queries.ts';
import { hasAdmin, lockAccount, updateAccount } from '#developers/operators/queries.ts';
import type { SendNews } from '#developers/accounts/news.ts';
import { normalisedEmail } from '#developers/accounts/email.ts';
import { deleteFactors } from '#developers/factors/queries.ts';
import { hashPassword } from '#developers/sign-in/password.ts';
import { type Account, accountOf } from '#developers/sessions/session.ts';
import { selectMemberships } from '#developers/teams/queries.ts';
import { updateFromSso } from '#developers/sso/queries.ts';
import { changedFacts } from '#audit/entry.ts';
import { createHashingLimit } from '#developers/sign-in/hashing-limit.ts';
import type { Pool, Queryable } from '#db/pool/pool.ts';
import { assert } from '#kernel/faults/assert.ts';
import { type AccountId, newAccountId, parseId } from '#kernel/values/ids.ts';
import { cutPage } from '#kernel/values/page.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { type Act, audited, Repeated } from '#operator/acts/act.ts';

/** Accounts, as operators see and change them. */
export type AccountDesk = ReturnType<typeof createAccountDesk>;

interface NewAccount {
  readonly email: string;
  readonly password: string;
  readonly name: string | undefined;
  readonly role: Role;
  /** The role among operators. It is admin if it is left out, and refused for owners. */
  readonly operatorRole?: OperatorRole | undefined;
}

/**
 * Creates the operator that the settings name, unless the e-mail already has an account. An existing account is left as it
 * is, including its password and role. Returns the account's role, so that the caller can warn about an `owner`.
 */
export async function ensureOperator(
  pool: Pool,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<Role> {
  const known = await selectAccountByEmail(pool, normalisedEmail(email));
  if (known !== undefined) return known.role;
  const act = { actor: 'settings', reason: undefined, limits: undefined };
  const made = await createAccountDesk(pool).create(act, { email, password, name: 'Operator', role: 'operator' });
  // Another process has probably created the account meanwhile, so it is read again.
  return made instanceof Refusal ? ensureOperator(pool, { email, password }) : made.role;
}

/**
 * The function `sendNews` tells the holder of an account that their second factor was removed. The command line does
 * not remove any.
 */
export function createAccountDesk(pool: Pool, sendNews: SendNews = async () => {}) {
  const limitHashing = createHashingLimit();
  return {
    /** A page of accounts, the oldest first. Pass `next` as `after` to get the page after it; undefined on the last one. */
    list: async ({ after, most }: { readonly after: string | undefined; readonly most: number }) => {
      const found = await selectAccounts(pool, { after, most: most + 1 });
      const { rows, next } = cutPage(found, most, (last) => last.account_id);
      return { accounts: rows.map(accountOf), next };
    },
    find: async (accountId: AccountId): Promise<Account | undefined> => {
      const row = await selectAccountById(pool, accountId);
      return row && accountOf(row);
    },
    /** The apps of which an account is a member, oldest first, with its role in each. */
    appsOf: async (accountId: AccountId) => (await selectMemberships(pool, accountId)).map(appOf),
    /** Creates an account. Refused if the e-mail already has one, or if too many passwords are being hashed. */
    create: async (
      act: Act,
      { email, password, name, role, operatorRole }: NewAccount,
    ): Promise<Account | Refusal<'CONFLICT' | 'TOO_MANY_REQUESTS'>> => {
      // Before the transaction: hashing takes long on purpose, and a transaction holds a connection.
      const passwordHash = await limitHashing(() => hashPassword(password));
      if (passwordHash instanceof Refusal) return passwordHash;
      const accountId = newAccountId();
      const address = normalisedEmail(email);
      return audited(pool, { ...act, action: 'account.create', subject: accountId }, async (tx, note) => {
        note({
          after: { email: address, role, ...(role === 'operator' ? { operatorRole: operatorRole ?? 'admin' } : {}) },
        });
        const row: AccountRow | undefined = await insertAccount(tx, {
          accountId,
          email: address,
          name,
          role,
          operatorRole,
          passwordHash,
          isVerified: true, // The operator vouches for the address.
        });
        const made = row && (await appointed(tx, act, row));
        return made === undefined ? refuse('CONFLICT', 'This e-mail already has an account.') : accountOf(made);
      });
    },
    change: changesIn(pool, sendNews),
  };
}

/**
 * Changes an account's role, disables or enables it, or removes its second factor, and ends its sessions; or vouches for its
 * e-mail. The change takes effect at once on every process, because each request reads the account from the database. Refused
 * if no operator who can sign in would remain.
 */
function changesIn(pool: Pool, sendNews: SendNews) {
  return (
    act: Act,
    accountId: AccountId,
    change: AccountChange,
  ): Promise<Account | Refusal<'NOT_FOUND' | 'CONFLICT'>> => {
    const named = { ...act, action: actionOf(change), subject: accountId };
    return audited<Account | Refusal<'NOT_FOUND' | 'CONFLICT'>>(pool, named, async (tx, note) => {
      const before = await lockAccount(tx, accountId);
      if (before === undefined) return refuse('NOT_FOUND', 'There is no such account.');
      const { role = before.role, emailVerified, secondFactor, sso } = change;
      const isDisabled = change.disabled ?? before.is_disabled;
      if (emailVerified === true) await updateVerified(tx, accountId);
      const isRemoved = secondFactor === 'none' && (await deleteFactors(tx, accountId));
      const isUnlinked = sso === 'none' && (await updateFromSso(tx, accountId));
      const operatorRole = operatorRoleAfter(before, change);
      if (operatorRole instanceof Refusal) return operatorRole;
      const isOther =
        role !== before.role || operatorRole !== before.operator_role || isDisabled !== before.is_disabled;
      // Also ends the sessions, which a person without the factor may have opened.
      if (isOther || isRemoved) await updateAccount(tx, accountId, { role, operatorRole, isDisabled });
      const row = await selectAccountById(tx, accountId);
      assert(row !== undefined, 'a locked account exists');
      const changed = changedFacts(stateOf(before), stateOf(row));
      if (Object.keys(changed.after).length === 0) return new Repeated(accountOf(row));
      note(changed);
      await tellHolder(tx, sendNews, { before, row, isRemoved, isUnlinked });
      // Checked after the change: two operators who demote each other at once must not both succeed.
      if (await hasAdmin(tx)) return accountOf(await appointed(tx, act, row));
      return refuse('CONFLICT', 'This is the last admin who can sign in. Create another one first.');
    });
  };
}

function appOf({ app_id: appId, name, role, status }: Awaited<ReturnType<typeof selectMemberships>>[number]) {
  return { appId, name, role, status };
}

/** Remembers when an operator made somebody one, or changed how one gets in. The settings and the command line are the machine's owner. */
async function appointed(tx: Queryable, { actor }: Act, row: AccountRow): Promise<AccountRow> {
  const isAppointed = row.role === 'operator' && parseId('account', actor) !== undefined;
  if (isAppointed) await updateAppointed(tx, row.account_id, actor);
  return row;
}

/** Mails the holder of an account what an operator has changed. */
async function tellHolder(
  tx: Queryable,
  sendNews: SendNews,
  done: {
    readonly before: AccountRow;
    readonly row: AccountRow;
    readonly isRemoved: boolean;
    readonly isUnlinked: boolean;
  },
): Promise<void> {
  const { before, row, isRemoved, isUnlinked } = done;
  const { email, role, operator_role: operatorRole } = row;
  if (isRemoved) await sendNews(tx, email, { kind: 'second-factor-removed-by-operator' });
  if (isUnlinked) await sendNews(tx, email, { kind: 'sso-unlinked' });
  if (role !== before.role || operatorRole !== before.operator_role) {
    await sendNews(tx, email, { kind: 'role-changed', role: operatorRole ?? role });
  }
}

function stateOf(row: AccountRow) {
  const { email, role, operator_role: operatorRole, is_disabled: isDisabled, has_second_factor: hasSecondFactor } = row;
  const isEmailVerified = row.email_verified_at !== null;
  return { email, role, operatorRole, isDisabled, isEmailVerified, hasSecondFactor, isSso: row.is_sso };
}

/**
 * Returns the role among operators after a change. Somebody who becomes an operator is an admin, unless the change
 * names another role. Owners have none.
 */
function operatorRoleAfter(before: AccountRow, { role, operatorRole }: AccountChange) {
  if ((role ?? before.role) === 'operator') {
    return operatorRole ?? (before.role === 'operator' ? before.operator_role : 'admin');
  }
  if (operatorRole === undefined) return null;
  return refuse('CONFLICT', 'This account is not an operator. Send `role: "operator"` first.');
}

/** The name of the act in the audit trail. */
function actionOf({ role, operatorRole, disabled, emailVerified, sso }: AccountChange): string {
  if (sso !== undefined) return 'account.sso-unlink';
  if (role !== undefined) return `account.make-${role}`;
  if (operatorRole !== undefined) return 'account.operator-role';
  if (disabled !== undefined) return disabled ? 'account.disable' : 'account.enable';
  return emailVerified === true ? 'account.vouch' : 'account.remove-second-factor';
}
