import {
  type AccountRow,
  hasOperator,
  insertAccount,
  lockAccount,
  type Role,
  selectAccountByEmail,
  selectAccounts,
  updateAccount,
} from '#accounts/account-queries.ts';
import { normalisedEmail } from '#accounts/email.ts';
import { hashPassword } from '#accounts/password.ts';
import { type Account, accountOf } from '#accounts/session.ts';
import { createHashingLimit } from '#accounts/hashing-limit.ts';
import type { Pool } from '#db/pool.ts';
import { assert } from '#kernel/assert.ts';
import { type AccountId, newAccountId } from '#kernel/ids.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';
import { type Act, audited, Repeated } from '#operator/acts.ts';

/** Accounts, as operators make them. */
export interface AccountDesk {
  /** The oldest first. `next`: hand it back as `after` for the page after this; undefined on the last one. */
  readonly list: (page: { readonly after: string | undefined; readonly most: number }) => Promise<{
    readonly accounts: readonly Account[];
    readonly next: string | undefined;
  }>;
  readonly create: (
    act: Act,
    account: {
      readonly email: string;
      readonly password: string;
      readonly name: string | undefined;
      readonly role: Role;
    },
  ) => Promise<Account | Refusal<'CONFLICT' | 'TOO_MANY_REQUESTS'>>;
  /**
   * Gives an account another role, disables it or lifts that, and ends its sessions. At once, and on every process: each
   * request reads both anew. Somebody who can sign in as an operator always remains.
   */
  readonly change: (
    act: Act,
    accountId: AccountId,
    change: AccountChange,
  ) => Promise<Account | Refusal<'NOT_FOUND' | 'CONFLICT'>>;
}

/** One of the two. */
interface AccountChange {
  readonly role: Role | undefined;
  readonly isDisabled: boolean | undefined;
}

/**
 * Makes the operator whom the settings name, where the e-mail has no account. What is there is left as it is, its
 * password and role included: `owner` says that it is no operator's.
 */
export async function ensureOperator(
  pool: Pool,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<Role> {
  const known = await selectAccountByEmail(pool, normalisedEmail(email));
  if (known !== undefined) return known.role;
  const act = { actor: 'settings', reason: undefined };
  const made = await createAccountDesk(pool).create(act, { email, password, name: 'Operator', role: 'operator' });
  return made instanceof Refusal ? ensureOperator(pool, { email, password }) : made.role;
}

export function createAccountDesk(pool: Pool): AccountDesk {
  const limitHashing = createHashingLimit();
  return {
    list: async ({ after, most }) => {
      const found = await selectAccounts(pool, { after, most: most + 1 });
      const accounts = found.slice(0, most).map(accountOf);
      return { accounts, next: found.length > most ? accounts.at(-1)?.accountId : undefined };
    },
    create: async (act, { email, password, name, role }) => {
      const passwordHash = await limitHashing(() => hashPassword(password));
      if (passwordHash instanceof Refusal) return passwordHash;
      const accountId = newAccountId();
      const address = normalisedEmail(email);
      return audited(pool, { ...act, action: 'account.create', subject: accountId }, async (tx) => {
        const row: AccountRow | undefined = await insertAccount(tx, {
          accountId,
          email: address,
          name,
          role,
          passwordHash,
        });
        return row === undefined ? refuse('CONFLICT', 'This e-mail already has an account.') : accountOf(row);
      });
    },
    change: (act, accountId, change) =>
      audited(pool, { ...act, action: actionOf(change), subject: accountId }, async (tx) => {
        const before = await lockAccount(tx, accountId);
        if (before === undefined) return refuse('NOT_FOUND', 'There is no such account.');
        const { role = before.role, isDisabled = before.is_disabled } = change;
        if (role === before.role && isDisabled === before.is_disabled) return new Repeated(accountOf(before));
        const row = await updateAccount(tx, accountId, { role, isDisabled });
        assert(row !== undefined, 'an account that is locked is there');
        if (await hasOperator(tx)) return accountOf(row);
        return refuse('CONFLICT', 'This is the last operator who can sign in: make another one first.');
      }),
  };
}

function actionOf({ role, isDisabled }: AccountChange): string {
  if (role !== undefined) return `account.make-${role}`;
  return isDisabled === true ? 'account.disable' : 'account.enable';
}
