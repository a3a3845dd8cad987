import {
  deleteOtherSessions,
  selectAccountByEmail,
  selectResetAccount,
  takeReset,
  updatePassword,
  upsertReset,
} from '#accounts/account-queries.ts';
import type { Devices } from '#accounts/device.ts';
import { normalisedEmail } from '#accounts/email.ts';
import { hashPassword } from '#accounts/password.ts';
import { accountOf, openSession, type SignIn } from '#accounts/session.ts';
import type { AttemptLimiter } from '#limits/attempt-limiter.ts';
import type { LimitHashing } from '#accounts/hashing-limit.ts';
import { inTransaction, type Pool } from '#db/pool.ts';
import { sha256 } from '#kernel/crypto.ts';
import { randomBase62 } from '#kernel/random.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';

/** A new password by mail, for who does not know the present one. */
export interface PasswordResets {
  /** Whether this address may ask for one more reset. */
  readonly admitReset: (from: string) => Promise<Refusal<'TOO_MANY_REQUESTS'> | undefined>;
  /**
   * Sends a token to the e-mail where it has an account, and does nothing where it has none. Nobody who asks may wait
   * for it: it takes longer where there is one.
   */
  readonly requestReset: (email: string) => Promise<void>;
  /**
   * Sets a new password by a token, once, ends every session of the account and opens one: somebody who guesses keeps
   * the owner out of signing in, but not out of this.
   */
  readonly resetPassword: (
    token: string,
    password: string,
  ) => Promise<SignIn | Refusal<'BAD_REQUEST' | 'TOO_MANY_REQUESTS'>>;
}

/** Tells a person by mail how to set a new password. */
export type SendReset = (email: string, token: string) => Promise<void>;

interface ResetsOptions {
  readonly pool: Pool;
  readonly attempts: AttemptLimiter;
  readonly devices: Devices;
  readonly limitHashing: LimitHashing;
  readonly sendReset: SendReset;
}

const LIFETIME_MS = 60 * 60 * 1_000;
const TOKEN_LENGTH = 43; // 256 bits.

export function createPasswordResets({
  pool,
  attempts,
  devices,
  limitHashing,
  sendReset,
}: ResetsOptions): PasswordResets {
  return {
    admitReset: (from) => attempts.take([{ kind: 'reset-from', of: from }]),
    requestReset: async (email) => {
      const address = normalisedEmail(email);
      if ((await attempts.take([{ kind: 'reset', of: address }])) !== undefined) return;
      const row = await selectAccountByEmail(pool, address);
      if (row === undefined) return;
      const token = randomBase62(TOKEN_LENGTH);
      await upsertReset(pool, { accountId: row.account_id, digest: sha256(token), lifetimeMs: LIFETIME_MS });
      await sendReset(row.email, token);
    },
    resetPassword: async (token, password) => {
      const digest = sha256(token);
      if ((await selectResetAccount(pool, digest)) === undefined) return voidReset(); // No work for a made-up token.
      const passwordHash = await limitHashing(() => hashPassword(password));
      if (passwordHash instanceof Refusal) return passwordHash;
      const row = await inTransaction(pool, async (tx) => {
        const accountId = await takeReset(tx, digest);
        if (accountId === undefined) return undefined;
        const changed = await updatePassword(tx, accountId, passwordHash);
        await deleteOtherSessions(tx, accountId, undefined);
        return changed;
      });
      if (row === undefined) return voidReset();
      const known = { accountId: row.account_id, passwordHash };
      const opened = await openSession(pool, known);
      if (opened === undefined) return voidReset(); // Another reset came in between.
      return { account: accountOf(row), device: devices.issue(known), ...opened };
    },
  };
}

function voidReset(): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', 'This reset has expired, was used or never was. Ask for a new one.', {
    param: 'token',
  });
}
