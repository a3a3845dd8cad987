import { selectAccountById } from '#developers/accounts/queries.ts';
import type { SendNews } from '#developers/accounts/news.ts';
import { type FactorCheck, type Shown, WRONG_FACTOR } from '#developers/factors/check.ts';
import {
  deletePendingSignIn,
  insertPendingSignIn,
  selectPendingSignIn,
  takePendingGuess,
} from '#developers/sessions/pending-sign-in-queries.ts';
import { readState } from '#developers/factors/change.ts';
import type { OpenSession, SignInPlace } from '#developers/sessions/open-session.ts';
import type { SignIn } from '#developers/sessions/session.ts';
import { countSignIn } from '#audit/queries.ts';
import { inTransaction, type Pool } from '#db/pool/pool.ts';
import type { Clock } from '#kernel/time/clock.ts';
import { sha256 } from '#kernel/crypto/crypto.ts';
import type { AccountId } from '#kernel/values/ids.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { AttemptLimiter } from '#limits/attempt-limiter.ts';
import type { PasskeyChecks } from '#webauthn/passkey-checks.ts';

type FactorMethod = 'authenticator' | 'passkey' | 'recovery_code';

/** A sign-in whose password was right, and that waits for the second factor. Its token is no session, and opens nothing. */
export interface PendingSignIn {
  readonly pendingToken: string;
  readonly expiresAtMs: number;
  /** What the account can be opened with. */
  readonly methods: readonly FactorMethod[];
}

/** What the page of the second step shows. */
interface PendingState {
  readonly methods: readonly FactorMethod[];
  /** The options for a passkey of this account. Undefined when it has none. */
  readonly passkeyOptions: ReturnType<PasskeyChecks['optionsToUse']> | undefined;
}

type Answer = { readonly code: string } | { readonly credential: string };

/** The second step of a sign-in, and signing in with a passkey alone (CP-06). */
export interface SecondSteps {
  /**
   * Returns the state of a pending sign-in. It is undefined when the sign-in has expired, was used, or has no guesses
   * left.
   */
  readonly pending: (pendingToken: string) => Promise<PendingState | undefined>;
  /** Opens the session. Five wrong answers end the sign-in, and many of them slow down the account's sign-ins. */
  readonly finishSignIn: (
    given: Answer & { readonly pendingToken: string; readonly place: SignInPlace },
  ) => Promise<SignIn | Refusal<'UNAUTHORIZED' | 'TOO_MANY_REQUESTS'>>;
  /** The options with which a browser signs in by a passkey alone. They name no account. */
  readonly passkeySignInOptions: () => ReturnType<PasskeyChecks['optionsToUse']>;
  /** Signs in with a passkey: it verifies its holder, so it is two factors in one. */
  readonly signInByPasskey: (credential: string, place: SignInPlace) => Promise<SignIn | Refusal<'UNAUTHORIZED'>>;
}

interface SecondStepOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly attempts: AttemptLimiter;
  readonly check: FactorCheck;
  readonly checks: PasskeyChecks;
  readonly open: OpenSession;
  readonly sendNews: SendNews;
}

const PREFIX = 'svc_pending_';
const TOKEN_LENGTH = 43; // 256 bits.
const TOKEN = /^svc_pending_[0-9A-Za-z]{43}$/;
const LIFETIME_MS = 10 * 60 * 1_000;
const GUESSES = 5;
const SIGN_IN = 'sign-in';

export function createSecondSteps(options: SecondStepOptions): SecondSteps {
  const { pool, attempts, check, checks, open, sendNews } = options;
  return {
    pending: async (pendingToken) => {
      const digest = digestOf(pendingToken);
      const pending = digest && (await selectPendingSignIn(pool, digest));
      if (pending === undefined) return undefined;
      const state = await readState(pool, pending.account_id);
      const allowed = state.passkeys.map(({ credentialId }) => credentialId);
      const passkeyOptions = allowed.length === 0 ? undefined : checks.optionsToUse(SIGN_IN, allowed);
      return { methods: methodsOf(state), passkeyOptions };
    },
    finishSignIn: async ({ pendingToken, place, ...answer }) => {
      const digest = digestOf(pendingToken);
      const pending = digest && (await selectPendingSignIn(pool, digest));
      if (digest === undefined || pending === undefined) return voidSignIn();
      const used = [{ kind: 'second-factor', of: pending.account_id }] as const;
      const tooMany = await attempts.take(used);
      if (tooMany !== undefined) return tooMany;
      // Taken before the answer is judged, so that many guesses at once all count.
      const guess = await takePendingGuess(pool, digest);
      if (guess === undefined) return voidSignIn();
      const row = await selectAccountById(pool, guess.account_id);
      const opened = await inTransaction(pool, async (tx) => {
        if (row === undefined) return undefined;
        const holder = { accountId: row.account_id, email: row.email };
        if (!(await check.isRight(tx, holder, shownOf(answer), place.from))) return undefined;
        return (await deletePendingSignIn(tx, digest)) ? open(tx, row, place) : undefined;
      });
      if (opened !== undefined) {
        await attempts.giveBack(used);
        return opened;
      }
      await countSignIn(pool, { who: guess.account_id, result: 'wrong_second_factor', from: place.from });
      // The password was right, five times: its owner must hear of it.
      if (guess.guesses_left === 0 && row !== undefined) {
        await sendNews(pool, row.email, { kind: 'second-factor-guessed', from: place.from });
      }
      return refuse('UNAUTHORIZED', WRONG_FACTOR);
    },
    passkeySignInOptions: () => checks.optionsToUse(SIGN_IN),
    signInByPasskey: async (credential, place) => {
      const opened = await inTransaction(pool, async (tx) => {
        const accountId = await check.holderOf(tx, credential, SIGN_IN);
        const row = accountId && (await selectAccountById(tx, accountId));
        return row === undefined ? undefined : open(tx, row, place);
      });
      if (opened !== undefined) return opened;
      await countSignIn(pool, { who: undefined, result: 'refused_passkey', from: place.from });
      return refuse('UNAUTHORIZED', 'This passkey did not sign you in. Try again, or use your password.');
    },
  };
}

/** Makes the second step of a sign-in whose password was right. Undefined when the password has changed meanwhile. */
export async function beginSecondStep(
  { pool, clock }: Pick<SecondStepOptions, 'pool' | 'clock'>,
  known: { readonly accountId: AccountId; readonly passwordHash: string },
  from: string,
): Promise<PendingSignIn | undefined> {
  const pendingToken = PREFIX + randomBase62(TOKEN_LENGTH);
  const pending = { ...known, digest: sha256(pendingToken), guesses: GUESSES, lifetimeMs: LIFETIME_MS };
  if (!(await insertPendingSignIn(pool, pending))) return undefined;
  await countSignIn(pool, { who: known.accountId, result: 'needs_second_factor', from });
  const methods = methodsOf(await readState(pool, known.accountId));
  return { pendingToken, methods, expiresAtMs: clock.nowMs() + LIFETIME_MS };
}

function methodsOf({
  authenticator,
  passkeys,
  recoveryCodesLeft,
}: Awaited<ReturnType<typeof readState>>): readonly FactorMethod[] {
  return [
    ...(authenticator === undefined ? [] : (['authenticator'] as const)),
    ...(passkeys.length === 0 ? [] : (['passkey'] as const)),
    ...(recoveryCodesLeft === 0 ? [] : (['recovery_code'] as const)),
  ];
}

function shownOf(answer: Answer): Shown {
  return 'code' in answer ? { code: answer.code } : { credential: answer.credential, purpose: SIGN_IN };
}

/** Returns undefined for texts that cannot be a token of ours, which then cost no read. */
function digestOf(pendingToken: string): Buffer | undefined {
  return TOKEN.test(pendingToken) ? sha256(pendingToken) : undefined;
}

/** One answer for unknown, expired, used and exhausted sign-ins. */
function voidSignIn(): Refusal<'UNAUTHORIZED'> {
  return refuse('UNAUTHORIZED', 'This sign-in is no longer valid. Sign in with your password again.');
}
