import type { SendNews } from '#developers/accounts/news.ts';
import { openAuthenticator, sealAuthenticator } from '#developers/factors/authenticator-secret.ts';
import {
  advanceAccountPasskey,
  answerAccountChallenge,
  selectAccountPasskey,
  selectAuthenticatorSecret,
  selectFactors,
  takeRecoveryCode,
  takeStep,
} from '#developers/factors/queries.ts';
import { proofOfRecoveryCode } from '#developers/factors/recovery-code.ts';
import { stepOfCode } from '#developers/factors/totp.ts';
import { ownersEntry } from '#audit/entry.ts';
import { insertAuditEntry } from '#audit/queries.ts';
import type { Queryable } from '#db/pool/pool.ts';
import type { Clock } from '#kernel/time/clock.ts';
import type { AccountId } from '#kernel/values/ids.ts';
import type { Keys } from '#kernel/crypto/keys.ts';
import type { PasskeyChecks } from '#webauthn/passkey-checks.ts';

/** What a person shows as their second factor: a code of their app or a recovery code, or what their passkey signed. */
export type Shown = { readonly code: string } | { readonly credential: string; readonly purpose: string };

/** What a wrong second factor is answered. */
export const WRONG_FACTOR =
  'This is not your second factor, or its code was used before. Use the code that your app shows now, or a recovery code.';

interface Holder {
  readonly accountId: AccountId;
  readonly email: string;
}

/** Judges second factors, and uses up what was right: a code works once, and so does a challenge. */
export interface FactorCheck {
  /** Tells whether the factor is right. Call it in the transaction of what the factor is shown for. */
  readonly isRight: (tx: Queryable, holder: Holder, shown: Shown, from: string) => Promise<boolean>;
  /** The account of a passkey that signed a challenge of this purpose. Undefined when it is not right. */
  readonly holderOf: (tx: Queryable, credential: string, purpose: string) => Promise<AccountId | undefined>;
  readonly sealSecret: (accountId: AccountId, secret: Buffer) => Buffer;
  readonly proofOf: (accountId: AccountId, code: string) => Buffer | undefined;
}

interface FactorCheckOptions {
  readonly clock: Clock;
  readonly keys: Keys;
  readonly checks: PasskeyChecks;
  readonly sendNews: SendNews;
}

export function createFactorCheck({ clock, keys, checks, sendNews }: FactorCheckOptions): FactorCheck {
  const sealKey = keys.kept('account-authenticator');
  const codeKey = keys.kept('account-recovery-code');
  const proofOf: FactorCheck['proofOf'] = (accountId, code) => proofOfRecoveryCode(codeKey, accountId, code);

  async function isCodeOfApp(tx: Queryable, accountId: AccountId, code: string): Promise<boolean> {
    const sealed = await selectAuthenticatorSecret(tx, accountId);
    if (sealed === undefined) return false;
    const appSecret = openAuthenticator(sealKey, accountId, sealed);
    const step = appSecret && stepOfCode(appSecret, code, clock.nowMs());
    return step !== undefined && takeStep(tx, accountId, step);
  }

  async function isRecoveryCode(tx: Queryable, holder: Holder, code: string, from: string): Promise<boolean> {
    const proof = proofOf(holder.accountId, code);
    if (proof === undefined || !(await takeRecoveryCode(tx, holder.accountId, proof))) return false;
    const { recovery_codes: left } = await selectFactors(tx, holder.accountId);
    const act = { action: 'account.recovery-code', subject: holder.accountId, after: { recoveryCodesLeft: left } };
    await insertAuditEntry(tx, ownersEntry({ ...holder, from }, act));
    await sendNews(tx, holder.email, { kind: 'recovery-code-used', left });
    return true;
  }

  async function holderOf(tx: Queryable, text: string, purpose: string): Promise<AccountId | undefined> {
    const credential = checks.read(text);
    const row = credential && (await selectAccountPasskey(tx, credential.id));
    if (row === undefined || credential === undefined) return undefined;
    const used = await checks.used(purpose, credential, {
      credentialId: row.credential_id,
      holderId: row.account_id,
      publicKey: row.public_key,
      signCount: row.sign_count,
    });
    if (used === undefined || !(await answerAccountChallenge(tx, used.challenge))) return undefined;
    return (await advanceAccountPasskey(tx, row.credential_id, used.signCount)) ? row.account_id : undefined;
  }

  return {
    isRight: async (tx, holder, shown, from) => {
      if ('credential' in shown) return (await holderOf(tx, shown.credential, shown.purpose)) === holder.accountId;
      const code = shown.code.replace(/\s/g, '');
      return (await isCodeOfApp(tx, holder.accountId, code)) || isRecoveryCode(tx, holder, code, from);
    },
    holderOf,
    sealSecret: (accountId, plain) => sealAuthenticator(sealKey, accountId, plain),
    proofOf,
  };
}
