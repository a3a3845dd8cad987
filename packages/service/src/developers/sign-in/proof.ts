import { readState } from '#developers/factors/change.ts';
import { type FactorCheck, type Shown, WRONG_FACTOR } from '#developers/factors/check.ts';
import { updateProvedAt } from '#developers/sessions/pending-sign-in-queries.ts';
import type { SignedIn } from '#developers/sessions/session.ts';
import { inTransaction, type Pool } from '#db/pool/pool.ts';
import type { AccountId } from '#kernel/values/ids.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { AttemptLimiter } from '#limits/attempt-limiter.ts';
import type { PasskeyChecks } from '#webauthn/passkey-checks.ts';

/** Shows again who one is, so that the session may change the account for ten minutes. */
export interface Proofs {
  /** The options for a passkey of this account. Undefined when it has none. */
  readonly passkeyProofOptions: (
    accountId: AccountId,
  ) => Promise<ReturnType<PasskeyChecks['optionsToUse']> | undefined>;
  /** Proves who one is by a passkey, or by the password and, if there is a second factor, a code. */
  readonly prove: (
    signedIn: SignedIn,
    given: ({ readonly password: string; readonly code: string | undefined } | { readonly credential: string }) & {
      readonly from: string;
    },
  ) => Promise<Refusal<'UNAUTHORIZED' | 'TOO_MANY_REQUESTS'> | undefined>;
}

interface ProofOptions {
  readonly pool: Pool;
  readonly attempts: AttemptLimiter;
  readonly check: FactorCheck;
  readonly checks: PasskeyChecks;
  /** Checks the password of an account. A wrong one uses up the attempts of the account. */
  readonly isPassword: (signedIn: SignedIn, password: string) => Promise<boolean | Refusal<'TOO_MANY_REQUESTS'>>;
}

export function createProofs({ pool, attempts, check, checks, isPassword }: ProofOptions): Proofs {
  return {
    passkeyProofOptions: async (accountId) => {
      const { passkeys } = await readState(pool, accountId);
      const allowed = passkeys.map(({ credentialId }) => credentialId);
      return allowed.length === 0 ? undefined : checks.optionsToUse(purposeOf(accountId), allowed);
    },
    prove: async (signedIn, { from, ...given }) => {
      const { account, session } = signedIn;
      if (account.isSso) return refuse('UNAUTHORIZED', 'This account has no password. Open `/account/prove` instead.');
      const used = [{ kind: 'second-factor', of: account.accountId }] as const;
      let shown: Shown | undefined;
      if ('credential' in given) shown = { credential: given.credential, purpose: purposeOf(account.accountId) };
      else {
        const answer = await isPassword(signedIn, given.password);
        if (typeof answer !== 'boolean') return answer;
        if (!answer) return refuse('UNAUTHORIZED', 'The password is wrong.', { param: 'password' });
        if (account.hasSecondFactor) shown = { code: given.code ?? '' };
      }
      const tooMany = shown && (await attempts.take(used));
      if (tooMany !== undefined) return tooMany;
      const isProved = await inTransaction(pool, async (tx) => {
        if (shown !== undefined && !(await check.isRight(tx, account, shown, from))) return false;
        await updateProvedAt(tx, session.sessionId);
        return true;
      });
      if (!isProved) return refuse('UNAUTHORIZED', WRONG_FACTOR, { param: 'code' });
      if (shown !== undefined) await attempts.giveBack(used);
      return undefined;
    },
  };
}

function purposeOf(accountId: AccountId): string {
  return `prove ${accountId}`;
}
