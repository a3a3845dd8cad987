import { lockOwnAccount } from '#developers/accounts/queries.ts';
import type { AccountNews, SendNews } from '#developers/accounts/news.ts';
import type { FactorCheck } from '#developers/factors/check.ts';
import { replaceRecoveryCodes, selectAccountPasskeys, selectFactors } from '#developers/factors/queries.ts';
import { deletePendingSignIns } from '#developers/sessions/pending-sign-in-queries.ts';
import { needsProof } from '#developers/sessions/fresh-proof.ts';
import { newRecoveryCode, RECOVERY_CODES } from '#developers/factors/recovery-code.ts';
import type { SignedIn } from '#developers/sessions/session.ts';
import { ownersEntry } from '#audit/entry.ts';
import { insertAuditEntry } from '#audit/queries.ts';
import { inTransaction, type Pool, type Queryable } from '#db/pool/pool.ts';
import type { AccountId } from '#kernel/values/ids.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';

/** A passkey as its holder sees it. */
interface AccountPasskey {
  readonly credentialId: string;
  readonly createdAtMs: number;
  /** The time when the passkey was last used. It is undefined if it was never used. */
  readonly lastUsedAtMs: number | undefined;
}

/** The second factors of an account. It has one when `authenticator` is set or `passkeys` is not empty. */
export interface SecondFactorState {
  readonly authenticator: { readonly createdAtMs: number; readonly lastUsedAtMs: number | undefined } | undefined;
  readonly passkeys: readonly AccountPasskey[];
  readonly recoveryCodesLeft: number;
}

/** The recovery codes, if this is the account's first second factor. They cannot be shown again. */
export interface Added {
  readonly recoveryCodes: readonly string[] | undefined;
}

/** Who changes their second factor, and from where. */
export interface Changer {
  readonly signedIn: SignedIn;
  readonly from: string;
}

export type NotProved = Refusal<'FORBIDDEN'>;

interface Change {
  readonly action: string;
  readonly news: Exclude<
    AccountNews['kind'],
    'signed-in' | 'recovery-code-used' | 'second-factor-guessed' | 'role-changed'
  >;
}

/**
 * Makes one change: with a fresh proof, alone on the account, in its trail and mailed. It ends the sign-ins that wait for a second
 * factor, because what they wait for has changed. A refusal changes nothing.
 */
export async function changing<Result>(
  { pool, sendNews }: { readonly pool: Pool; readonly sendNews: SendNews },
  { signedIn, from }: Changer,
  { action, news }: Change,
  make: (tx: Queryable, accountId: AccountId) => Promise<Result>,
): Promise<Result | NotProved> {
  if (signedIn.account.isSso) {
    return refuse('FORBIDDEN', 'This account signs in through a provider, which asks for the second factor.');
  }
  const notProved = needsProof(signedIn);
  if (notProved !== undefined) return notProved;
  const { accountId, email } = signedIn.account;
  return inTransaction(pool, async (tx) => {
    await lockOwnAccount(tx, accountId); // Two first factors at once would both make recovery codes, and one set would be void.
    const before = await readState(tx, accountId);
    const result = await make(tx, accountId);
    if (result instanceof Refusal) return result;
    const act = {
      action,
      subject: accountId,
      before: factsOf(before),
      after: factsOf(await readState(tx, accountId)),
    };
    await insertAuditEntry(tx, ownersEntry({ accountId, email, from }, act));
    await deletePendingSignIns(tx, accountId);
    await sendNews(tx, email, { kind: news });
    return result;
  });
}

export async function readState(db: Queryable, accountId: AccountId): Promise<SecondFactorState> {
  const row = await selectFactors(db, accountId);
  const passkeys = await selectAccountPasskeys(db, accountId);
  const { authenticator_created_at: createdAt, authenticator_last_used_at: lastUsedAt } = row;
  return {
    authenticator:
      createdAt === null ? undefined : { createdAtMs: createdAt.getTime(), lastUsedAtMs: lastUsedAt?.getTime() },
    passkeys: passkeys.map((passkey) => ({
      credentialId: passkey.credential_id,
      createdAtMs: passkey.created_at.getTime(),
      lastUsedAtMs: passkey.last_used_at?.getTime(),
    })),
    recoveryCodesLeft: row.recovery_codes,
  };
}

function factsOf({ authenticator, passkeys, recoveryCodesLeft }: SecondFactorState) {
  return { authenticator: authenticator !== undefined, passkeys: passkeys.length, recoveryCodes: recoveryCodesLeft };
}

export async function hasFactor(tx: Queryable, accountId: AccountId): Promise<boolean> {
  const { authenticator, passkeys } = await readState(tx, accountId);
  return authenticator !== undefined || passkeys.length > 0;
}

/** Makes recovery codes and stores their proofs. The codes are in this answer only. */
export async function makeCodes(tx: Queryable, check: FactorCheck, accountId: AccountId): Promise<readonly string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  const proofs = codes.map((code) => check.proofOf(accountId, code)).filter((proof) => proof !== undefined);
  await replaceRecoveryCodes(tx, accountId, proofs);
  return codes;
}
