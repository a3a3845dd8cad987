import type { createEnrolments } from '#developers/factors/enrolment.ts';
import {
  type Added,
  type Changer,
  changing,
  hasFactor,
  makeCodes,
  type NotProved,
} from '#developers/factors/change.ts';
import type { FactorCheck } from '#developers/factors/check.ts';
import {
  answerAccountChallenge,
  deleteAccountPasskey,
  deleteSpareCodes,
  insertAccountPasskey,
  selectAccountPasskeys,
} from '#developers/factors/queries.ts';
import { needsProof } from '#developers/sessions/fresh-proof.ts';
import type { SendNews } from '#developers/accounts/news.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { AccountId } from '#kernel/values/ids.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { type PasskeyChecks, PASSKEYS_MAX } from '#webauthn/passkey-checks.ts';

/** Adds and removes passkeys of an account. */
export interface PasskeySetup {
  readonly passkeyOptions: (by: Changer) => Promise<ReturnType<PasskeyChecks['optionsToAdd']>>;
  readonly addPasskey: (
    by: Changer,
    credential: string,
    enrolmentCode: string | undefined,
  ) => Promise<Added | NotProved | Refusal<'BAD_REQUEST' | 'TOO_MANY_REQUESTS'>>;
  readonly removePasskey: (by: Changer, credentialId: string) => Promise<NotProved | Refusal<'NOT_FOUND'> | undefined>;
}

export interface PasskeySetupOptions {
  readonly pool: Pool;
  readonly check: FactorCheck;
  readonly checks: PasskeyChecks;
  readonly sendNews: SendNews;
  readonly useCode: ReturnType<typeof createEnrolments>['useCode'];
  readonly withCode: ReturnType<typeof createEnrolments>['withCode'];
}

export function createPasskeySetup(options: PasskeySetupOptions): PasskeySetup {
  const { pool, checks, check } = options;
  return {
    passkeyOptions: async ({ signedIn: { account } }) => {
      const others = await selectAccountPasskeys(pool, account.accountId);
      const holder = { id: account.accountId, name: account.email, displayName: `${account.email} (account)` };
      return checks.optionsToAdd(
        purposeOf(account.accountId),
        holder,
        others.map((row) => row.credential_id),
      );
    },
    addPasskey: async (by, credential, enrolmentCode) => {
      const notProved = needsProof(by.signedIn);
      if (notProved !== undefined) return notProved;
      const made = await checks.added(purposeOf(by.signedIn.account.accountId), credential);
      if (made === undefined) return notAdded();
      return options.withCode(by.signedIn.account.accountId, enrolmentCode, () =>
        changing(options, by, { action: 'account.passkey', news: 'passkey-added' }, async (tx, accountId) => {
          const isFirst = !(await hasFactor(tx, accountId));
          if ((await selectAccountPasskeys(tx, accountId)).length >= PASSKEYS_MAX) return tooManyPasskeys();
          if (!(await answerAccountChallenge(tx, made.challenge))) return notAdded();
          const refused = isFirst ? await options.useCode(tx, accountId, enrolmentCode) : undefined;
          if (refused !== undefined) return refused;
          if (!(await insertAccountPasskey(tx, { accountId, ...made }))) return notAdded();
          return { recoveryCodes: isFirst ? await makeCodes(tx, check, accountId) : undefined };
        }),
      );
    },
    removePasskey: (by, credentialId) =>
      changing(options, by, { action: 'account.passkey-remove', news: 'passkey-removed' }, async (tx, accountId) => {
        if (!(await deleteAccountPasskey(tx, accountId, credentialId))) {
          return refuse('NOT_FOUND', 'You have no such passkey.');
        }
        await deleteSpareCodes(tx, accountId);
        return undefined;
      }),
  };
}

function notAdded(): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', 'The passkey was not added. Try again.');
}

function tooManyPasskeys(): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', `You already have ${PASSKEYS_MAX} passkeys. Remove one first.`);
}

/** A challenge is for one account only, so nobody can add their passkey to somebody else's. */
function purposeOf(accountId: AccountId): string {
  return `add ${accountId}`;
}
