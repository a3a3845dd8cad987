import { selectAccountByEmail, selectAccountById } from '#developers/accounts/queries.ts';
import { normalisedEmail } from '#developers/accounts/email.ts';
import type { Changer } from '#developers/factors/change.ts';
import { takeEnrolment, upsertEnrolment } from '#developers/factors/queries.ts';
import { needsProof } from '#developers/sessions/fresh-proof.ts';
import { newRecoveryCode, proofOfRecoveryCode } from '#developers/factors/recovery-code.ts';
import { type Account, accountOf } from '#developers/sessions/session.ts';
import { ownersEntry } from '#audit/entry.ts';
import { insertAuditEntry } from '#audit/queries.ts';
import { inTransaction, type Pool, type Queryable } from '#db/pool/pool.ts';
import type { AccountId } from '#kernel/values/ids.ts';
import type { Keys, ProofKeys } from '#kernel/crypto/keys.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { AttemptLimiter } from '#limits/attempt-limiter.ts';

/** Mails the code with which an operator adds their first second factor. */
export type SendEnrolment = (tx: Queryable, email: string, code: string) => Promise<void>;

/**
 * The first second factor of an operator takes a code that was mailed to them, or printed on the machine (CP-06). Otherwise a person
 * who knows the password alone could add a factor of their own, and be the operator.
 */
export interface Enrolments {
  /** Whether an account needs a code for its first factor. Accounts that have a factor need none. */
  readonly isCodeNeeded: (account: Account) => boolean;
  /** Mails a new code, good for an hour. The one before stops working. */
  readonly sendEnrolmentCode: (
    by: Changer,
  ) => Promise<Refusal<'CONFLICT' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS'> | undefined>;
}

export interface EnrolmentOptions {
  readonly pool: Pool;
  readonly keys: Keys;
  readonly attempts: AttemptLimiter;
  /** It is true in production, where operators need a second factor. */
  readonly isSecondFactorRequired: boolean;
  /** Sends an enrolment code by mail. It is undefined if the service cannot send mail. */
  readonly sendEnrolment?: SendEnrolment | undefined;
}

const MAILED_MS = 60 * 60 * 1_000;
const PRINTED_MS = 24 * 60 * 60 * 1_000;
const PARAM = { param: 'enrolmentCode' };

export function createEnrolments({
  pool,
  keys,
  attempts,
  isSecondFactorRequired,
  sendEnrolment,
}: EnrolmentOptions): Enrolments & {
  /** Does what takes a code, unless too many wrong ones were typed for this account. Counts the code before it is looked at. */
  readonly withCode: <Result>(
    accountId: AccountId,
    code: string | undefined,
    work: () => Promise<Result>,
  ) => Promise<Result | Refusal<'TOO_MANY_REQUESTS'>>;
  /** Refuses a first factor without the code, and uses the code up. Call it in the transaction that adds the factor. */
  readonly useCode: (
    tx: Queryable,
    accountId: AccountId,
    code: string | undefined,
  ) => Promise<Refusal<'BAD_REQUEST'> | undefined>;
} {
  const codeKeys = enrolmentKeys(keys.proof);
  // The provider answers for the accounts that sign in through it.
  const isOperator = ({ role, isSso }: Pick<Account, 'role' | 'isSso'>) =>
    isSecondFactorRequired && role === 'operator' && !isSso;
  return {
    isCodeNeeded: (account) => isOperator(account) && !account.hasSecondFactor,
    sendEnrolmentCode: async ({ signedIn, from }) => {
      const { account } = signedIn;
      const notProved = needsProof(signedIn);
      if (notProved !== undefined) return notProved;
      if (!isOperator(account) || account.hasSecondFactor) {
        return refuse('CONFLICT', 'This account needs no code: add a passkey or an authenticator app.');
      }
      if (sendEnrolment === undefined) {
        return refuse('CONFLICT', `This service sends no mail. ${printed(account.email)}`);
      }
      const tooMany = await attempts.take([{ kind: 'verification', of: account.accountId }]);
      if (tooMany !== undefined) return tooMany;
      await inTransaction(pool, async (tx) => {
        const code = await makeCode(tx, codeKeys, account.accountId, MAILED_MS);
        const act = { action: 'account.enrolment-code', subject: account.accountId };
        await insertAuditEntry(tx, ownersEntry({ ...account, from }, act));
        await sendEnrolment(tx, account.email, code);
      });
      return undefined;
    },
    withCode: (accountId, code, work) => countingGuesses(attempts, accountId, code, work),
    useCode: async (tx, accountId, code) => {
      const row = await selectAccountById(tx, accountId); // The role as it is now: the session may have read another.
      if (row === undefined || !isOperator(accountOf(row))) return undefined;
      for (const key of codeKeys) {
        const proof = code === undefined ? undefined : proofOfRecoveryCode(key, accountId, code);
        if (proof !== undefined && (await takeEnrolment(tx, accountId, proof))) return undefined;
      }
      const what =
        code === undefined || code === '' ? 'needs a code' : 'needs another code: this one is wrong, used or expired';
      return refuse(
        'BAD_REQUEST',
        `The first second factor of an operator ${what}. \`POST /accounts/current/second-factor/code\` and the button on your page mail one. Without mail, the person who owns the machine makes one with \`npm run purser -- operator enrol --email ${row.email}\`.`,
        PARAM,
      );
    },
  };
}

async function countingGuesses<Result>(
  attempts: AttemptLimiter,
  accountId: AccountId,
  code: string | undefined,
  work: () => Promise<Result>,
): Promise<Result | Refusal<'TOO_MANY_REQUESTS'>> {
  if (code === undefined || code === '') return work();
  const used = [{ kind: 'enrolment-code', of: accountId }] as const;
  const tooMany = await attempts.take(used);
  if (tooMany !== undefined) return tooMany;
  const done = await work();
  if (!(done instanceof Refusal)) await attempts.giveBack(used);
  return done;
}

/**
 * Makes the code of an operator without a second factor, for the person who owns the machine. Good for 24 hours. Undefined if there
 * is no such operator, or if they have a factor.
 */
export async function makeEnrolmentCode(pool: Pool, keys: ProofKeys, email: string): Promise<string | undefined> {
  return inTransaction(pool, async (tx) => {
    const row = await selectAccountByEmail(tx, normalisedEmail(email));
    if (row === undefined || row.role !== 'operator' || row.has_second_factor) return undefined;
    const code = await makeCode(tx, keys, row.account_id, PRINTED_MS);
    const act = { action: 'account.enrolment-code', subject: row.account_id, reason: undefined };
    await insertAuditEntry(tx, { actor: 'command-line', ...act });
    return code;
  });
}

/** Makes a code of 50 bits. The attempt limiter leaves a guesser 300 tries a day. */
async function makeCode(tx: Queryable, [key]: ProofKeys, accountId: AccountId, lifetimeMs: number): Promise<string> {
  const code = newRecoveryCode();
  const proof = proofOfRecoveryCode(key, accountId, code);
  if (proof === undefined) throw new Error('A new code is well-formed.');
  await upsertEnrolment(tx, { accountId, proof, lifetimeMs });
  return code;
}

/** The keys under which the codes are stored. */
export function enrolmentKeys(proof: Keys['proof']): ProofKeys {
  return proof('account-enrolment');
}

function printed(email: string): string {
  return `The person who owns the machine makes a code with \`npm run purser -- operator enrol --email ${email}\`.`;
}
