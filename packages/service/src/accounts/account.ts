import {
  insertAccount,
  type AccountRow,
  deleteOtherSessions,
  type Role,
  selectAccountByEmail,
  takeReset,
  updatePassword,
  upsertReset,
} from '#accounts/account-queries.ts';
import { hashPassword, isPassword } from '#accounts/password.ts';
import { type Account, accountOf, findSession, openSession, type Session, type SignedIn } from '#accounts/session.ts';
import { inTransaction, type Pool } from '#db/pool.ts';
import { assert } from '#kernel/assert.ts';
import { sha256 } from '#kernel/crypto.ts';
import { type AccountId, newAccountId } from '#kernel/ids.ts';
import { randomBase62 } from '#kernel/random.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';

/** Guessing made slow: takes one try from a named bucket, or says how long until the next one. */
interface Throttle {
  readonly take: (bucket: string, rate: ThrottleRate) => Promise<{ readonly waitMs: number } | undefined>;
  readonly giveBack: (bucket: string, rate: ThrottleRate) => Promise<void>;
}

interface ThrottleRate {
  readonly ratePerMinute: number;
  readonly rateBurst: number;
}

/** Tells a person by mail how to set a new password. */
type SendReset = (email: string, token: string) => Promise<void>;

interface AccountsOptions {
  readonly pool: Pool;
  readonly throttle: Throttle;
  readonly sendReset: SendReset;
}

interface NewRegistration {
  readonly email: string;
  readonly password: string;
  readonly name: string | undefined;
  readonly role: Role;
}

/** Accounts of app owners and operators: how they come to be and sign in (CP-01). */
export interface Accounts {
  /** An e-mail counts once, in whatever case. Takes as long where it is known. */
  readonly register: (registration: NewRegistration) => Promise<Account | Refusal<'CONFLICT'>>;
  /** `device`: a browser that has signed in to this account before, with tries of its own, see `signIn`. */
  readonly signIn: (credentials: Credentials) => Promise<SignIn | Refusal<'UNAUTHORIZED' | 'TOO_MANY_REQUESTS'>>;
  /** Ends every other session of the account. */
  readonly changePassword: (
    signedIn: SignedIn,
    change: { readonly currentPassword: string; readonly newPassword: string },
  ) => Promise<undefined | Refusal<'UNAUTHORIZED' | 'TOO_MANY_REQUESTS'>>;
  /** Sends a token to the e-mail where it has an account, and does nothing where it has none. */
  readonly requestReset: (email: string) => Promise<void>;
  /**
   * Sets a new password by a token, once, ends every session of the account and opens one: somebody who guesses keeps
   * the owner out of signing in, but not out of this.
   */
  readonly resetPassword: (token: string, password: string) => Promise<SignIn | Refusal<'BAD_REQUEST'>>;
}

interface Credentials {
  readonly email: string;
  readonly password: string;
  /** Names the tries that count together: all strangers' share one name, a device that is known has its own. */
  readonly device: string | undefined;
}

export interface SignIn {
  readonly account: Account;
  readonly session: Session;
  readonly token: string;
}

/** Wrong passwords: twenty at once, then one a minute. A right one costs no try. */
const SIGN_IN_RATE = { ratePerMinute: 1, rateBurst: 20 };
/** Mails that one address is sent. */
const RESET_RATE = { ratePerMinute: 1, rateBurst: 3 };
const RESET_LIFETIME_MS = 60 * 60 * 1_000;
const RESET_TOKEN_LENGTH = 43; // 256 bits.
const RETRY_SECONDS_MAX = 60;

export function createAccounts({ pool, throttle, sendReset }: AccountsOptions): Accounts {
  /** True when the password is right. A wrong one uses up a try. */
  async function isRight(
    bucket: string,
    password: string,
    stored: string | undefined,
  ): Promise<boolean | Refusal<'TOO_MANY_REQUESTS'>> {
    const empty = await throttle.take(bucket, SIGN_IN_RATE); // Before the password is looked at, or many at once get by.
    if (empty !== undefined) return tooManyTries(empty.waitMs);
    const answer = await isPassword(password, stored);
    if (answer) await throttle.giveBack(bucket, SIGN_IN_RATE);
    return answer;
  }

  return {
    register: async ({ email, password, name, role }) => {
      const passwordHash = await hashPassword(password); // First: a known e-mail takes as long as a new one.
      const account = { accountId: newAccountId(), email: normalised(email), name, role, passwordHash };
      const row = await insertAccount(pool, account);
      return row === undefined ? refuse('CONFLICT', 'This e-mail has an account already.') : accountOf(row);
    },
    signIn: async ({ email, password, device }) => {
      const address = normalised(email);
      const row = await selectAccountByEmail(pool, address);
      const answer = await isRight(signInBucket(address, device), password, row?.password_hash ?? undefined);
      if (answer instanceof Refusal) return answer;
      if (!answer || row === undefined) return wrongPassword();
      return { account: accountOf(row), ...(await openSession(pool, row.account_id)) };
    },
    changePassword: async ({ account, session }, { currentPassword, newPassword }) => {
      const row = await selectAccountByEmail(pool, account.email);
      const answer = await isRight(`password:${account.accountId}`, currentPassword, row?.password_hash ?? undefined);
      if (answer instanceof Refusal) return answer;
      if (!answer) return wrongPassword();
      await setPassword(pool, account.accountId, newPassword, session.sessionId);
      return undefined;
    },
    requestReset: async (email) => {
      const row: AccountRow | undefined = await selectAccountByEmail(pool, normalised(email));
      if (row === undefined) return;
      if ((await throttle.take(`reset:${row.account_id}`, RESET_RATE)) !== undefined) return;
      const token = randomBase62(RESET_TOKEN_LENGTH);
      await upsertReset(pool, { accountId: row.account_id, digest: sha256(token), lifetimeMs: RESET_LIFETIME_MS });
      await sendReset(row.email, token);
    },
    resetPassword: async (token, password) => {
      const accountId = await takeReset(pool, sha256(token));
      if (accountId === undefined) {
        return refuse('BAD_REQUEST', 'This reset has expired, was used or never was. Ask for a new one.', {
          param: 'token',
        });
      }
      await setPassword(pool, accountId, password, undefined);
      return signInAs(pool, accountId);
    },
  };
}

async function signInAs(pool: Pool, accountId: AccountId): Promise<SignIn> {
  const opened = await openSession(pool, accountId);
  const signedIn = await findSession(pool, opened.token);
  assert(signedIn !== undefined, 'a session that was opened is there');
  return { account: signedIn.account, ...opened };
}

async function setPassword(
  pool: Pool,
  accountId: Account['accountId'],
  password: string,
  kept: Session['sessionId'] | undefined,
): Promise<void> {
  const passwordHash = await hashPassword(password);
  await inTransaction(pool, async (tx) => {
    await updatePassword(tx, accountId, passwordHash);
    await deleteOtherSessions(tx, accountId, kept);
  });
}

/** E-mails are compared in lower case: no mailbox provider tells two people apart by it. */
function normalised(email: string): string {
  return email.trim().toLowerCase();
}

/** By a digest, so that what somebody typed stays out of the bucket's name. */
function signInBucket(email: string, device: string | undefined): string {
  return device === undefined ? `sign-in:${sha256(email).toString('hex')}` : `sign-in-device:${device}`;
}

function wrongPassword(): Refusal<'UNAUTHORIZED'> {
  return refuse('UNAUTHORIZED', 'The e-mail or the password is wrong.');
}

function tooManyTries(waitMs: number): Refusal<'TOO_MANY_REQUESTS'> {
  return refuse(
    'TOO_MANY_REQUESTS',
    'Too many wrong passwords. Wait, or reset the password by mail: that works at once.',
    { retryAfterSeconds: Math.min(RETRY_SECONDS_MAX, Math.max(1, Math.ceil(waitMs / 1_000))) },
  );
}
