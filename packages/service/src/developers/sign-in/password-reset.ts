import { deleteOtherSessions } from '#developers/sessions/queries.ts';
import { selectAccountByEmail, updatePassword } from '#developers/accounts/queries.ts';
import { selectResetAccount, takeReset, upsertReset } from '#developers/sign-in/queries.ts';
import { ownersEntry } from '#audit/entry.ts';
import { countSignIn, insertAuditEntry } from '#audit/queries.ts';
import { normalisedEmail } from '#developers/accounts/email.ts';
import { hashPassword } from '#developers/sign-in/password.ts';
import type { SendNews } from '#developers/accounts/news.ts';
import { deletePendingSignIns } from '#developers/sessions/pending-sign-in-queries.ts';
import { beginSecondStep, type PendingSignIn } from '#developers/sign-in/second-step.ts';
import { knownOf, type OpenSession, type SignInPlace } from '#developers/sessions/open-session.ts';
import type { SignIn } from '#developers/sessions/session.ts';
import { updateVerified } from '#developers/accounts/queries.ts';
import type { AttemptLimiter } from '#limits/attempt-limiter.ts';
import type { LimitHashing } from '#developers/sign-in/hashing-limit.ts';
import { inTransaction, type Pool } from '#db/pool/pool.ts';
import type { Clock } from '#kernel/time/clock.ts';
import { sha256 } from '#kernel/crypto/crypto.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';

/** Sets a new password by mail, for people who do not know the current one. */
export interface PasswordResets {
  /** Refuses when this network address has requested too many resets. */
  readonly admitReset: (from: string) => Promise<Refusal<'TOO_MANY_REQUESTS'> | undefined>;
  /**
   * Mails a token when the e-mail has an account, and does nothing when it has none. Answer the request before this ends:
   * it takes longer when there is an account, and a caller who waits for it could tell.
   */
  readonly requestReset: (email: string) => Promise<void>;
  /**
   * Sets a new password by a token that works once. Ends every session of the account and opens a new one, which also lets
   * in an owner whose sign-ins are blocked because a stranger has used up the attempts. The mail stands for the password and for
   * nothing else: an account with a second factor gets a pending sign-in. It proves the e-mail, too.
   */
  readonly resetPassword: (
    token: string,
    password: string,
    place: SignInPlace,
  ) => Promise<SignIn | PendingSignIn | Refusal<'BAD_REQUEST' | 'TOO_MANY_REQUESTS'>>;
}

/** Mails the link with which a person sets a new password. */
export type SendReset = (email: string, token: string) => Promise<void>;

interface ResetsOptions {
  readonly pool: Pool;
  readonly attempts: AttemptLimiter;
  readonly clock: Clock;
  readonly limitHashing: LimitHashing;
  readonly sendReset: SendReset;
  readonly sendNews: SendNews;
  readonly open: OpenSession;
}

const LIFETIME_MS = 60 * 60 * 1_000;
const TOKEN_LENGTH = 43; // 256 bits.

export function createPasswordResets({
  pool,
  clock,
  attempts,
  limitHashing,
  sendReset,
  sendNews,
  open,
}: ResetsOptions): PasswordResets {
  return {
    admitReset: (from) => attempts.take([{ kind: 'reset-from', of: from }]),
    requestReset: async (email) => {
      const address = normalisedEmail(email);
      if ((await attempts.take([{ kind: 'reset', of: address }])) !== undefined) return;
      const row = await selectAccountByEmail(pool, address);
      if (row === undefined || row.is_sso) return; // The provider alone says who such an account is.
      const token = randomBase62(TOKEN_LENGTH);
      await upsertReset(pool, { accountId: row.account_id, digest: sha256(token), lifetimeMs: LIFETIME_MS });
      await sendReset(row.email, token);
    },
    resetPassword: async (token, password, place) => {
      const { from } = place;
      const digest = sha256(token);
      // Looked up before the password is hashed: a made-up token must not cost an argon2 run.
      if ((await selectResetAccount(pool, digest)) === undefined) return voidReset();
      const passwordHash = await limitHashing(() => hashPassword(password));
      if (passwordHash instanceof Refusal) return passwordHash;
      const row = await inTransaction(pool, async (tx) => {
        const accountId = await takeReset(tx, digest);
        if (accountId === undefined) return undefined;
        await updateVerified(tx, accountId); // The mail has reached its owner.
        const changed = await updatePassword(tx, accountId, passwordHash);
        await deleteOtherSessions(tx, accountId, undefined);
        await deletePendingSignIns(tx, accountId);
        if (changed !== undefined) {
          const act = { action: 'account.password-reset', subject: accountId };
          await insertAuditEntry(tx, ownersEntry({ accountId, email: changed.email, from }, act));
          await countSignIn(tx, { who: accountId, result: 'password_reset', from });
          await sendNews(tx, changed.email, { kind: 'password-changed' });
        }
        return changed;
      });
      const known = knownOf(row);
      if (row === undefined || known === undefined) return voidReset();
      const opened = row.has_second_factor
        ? await beginSecondStep({ pool, clock }, known, from)
        : await open(pool, row, { ...place, isTold: true });
      return opened ?? voidReset(); // Another reset changed the password in between.
    },
  };
}

/** One answer for unknown, used and expired tokens: which of them it is helps only an attacker. */
function voidReset(): Refusal<'BAD_REQUEST'> {
  return refuse(
    'BAD_REQUEST',
    'This password reset is not valid. It has expired or was already used. Request a new one.',
    {
      param: 'token',
    },
  );
}
