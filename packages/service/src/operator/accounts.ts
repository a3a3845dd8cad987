import {
  type AccountRow,
  insertAccount,
  type Role,
  selectAccountByEmail,
  selectAccounts,
} from '#accounts/account-queries.ts';
import { hashPassword } from '#accounts/password.ts';
import { type Account, accountOf } from '#accounts/session.ts';
import type { Pool } from '#db/pool.ts';
import { newAccountId } from '#kernel/ids.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';
import { type Act, audited } from '#operator/acts.ts';

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
  ) => Promise<Account | Refusal<'CONFLICT'>>;
}

/**
 * Makes the operator whom the settings name, where the e-mail has no account. What is there is left as it is, its
 * password and role included: `owner` says that it is no operator's.
 */
export async function ensureOperator(
  pool: Pool,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<Role> {
  const known = await selectAccountByEmail(pool, email.trim().toLowerCase());
  if (known !== undefined) return known.role;
  const act = { actor: 'settings', reason: undefined };
  const made = await createAccountDesk(pool).create(act, { email, password, name: 'Operator', role: 'operator' });
  return made instanceof Refusal ? ensureOperator(pool, { email, password }) : made.role;
}

export function createAccountDesk(pool: Pool): AccountDesk {
  return {
    list: async ({ after, most }) => {
      const found = await selectAccounts(pool, { after, most: most + 1 });
      const accounts = found.slice(0, most).map(accountOf);
      return { accounts, next: found.length > most ? accounts.at(-1)?.accountId : undefined };
    },
    create: async (act, { email, password, name, role }) => {
      const passwordHash = await hashPassword(password);
      const accountId = newAccountId();
      const address = email.trim().toLowerCase();
      return audited(pool, { ...act, action: 'account.create', subject: accountId }, async (tx) => {
        const row: AccountRow | undefined = await insertAccount(tx, {
          accountId,
          email: address,
          name,
          role,
          passwordHash,
        });
        return row === undefined ? refuse('CONFLICT', 'This e-mail has an account already.') : accountOf(row);
      });
    },
  };
}
