import {
  type AccountRow,
  deleteOtherSessions,
  insertAccount,
  type Role,
  selectAccountByEmail,
  updatePassword,
} from '#accounts/account-queries.ts';
import { createDevices } from '#accounts/device.ts';
import { normalisedEmail } from '#accounts/email.ts';
import { createPasswordResets, type PasswordResets, type SendReset } from '#accounts/password-reset.ts';
import { hashPassword, isPassword } from '#accounts/password.ts';
import { type Account, accountOf, openSession, type SignedIn, type SignIn } from '#accounts/session.ts';
import type { Throttle } from '#limits/throttle.ts';
import { createTries, type Try } from '#limits/tries.ts';
import { createPasswordTurns } from '#accounts/turns.ts';
import { inTransaction, type Pool } from '#db/pool.ts';
import { deriveKey } from '#kernel/crypto.ts';
import { newAccountId } from '#kernel/ids.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';

interface AccountsOptions {
  readonly pool: Pool;
  readonly throttle: Throttle;
  readonly secret: Buffer;
  readonly sendReset: SendReset;
}

interface NewRegistration {
  readonly email: string;
  readonly password: string;
  readonly name: string | undefined;
  readonly role: Role;
  /** The address of the caller. */
  readonly from: string;
}

/** Accounts of app owners and operators: how they come to be and sign in (CP-01). */
export interface Accounts extends PasswordResets {
  /** An e-mail counts once, in whatever case. Slowed by the caller's address, the more where the e-mail was known. */
  readonly register: (registration: NewRegistration) => Promise<Account | Refusal<'CONFLICT' | 'TOO_MANY_REQUESTS'>>;
  readonly signIn: (credentials: Credentials) => Promise<SignIn | Refusal<'UNAUTHORIZED' | 'TOO_MANY_REQUESTS'>>;
  /** Ends every other session of the account. Its answer is what the browser is known by from now on. */
  readonly changePassword: (
    signedIn: SignedIn,
    change: { readonly currentPassword: string; readonly newPassword: string },
  ) => Promise<Pick<SignIn, 'device'> | Refusal<'UNAUTHORIZED' | 'TOO_MANY_REQUESTS'>>;
}

interface Credentials {
  readonly email: string;
  readonly password: string;
  /** What the browser was given when it last signed in. One that is known has tries of its own, see `createDevices`. */
  readonly device: string | undefined;
  /** The address of the caller. */
  readonly from: string;
}

export function createAccounts({ pool, throttle, secret, sendReset }: AccountsOptions): Accounts {
  const tries = createTries(throttle, deriveKey(secret, 'account-tries'));
  const devices = createDevices(deriveKey(secret, 'account-device'));
  const inTurn = createPasswordTurns();

  /** True when the password is right. A wrong one uses up the tries. */
  async function isRight(
    used: readonly Try[],
    password: string,
    stored: string | undefined,
  ): Promise<boolean | Refusal<'TOO_MANY_REQUESTS'>> {
    const tooMany = await tries.take(used); // Before the password is looked at, or many at once get by.
    if (tooMany !== undefined) return tooMany;
    const answer = await inTurn(() => isPassword(password, stored));
    if (answer !== false) await tries.giveBack(used);
    return answer;
  }

  return {
    register: async ({ email, password, name, role, from }) => {
      const known = { kind: 'register-known', of: from } as const;
      const tooMany = await tries.take([{ kind: 'register', of: from }, known]);
      if (tooMany !== undefined) return tooMany;
      const passwordHash = await inTurn(() => hashPassword(password)); // First: a known e-mail is no faster.
      if (passwordHash instanceof Refusal) return passwordHash;
      const account = { accountId: newAccountId(), email: normalisedEmail(email), name, role, passwordHash };
      const row = await insertAccount(pool, account);
      if (row === undefined) return refuse('CONFLICT', 'This e-mail has an account already.');
      await tries.giveBack([known]);
      return accountOf(row);
    },
    signIn: async ({ email, password, device, from }) => {
      const address = normalisedEmail(email);
      const row = await selectAccountByEmail(pool, address);
      const known = knownOf(row);
      const name = devices.nameOf(device, known);
      const used: readonly Try[] =
        name === undefined
          ? [
              { kind: 'sign-in-from', of: from },
              { kind: 'sign-in', of: address },
            ]
          : [{ kind: 'sign-in-device', of: name }];
      const answer = await isRight(used, password, known?.passwordHash);
      if (answer instanceof Refusal) return answer;
      if (!answer || row === undefined || known === undefined) return wrongPassword();
      const opened = await openSession(pool, known);
      if (opened === undefined) return wrongPassword(); // It was another's by the time it was found right.
      return { account: accountOf(row), device: devices.issue(known), ...opened };
    },
    changePassword: async ({ account, session }, { currentPassword, newPassword }) => {
      const { accountId } = account;
      const row = await selectAccountByEmail(pool, account.email);
      const answer = await isRight([{ kind: 'password', of: accountId }], currentPassword, knownOf(row)?.passwordHash);
      if (answer instanceof Refusal) return answer;
      if (!answer) return refuse('UNAUTHORIZED', 'The present password is wrong.');
      const passwordHash = await inTurn(() => hashPassword(newPassword));
      if (passwordHash instanceof Refusal) return passwordHash;
      await inTransaction(pool, async (tx) => {
        await updatePassword(tx, accountId, passwordHash);
        await deleteOtherSessions(tx, accountId, session.sessionId);
      });
      return { device: devices.issue({ accountId, passwordHash }) };
    },
    ...createPasswordResets({ pool, tries, devices, inTurn, sendReset }),
  };
}

/** Undefined: the account cannot sign in, or there is none. */
function knownOf(row: AccountRow | undefined) {
  if (row === undefined || row.password_hash === null) return undefined;
  return { accountId: row.account_id, passwordHash: row.password_hash };
}

function wrongPassword(): Refusal<'UNAUTHORIZED'> {
  return refuse('UNAUTHORIZED', 'The e-mail or the password is wrong.');
}
