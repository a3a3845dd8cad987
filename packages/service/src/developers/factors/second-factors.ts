import {
  type AuthenticatorSetup,
  type AuthenticatorSetupOptions,
  createAuthenticatorSetup,
} from '#developers/factors/authenticator-setup.ts';
import { createEnrolments, type EnrolmentOptions, type Enrolments } from '#developers/factors/enrolment.ts';
import {
  type Changer,
  changing,
  hasFactor,
  makeCodes,
  type NotProved,
  readState,
  type SecondFactorState,
} from '#developers/factors/change.ts';
import { createPasskeySetup, type PasskeySetup, type PasskeySetupOptions } from '#developers/factors/passkey-setup.ts';
import type { AccountId } from '#kernel/values/ids.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/** The second factors of an account (CP-06). Every change needs a fresh proof, is in the account's trail, and is mailed. */
export interface SecondFactors extends AuthenticatorSetup, PasskeySetup, Enrolments {
  /** It is false when the service is reached by an IP address. */
  readonly isPasskeyPossible: boolean;
  readonly state: (accountId: AccountId) => Promise<SecondFactorState>;
  /** Makes ten new recovery codes. The old ones stop working. */
  readonly newRecoveryCodes: (
    by: Changer,
  ) => Promise<{ readonly recoveryCodes: readonly string[] } | NotProved | Refusal<'CONFLICT'>>;
}

type SecondFactorOptions = Omit<AuthenticatorSetupOptions & PasskeySetupOptions, 'useCode' | 'withCode'> &
  EnrolmentOptions;

export function createSecondFactors(given: SecondFactorOptions): SecondFactors {
  const { useCode, withCode, ...enrolments } = createEnrolments(given);
  const options = { ...given, useCode, withCode };
  return {
    ...enrolments,
    isPasskeyPossible: options.checks.isPossible,
    state: (accountId) => readState(options.pool, accountId),
    ...createAuthenticatorSetup(options),
    ...createPasskeySetup(options),
    newRecoveryCodes: (by) =>
      changing(
        options,
        by,
        { action: 'account.recovery-codes', news: 'recovery-codes-made' },
        async (tx, accountId) => {
          if (!(await hasFactor(tx, accountId))) {
            return refuse(
              'CONFLICT',
              'This account has no second factor. Add one first; it comes with recovery codes.',
            );
          }
          return { recoveryCodes: await makeCodes(tx, options.check, accountId) };
        },
      ),
  };
}
