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
import { ownersEntry } from '#audit/entry.ts';
import { countSignIn, insertAuditEntry } from '#audit/queries.ts';
import { type Attempt, type AttemptLimiter, createAttemptLimiter } from '#limits/attempt-limiter.ts';
import type { Throttle } from '#limits/throttle.ts';
import { createHashingLimit, type LimitHashing } from '#accounts/hashing-limit.ts';
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
  /** The network address of the caller. */
  readonly from: string;
}

/** Accounts of app owners and operators: how they register, sign in and change passwords (CP-01). */
export interface Accounts extends PasswordResets {
  /**
   * Creates an account. E-mails that differ only in case are the same. Limited by network address, and more strictly when
   * the e-mail already has an account, so that nobody can find out in bulk which ones do.
   */
  readonly register: (registration: NewRegistration) => Promise<Account | Refusal<'CONFLICT' | 'TOO_MANY_REQUESTS'>>;
  readonly signIn: (credentials: Credentials) => Promise<SignIn | Refusal<'UNAUTHORIZED' | 'TOO_MANY_REQUESTS'>>;
  /** Sets a new password and ends every other session. Returns the browser's new proof that it has signed in before. */
  readonly changePassword: (
    signedIn: SignedIn,
    change: { readonly currentPassword: string; readonly newPassword: string; readonly from: string },
  ) => Promise<Pick<SignIn, 'device'> | Refusal<'UNAUTHORIZED' | 'TOO_MANY_REQUESTS'>>;
}

/** What a person sends to sign in. */
interface Credentials {
  readonly email: string;
  readonly password: string;
  /** What the browser got when it last signed in. A known browser has attempts of its own, see `createDevices`. */
  readonly device: string | undefined;
  /** The network address of the caller. */
  readonly from: string;
}

/** Creates the account functions. `secret` is the root of the keys that name attempt buckets and sign known browsers. */
export function createAccounts({ pool, throttle, secret, sendReset }: AccountsOptions): Accounts {
  const attempts = createAttemptLimiter(throttle, deriveKey(secret, 'account-tries'));
  const devices = createDevices(deriveKey(secret, 'account-device'));
  const limitHashing = createHashingLimit();

  const isRight = createPasswordCheck(attempts, limitHashing);

  return {
    register: async ({ email, password, name, role, from }) => {
      const known = { kind: 'register-known', of: from } as const;
      const tooMany = await attempts.take([{ kind: 'register', of: from }, known]);
      if (tooMany !== undefined) return tooMany;
      // Hashed before the e-mail is looked up, so that a known e-mail is not answered faster than a new one.
      const passwordHash = await limitHashing(() => hashPassword(password));
      if (passwordHash instanceof Refusal) return passwordHash;
      const account = { accountId: newAccountId(), email: normalisedEmail(email), name, role, passwordHash };
      const row = await insertAccount(pool, account);
      if (row === undefined) return refuse('CONFLICT', 'This e-mail already has an account.');
      await attempts.giveBack([known]);
      return accountOf(row);
    },
    signIn: async ({ email, password, device, from }) => {
      const address = normalisedEmail(email);
      const row = await selectAccountByEmail(pool, address);
      const known = knownOf(row);
      const name = devices.nameOf(device, known);
      const used: readonly Attempt[] =
        name === undefined
          ? [
              { kind: 'sign-in-from', of: from },
              { kind: 'sign-in', of: `${from}\n${address}` },
              { kind: 'sign-in-all', of: address },
            ]
          : [{ kind: 'sign-in-device', of: name }];
      const answer = await isRight(used, password, known?.passwordHash);
      const result = answer instanceof Refusal ? 'too_many_attempts' : answer ? 'signed_in' : 'wrong_password';
      await countSignIn(pool, { who: row?.account_id, result, from });
      if (answer instanceof Refusal) return answer;
      if (!answer || row === undefined || known === undefined) return wrongPassword();
      const opened = await openSession(pool, known);
      if (opened === undefined) return wrongPassword(); // The password was changed while it was being checked.
      return { account: accountOf(row), device: devices.issue(known), ...opened };
    },
    changePassword: async ({ account, session }, { currentPassword, newPassword, from }) => {
      const { accountId } = account;
      const row = await selectAccountByEmail(pool, account.email);
      const answer = await isRight([{ kind: 'password', of: accountId }], currentPassword, knownOf(row)?.passwordHash);
      if (answer instanceof Refusal) return answer;
      if (!answer) return refuse('UNAUTHORIZED', 'The current password is wrong.');
      const passwordHash = await limitHashing(() => hashPassword(newPassword));
      if (passwordHash instanceof Refusal) return passwordHash;
      await inTransaction(pool, async (tx) => {
        await updatePassword(tx, accountId, passwordHash);
        await deleteOtherSessions(tx, accountId, session.sessionId);
        const act = { action: 'account.password', subject: accountId };
        await insertAuditEntry(tx, ownersEntry({ accountId, email: account.email, from }, act));
      });
      return { device: devices.issue({ accountId, passwordHash }) };
    },
    ...createPasswordResets({ pool, attempts, devices, limitHashing, sendReset }),
  };
}

/** Checks a password. True when it is right; a wrong one uses up the attempts in `used`. */
function createPasswordCheck(attempts: AttemptLimiter, limitHashing: LimitHashing) {
  return async (
    used: readonly Attempt[],
    password: string,
    stored: string | undefined,
  ): Promise<boolean | Refusal<'TOO_MANY_REQUESTS'>> => {
    const tooMany = await attempts.take(used); // First: otherwise many guesses at once would all pass this check.
    if (tooMany !== undefined) return tooMany;
    const answer = await limitHashing(() => isPassword(password, stored));
    // Also given back when the hashing queue was full: then no password was checked.
    if (answer !== false) await attempts.giveBack(used);
    return answer;
  };
}

/** The account as a sign-in needs it. Undefined when there is none, or when it cannot sign in. */
function knownOf(row: AccountRow | undefined) {
  if (row === undefined || row.password_hash === null) return undefined;
  return { accountId: row.account_id, passwordHash: row.password_hash };
}

// One answer for unknown e-mails, wrong passwords and disabled accounts: it must not reveal which e-mails have accounts.
function wrongPassword(): Refusal<'UNAUTHORIZED'> {
  return refuse('UNAUTHORIZED', 'The e-mail or the password is wrong.');
}
