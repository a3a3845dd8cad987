import { deleteOtherSessions } from '#developers/sessions/queries.ts';
import { insertAccount, type Role, selectAccountByEmail, updatePassword } from '#developers/accounts/queries.ts';
import type { SendNews } from '#developers/accounts/news.ts';
import { createDevices, type Devices } from '#developers/sessions/device.ts';
import {
  createEmailVerifications,
  type EmailVerifications,
  mailVerification,
  type SendVerification,
} from '#developers/sign-in/email-verification.ts';
import { normalisedEmail } from '#developers/accounts/email.ts';
import type { SendEnrolment } from '#developers/factors/enrolment.ts';
import { createFactorCheck } from '#developers/factors/check.ts';
import { createPasswordResets, type PasswordResets, type SendReset } from '#developers/sign-in/password-reset.ts';
import { hashPassword, isPassword } from '#developers/sign-in/password.ts';
import { deletePendingSignIns } from '#developers/sessions/pending-sign-in-queries.ts';
import { createProofs, type Proofs } from '#developers/sign-in/proof.ts';
import { createSecondFactors, type SecondFactors } from '#developers/factors/second-factors.ts';
import {
  beginSecondStep,
  createSecondSteps,
  type PendingSignIn,
  type SecondSteps,
} from '#developers/sign-in/second-step.ts';
import {
  createSessionOpening,
  createSsoOpening,
  knownOf,
  type OpenSession,
  type SignInPlace,
} from '#developers/sessions/open-session.ts';
import { createSso, type Sso, type SsoOptions } from '#developers/sso/sso.ts';
import { type Account, accountOf, type SignedIn, type SignIn } from '#developers/sessions/session.ts';
import { ownersEntry } from '#audit/entry.ts';
import { countSignIn, insertAuditEntry } from '#audit/queries.ts';
import { type Attempt, type AttemptLimiter, createAttemptLimiter } from '#limits/attempt-limiter.ts';
import type { Throttle } from '#limits/throttle.ts';
import { createHashingLimit, type LimitHashing } from '#developers/sign-in/hashing-limit.ts';
import { inTransaction, type Pool } from '#db/pool/pool.ts';
import type { Clock } from '#kernel/time/clock.ts';
import { newAccountId } from '#kernel/values/ids.ts';
import type { Keys } from '#kernel/crypto/keys.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { createPasskeyChecks } from '#webauthn/passkey-checks.ts';

interface AccountsOptions {
  readonly pool: Pool;
  readonly throttle: Throttle;
  readonly clock: Clock;
  readonly keys: Keys;
  /** Passkeys are bound to its host name. */
  readonly publicUrl: string;
  readonly operatorName: string;
  readonly sendReset: SendReset;
  readonly sendVerification: SendVerification;
  readonly sendNews: SendNews;
  /** It is true in production: operators then need a second factor, and a code to add the first one. */
  readonly isSecondFactorRequired: boolean;
  readonly sendEnrolment?: SendEnrolment | undefined;
  /** The sign-in through a provider. It is undefined if nobody signs in that way. */
  readonly sso?: Pick<SsoOptions, 'client' | 'settings' | 'except'> | undefined;
}

interface NewRegistration {
  readonly email: string;
  readonly password: string;
  readonly name: string | undefined;
  readonly role: Role;
  /** The network address of the caller. */
  readonly from: string;
}

/** Accounts of app owners and operators: how they register, sign in and change passwords (CP-01, CP-06). */
export interface Accounts extends PasswordResets, EmailVerifications, SecondSteps, Proofs {
  readonly secondFactors: SecondFactors;
  /** The sign-in through an OpenID Connect provider. It is undefined when the settings name none. */
  readonly sso: Sso | undefined;
  /**
   * Creates an account and mails it a link that proves its e-mail. E-mails that differ only in case are the same. Limited by
   * network address, and more strictly when the e-mail already has an account, so that nobody can find out in bulk which do.
   */
  readonly register: (registration: NewRegistration) => Promise<Account | Refusal<'CONFLICT' | 'TOO_MANY_REQUESTS'>>;
  /** Signs in with a password. An account with a second factor gets a pending sign-in, which `finishSignIn` makes a session. */
  readonly signIn: (
    credentials: Credentials,
  ) => Promise<SignIn | PendingSignIn | Refusal<'UNAUTHORIZED' | 'TOO_MANY_REQUESTS'>>;
  /** Sets a new password and ends every other session. Returns the browser's new proof that it has signed in before. */
  readonly changePassword: (
    signedIn: SignedIn,
    change: { readonly currentPassword: string; readonly newPassword: string; readonly from: string },
  ) => Promise<Pick<SignIn, 'device'> | Refusal<'UNAUTHORIZED' | 'TOO_MANY_REQUESTS'>>;
}

/** What a person sends to sign in. A known browser has attempts of its own, see `createDevices`. */
interface Credentials extends SignInPlace {
  readonly email: string;
  readonly password: string;
}

/** Creates the account functions. `keys` name attempt buckets and sign known browsers, among others. */
export function createAccounts(options: AccountsOptions): Accounts {
  const { pool, throttle, clock, keys, publicUrl, operatorName, sendReset, sendVerification, sendNews, sso } = options;
  const attempts = createAttemptLimiter(throttle, keys.kept('account-tries'));
  const devices = createDevices(keys.proof('account-device'));
  const limitHashing = createHashingLimit();
  const checks = createPasskeyChecks({
    clock,
    keys: keys.proof('account-passkey-challenge'),
    publicUrl,
    operatorName,
  });
  const check = createFactorCheck({ clock, keys, checks, sendNews });
  const open = createSessionOpening({ clock, devices, sendNews });
  const isRight = createPasswordCheck(attempts, limitHashing);

  const parts: Parts = { ...options, attempts, devices, limitHashing, isRight };

  /** Checks the password of somebody who is signed in. */
  async function isOwnPassword({ account }: SignedIn, password: string) {
    const row = await selectAccountByEmail(pool, account.email);
    return isRight([{ kind: 'password', of: account.accountId }], password, knownOf(row)?.passwordHash);
  }

  return {
    register: createRegistration(parts),
    signIn: createSignIn(parts, open),
    changePassword: createPasswordChange(parts, isOwnPassword),
    ...createPasswordResets({ pool, clock, attempts, limitHashing, sendReset, sendNews, open }),
    ...createEmailVerifications({ pool, attempts, sendVerification }),
    ...createSecondSteps({ pool, clock, attempts, check, checks, open, sendNews }),
    ...createProofs({ pool, attempts, check, checks, isPassword: isOwnPassword }),
    secondFactors: createSecondFactors({ ...options, attempts, check, checks }),
    sso:
      sso &&
      createSso({
        ...sso,
        pool,
        clock,
        keys,
        attempts,
        sendNews,
        open: createSsoOpening({ clock, devices, sendNews }),
      }),
  };
}

/** What the functions below share. */
interface Parts extends Pick<AccountsOptions, 'pool' | 'clock' | 'sendVerification' | 'sendNews'> {
  readonly attempts: AttemptLimiter;
  readonly devices: Devices;
  readonly limitHashing: LimitHashing;
  readonly isRight: ReturnType<typeof createPasswordCheck>;
}

function createRegistration({ pool, attempts, limitHashing, sendVerification }: Parts): Accounts['register'] {
  return async ({ email, password, name, role, from }) => {
    const known = { kind: 'register-known', of: from } as const;
    const tooMany = await attempts.take([{ kind: 'register', of: from }, known]);
    if (tooMany !== undefined) return tooMany;
    // Hashed before the e-mail is looked up, so that a known e-mail is not answered faster than a new one.
    const passwordHash = await limitHashing(() => hashPassword(password));
    if (passwordHash instanceof Refusal) return passwordHash;
    const accountId = newAccountId();
    const account = { accountId, email: normalisedEmail(email), name, role, passwordHash, isVerified: false };
    const row = await inTransaction(pool, async (tx) => {
      const made = await insertAccount(tx, account);
      if (made === undefined) return undefined;
      const act = { action: 'account.register', subject: accountId };
      await insertAuditEntry(tx, ownersEntry({ accountId, email: made.email, from }, act));
      await mailVerification(tx, account, sendVerification);
      return made;
    });
    if (row === undefined) return refuse('CONFLICT', 'This e-mail already has an account.');
    await attempts.giveBack([known]);
    return accountOf(row);
  };
}

function createSignIn({ pool, clock, devices, isRight }: Parts, open: OpenSession): Accounts['signIn'] {
  return async ({ email, password, ...place }) => {
    const { from, device } = place;
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
    if (answer !== true || row === undefined || known === undefined) {
      const result = answer instanceof Refusal ? 'too_many_attempts' : 'wrong_password';
      await countSignIn(pool, { who: row?.account_id, result, from });
      return answer instanceof Refusal ? answer : wrongPassword();
    }
    const opened = row.has_second_factor
      ? await beginSecondStep({ pool, clock }, known, from)
      : await open(pool, row, place);
    return opened ?? wrongPassword(); // The password was changed while it was being checked.
  };
}

function createPasswordChange(
  { pool, devices, limitHashing, sendNews }: Parts,
  isOwnPassword: (signedIn: SignedIn, password: string) => ReturnType<Parts['isRight']>,
): Accounts['changePassword'] {
  return async (signedIn, { currentPassword, newPassword, from }) => {
    const { account, session } = signedIn;
    const { accountId, email } = account;
    const answer = await isOwnPassword(signedIn, currentPassword);
    if (answer instanceof Refusal) return answer;
    if (!answer) return refuse('UNAUTHORIZED', 'The current password is wrong.');
    const passwordHash = await limitHashing(() => hashPassword(newPassword));
    if (passwordHash instanceof Refusal) return passwordHash;
    await inTransaction(pool, async (tx) => {
      await updatePassword(tx, accountId, passwordHash);
      await deleteOtherSessions(tx, accountId, session.sessionId);
      await deletePendingSignIns(tx, accountId);
      const act = { action: 'account.password', subject: accountId };
      await insertAuditEntry(tx, ownersEntry({ accountId, email, from }, act));
      await sendNews(tx, email, { kind: 'password-changed' });
    });
    return { device: devices.issue({ accountId, passwordHash }) };
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

// One answer for unknown e-mails, wrong passwords and disabled accounts: it must not reveal which e-mails have accounts.
function wrongPassword(): Refusal<'UNAUTHORIZED'> {
  return refuse('UNAUTHORIZED', 'The e-mail or the password is wrong.');
}
