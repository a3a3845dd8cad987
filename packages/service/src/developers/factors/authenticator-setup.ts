import type { createEnrolments } from '#developers/factors/enrolment.ts';
import {
  type Added,
  type Changer,
  changing,
  hasFactor,
  makeCodes,
  type NotProved,
  readState,
} from '#developers/factors/change.ts';
import type { FactorCheck } from '#developers/factors/check.ts';
import { deleteAuthenticator, deleteSpareCodes, insertAuthenticator } from '#developers/factors/queries.ts';
import { needsProof } from '#developers/sessions/fresh-proof.ts';
import { base32Of, newTotpSecret, otpauthUri, stepOfCode } from '#developers/factors/totp.ts';
import type { SendNews } from '#developers/accounts/news.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { Clock } from '#kernel/time/clock.ts';
import { seal } from '#kernel/crypto/crypto.ts';
import type { AccountId } from '#kernel/values/ids.ts';
import { type Keys, unsealAny } from '#kernel/crypto/keys.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/** What sets up an authenticator app. Nothing is stored until a code of the app comes back with `setupToken`. */
export interface AuthenticatorOffer {
  readonly secret: string;
  readonly otpauthUri: string;
  /** The secret, sealed for this account. Valid for half an hour. */
  readonly setupToken: string;
}

/** Adds and removes the authenticator app of an account. */
export interface AuthenticatorSetup {
  /**
   * Offers an authenticator app. `begun` is the `setupToken` of an offer whose code was mistyped; the same secret is
   * then offered again.
   */
  readonly offerAuthenticator: (
    by: Changer,
    begun?: string,
  ) => Promise<AuthenticatorOffer | NotProved | Refusal<'CONFLICT'>>;
  readonly addAuthenticator: (
    by: Changer,
    /** `enrolmentCode` is the code for an operator's first factor, see `Enrolments`. */
    setup: { readonly setupToken: string; readonly code: string; readonly enrolmentCode: string | undefined },
  ) => Promise<Added | NotProved | Refusal<'BAD_REQUEST' | 'CONFLICT' | 'TOO_MANY_REQUESTS'>>;
  readonly removeAuthenticator: (by: Changer) => Promise<NotProved | Refusal<'NOT_FOUND'> | undefined>;
}

export interface AuthenticatorSetupOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly keys: Keys;
  /** The name that authenticator apps show. */
  readonly operatorName: string;
  readonly check: FactorCheck;
  readonly sendNews: SendNews;
  readonly useCode: ReturnType<typeof createEnrolments>['useCode'];
  readonly withCode: ReturnType<typeof createEnrolments>['withCode'];
}

const SETUP_LIFETIME_MS = 30 * 60 * 1_000;
const SETUP_TOKEN = /^[A-Za-z0-9_-]{60,200}$/;

const SETUP = { param: 'setupToken' };
const WRONG_CODE =
  'This code is wrong. Type the six digits that the app shows now, and check that the clock of the phone is right.';

export function createAuthenticatorSetup(options: AuthenticatorSetupOptions): AuthenticatorSetup {
  const { pool, clock, operatorName, check } = options;
  const setupKeys = options.keys.proof('account-authenticator-setup');

  /** The secret of a token that was made for this account. Undefined when it is forged, altered or too old. */
  function secretOf(accountId: AccountId, setupToken: string): Buffer | undefined {
    if (!SETUP_TOKEN.test(setupToken)) return undefined;
    const text = unsealAny(setupKeys, contextOf(accountId), Buffer.from(setupToken, 'base64url'));
    const [expiry, secret = ''] = text?.split(' ') ?? [];
    return Number(expiry) > clock.nowMs() ? Buffer.from(secret, 'base64') : undefined;
  }

  return {
    offerAuthenticator: async ({ signedIn }, begun = '') => {
      const { accountId, email } = signedIn.account;
      const notProved = needsProof(signedIn);
      if (notProved !== undefined) return notProved;
      if ((await readState(pool, accountId)).authenticator !== undefined) return hasAuthenticator();
      const secret = secretOf(accountId, begun) ?? newTotpSecret();
      const text = `${clock.nowMs() + SETUP_LIFETIME_MS} ${secret.toString('base64')}`;
      const setupToken = seal(setupKeys[0], contextOf(accountId), text).toString('base64url');
      const written = base32Of(secret);
      return { secret: written, otpauthUri: otpauthUri(written, { issuer: operatorName, email }), setupToken };
    },
    addAuthenticator: (by, { setupToken, code, enrolmentCode }) =>
      options.withCode(by.signedIn.account.accountId, enrolmentCode, () =>
        changing(
          options,
          by,
          { action: 'account.authenticator', news: 'authenticator-added' },
          async (tx, accountId) => {
            const secret = secretOf(accountId, setupToken);
            if (secret === undefined) return refuse('BAD_REQUEST', 'This setup has expired. Begin again.', SETUP);
            const step = stepOfCode(secret, code.replace(/\s/g, ''), clock.nowMs());
            if (step === undefined) return refuse('BAD_REQUEST', WRONG_CODE, { param: 'code' });
            const isFirst = !(await hasFactor(tx, accountId));
            const refused = isFirst ? await options.useCode(tx, accountId, enrolmentCode) : undefined;
            if (refused !== undefined) return refused;
            const sealed = check.sealSecret(accountId, secret);
            if (!(await insertAuthenticator(tx, { accountId, secret: sealed, step }))) return hasAuthenticator();
            return { recoveryCodes: isFirst ? await makeCodes(tx, check, accountId) : undefined };
          },
        ),
      ),
    removeAuthenticator: (by) =>
      changing(
        options,
        by,
        { action: 'account.authenticator-remove', news: 'authenticator-removed' },
        async (tx, accountId) => {
          if (!(await deleteAuthenticator(tx, accountId))) return refuse('NOT_FOUND', 'You have no authenticator app.');
          await deleteSpareCodes(tx, accountId);
          return undefined;
        },
      ),
  };
}

function hasAuthenticator(): Refusal<'CONFLICT'> {
  return refuse('CONFLICT', 'This account has an authenticator app. Remove it first, then add another.');
}

function contextOf(accountId: AccountId): Buffer {
  return Buffer.from(accountId);
}
