import { takeVerification, upsertVerification } from '#developers/sign-in/queries.ts';
import { isVerified, updateVerified } from '#developers/accounts/queries.ts';
import { ownersEntry } from '#audit/entry.ts';
import { insertAuditEntry } from '#audit/queries.ts';
import { inTransaction, type Pool, type Queryable } from '#db/pool/pool.ts';
import { sha256 } from '#kernel/crypto/crypto.ts';
import type { AccountId } from '#kernel/values/ids.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { AttemptLimiter } from '#limits/attempt-limiter.ts';

/** Whose e-mail is to be proven. */
interface Addressed {
  readonly accountId: AccountId;
  readonly email: string;
}

/** Mails the link with which a person proves that an account's e-mail is theirs. */
export type SendVerification = (tx: Queryable, email: string, token: string) => Promise<void>;

/** Accounts prove their e-mail. Without that they use the sandbox, and get no live key. */
export interface EmailVerifications {
  /** Mails a new link. The one before stops working. Refused when the e-mail is proven, or too many were mailed. */
  readonly sendVerification: (account: Addressed) => Promise<Refusal<'CONFLICT' | 'TOO_MANY_REQUESTS'> | undefined>;
  /**
   * Proves the e-mail with the token from the mail, once. Only the account that the mail is for may use it: otherwise a stranger
   * could register somebody else's address, and have its owner open the link.
   */
  readonly verifyEmail: (
    account: Addressed,
    token: string,
    from: string,
  ) => Promise<Refusal<'BAD_REQUEST'> | undefined>;
}

interface VerificationOptions {
  readonly pool: Pool;
  readonly attempts: AttemptLimiter;
  readonly sendVerification: SendVerification;
}

const LIFETIME_MS = 3 * 24 * 60 * 60 * 1_000; // People register on Friday and read mail on Monday.
const TOKEN_LENGTH = 43; // 256 bits.

export function createEmailVerifications({
  pool,
  attempts,
  sendVerification,
}: VerificationOptions): EmailVerifications {
  return {
    sendVerification: async (account) => {
      if (await isVerified(pool, account.accountId)) return refuse('CONFLICT', 'This e-mail is verified already.');
      const tooMany = await attempts.take([{ kind: 'verification', of: account.accountId }]);
      if (tooMany !== undefined) return tooMany;
      await inTransaction(pool, (tx) => mailVerification(tx, account, sendVerification));
      return undefined;
    },
    verifyEmail: ({ accountId, email }, token, from) =>
      inTransaction(pool, async (tx) => {
        if (!(await takeVerification(tx, accountId, sha256(token)))) return voidToken();
        if (await updateVerified(tx, accountId)) {
          const act = { action: 'account.verify', subject: accountId };
          await insertAuditEntry(tx, ownersEntry({ accountId, email, from }, act));
        }
        return undefined;
      }),
  };
}

/** Makes the token of an account and mails it. */
export async function mailVerification(
  tx: Queryable,
  { accountId, email }: Addressed,
  send: SendVerification,
): Promise<void> {
  const token = randomBase62(TOKEN_LENGTH);
  await upsertVerification(tx, { accountId, digest: sha256(token), lifetimeMs: LIFETIME_MS });
  await send(tx, email, token);
}

/** Refuses what an account may not do before its e-mail is proven. */
export async function needsVerifiedEmail(
  db: Queryable,
  accountId: AccountId,
): Promise<Refusal<'FORBIDDEN'> | undefined> {
  if (await isVerified(db, accountId)) return undefined;
  return refuse(
    'FORBIDDEN',
    'Verify your e-mail first: open the link that we have mailed you. Until then you can use the sandbox. Your account page and `POST /email-verifications` send the mail again.',
  );
}

/** One answer for unknown, used and expired tokens, and those of another account. */
function voidToken(): Refusal<'BAD_REQUEST'> {
  return refuse(
    'BAD_REQUEST',
    'This link does not verify the e-mail of this account. It has expired, was used, or belongs to another account. Ask for a new one.',
    { param: 'token' },
  );
}
