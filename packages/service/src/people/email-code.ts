import { countSignIn } from '#audit/queries.ts';
import { inTransaction, type Pool } from '#db/pool/pool.ts';
import type { Email } from '#people/email.ts';
import { createKnownBrowsers } from '#people/known-browser.ts';
import { deleteCode, insertCode, selectCodeEmail, takeGuess } from '#people/queries.ts';
import { createPersonSessions, type PersonSignIn } from '#people/session.ts';
import { createWaysIn, type WaysIn } from '#people/way-in.ts';
import type { Clock } from '#kernel/time/clock.ts';
import { hmacSha256, sha256 } from '#kernel/crypto/crypto.ts';
import { keyOfProof, type Keys } from '#kernel/crypto/keys.ts';
import { randomBase62, randomDigits } from '#kernel/crypto/random.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { SignedNames } from '#kernel/crypto/signed-name.ts';
import type { AttemptLimiter } from '#limits/attempt-limiter.ts';

interface AskForCode {
  readonly email: Email;
  /** The network address of the caller. */
  readonly from: string;
  /** The challenge of the code that this browser requested before. That code becomes void. */
  readonly before: string | undefined;
  /** The browser's proof of an earlier sign-in, if it has one. It then has attempts of its own. */
  readonly known: string | undefined;
  /** The name of the app that the person signs in for, for the mail. */
  readonly appName: string | undefined;
}

interface TypedCode {
  /** The network address of the caller. */
  readonly from: string;
  readonly challenge: string;
  readonly code: string;
}

/** A code requested by the link of a way in, see `way-in.ts`. */
interface AskByWayIn extends Pick<AskForCode, 'before'> {
  readonly token: string;
}

/** Signs people in by a mailed eight-digit code. It works once, within ten minutes, in the browser that requested it. */
export interface CodeSignIns {
  /**
   * Mails a code and returns its challenge, which only this browser gets. Every e-mail gets the same answer, so that nobody
   * can find out who has a wallet.
   */
  readonly ask: (ask: AskForCode) => Promise<{ readonly challenge: string } | Refusal<'TOO_MANY_REQUESTS'>>;
  /** Mails a code to a person who shows a way in. No stranger can use up these codes. */
  readonly askByWayIn: (
    ask: AskByWayIn,
  ) => Promise<{ readonly challenge: string } | Refusal<'BAD_REQUEST' | 'TOO_MANY_REQUESTS'>>;
  /** The e-mail that a way in was mailed to. Undefined when it is forged or has expired. */
  readonly emailOfWayIn: (token: string) => Email | undefined;
  /** The e-mail that the code was sent to. Undefined once the code is void. */
  readonly emailOf: (challenge: string) => Promise<Email | undefined>;
  /** Signs in with the code. A code works once. Only wrong guesses in this browser can make a code void before it expires. */
  readonly use: (typed: TypedCode) => Promise<PersonSignIn | Refusal<'BAD_REQUEST'>>;
}

/** Mails a code to a person. */
type SendCode = (mail: {
  readonly email: Email;
  readonly code: string;
  readonly appName: string | undefined;
}) => Promise<void>;

interface CodeOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly attempts: AttemptLimiter;
  /**
   * Codes are stored as HMACs under a key of these. A plain hash would not do: a person who can read the
   * database could try all hundred million codes in minutes.
   */
  readonly keys: Keys;
  readonly sendCode: SendCode;
  /** Mails a link with which a person can sign in whose e-mail got too many codes. */
  readonly sendWayIn: (email: Email, token: string) => Promise<void>;
}

const LIFETIME_MS = 10 * 60 * 1_000;
const GUESSES = 5;
const CODE_LENGTH = 8;
const CODE = /^\d{8}$/;
const CHALLENGE_LENGTH = 43; // 256 bits.
const CHALLENGE = /^[0-9A-Za-z]{43}$/;

export function createCodeSignIns(options: CodeOptions): CodeSignIns {
  const { pool, clock, attempts, keys, sendCode } = options;
  const codeKeys = keys.proof('person-code');
  const browsers = createKnownBrowsers(keys);
  const waysIn = createWaysIn(keys, clock);

  const admit = createAdmission(options, browsers, waysIn);

  async function mailCode(email: Email, before: string | undefined, appName: string | undefined) {
    const older = digestOf(before ?? '');
    if (older !== undefined) await deleteCode(pool, older);
    const challenge = randomBase62(CHALLENGE_LENGTH);
    const code = randomDigits(CODE_LENGTH);
    const [digest, proof] = [sha256(challenge), hmacSha256(codeKeys[0], challenge, '\n', code)];
    await insertCode(pool, { digest, email, proof, guesses: GUESSES, lifetimeMs: LIFETIME_MS });
    await sendCode({ email, code, appName });
    return { challenge };
  }

  return {
    ask: async (ask) => (await admit(ask)) ?? mailCode(ask.email, ask.before, ask.appName),
    askByWayIn: async ({ token, before }) => {
      const email = waysIn.read(token);
      if (email === undefined) return refuse('BAD_REQUEST', 'This link is no longer valid. Request a code instead.');
      const tooMany = await attempts.take([{ kind: 'code-known', of: token }]);
      return tooMany ?? mailCode(email, before, undefined);
    },
    emailOfWayIn: waysIn.read,
    emailOf: async (challenge) => {
      const digest = digestOf(challenge);
      return digest && selectCodeEmail(pool, digest);
    },
    use: async ({ challenge, from, ...typed }) => {
      const code = typed.code.replace(/[\s-]/g, '');
      if (!CODE.test(code)) return refuse('BAD_REQUEST', 'Enter the eight digits from the e-mail.');
      const digest = digestOf(challenge);
      // Taken before the code is compared, so that many guesses at once all count. Guesses in other browsers do not.
      const taken = digest && (await takeGuess(pool, digest));
      if (digest === undefined || taken === undefined) return voidCode();
      if (keyOfProof(codeKeys, taken.proof, challenge, '\n', code) === undefined) {
        await countSignIn(pool, { who: undefined, result: 'wrong_code', from });
        return refuse('BAD_REQUEST', 'This code is wrong. Enter the eight digits from the newest e-mail.');
      }
      // The delete decides which of two requests with the right code signs in: the other finds the code gone.
      const opened = await inTransaction(pool, async (tx) => {
        if (!(await deleteCode(tx, digest))) return undefined;
        const signIn = await createPersonSessions(tx).open(taken.email);
        await countSignIn(tx, { who: signIn.identity.identityId, result: 'signed_in', from });
        return signIn;
      });
      return opened === undefined ? voidCode() : { ...opened, known: browsers.issue(taken.email) };
    },
  };
}

/**
 * Takes an attempt to have a code mailed. A browser that has signed in with this e-mail before has attempts of its own.
 * When others are refused, the owner gets a mail with a way in, so nobody can keep them out with any number of addresses.
 */
function createAdmission(
  { attempts, sendWayIn }: Pick<CodeOptions, 'attempts' | 'sendWayIn'>,
  browsers: SignedNames,
  waysIn: WaysIn,
) {
  return async ({ email, from, known }: AskForCode): Promise<Refusal<'TOO_MANY_REQUESTS'> | undefined> => {
    const browser = browsers.nameOf(known, email);
    if (browser !== undefined) return attempts.take([{ kind: 'code-known', of: `${browser}\n${email}` }]);
    const fromHere = await attempts.take([{ kind: 'code-from', of: from }]);
    if (fromHere !== undefined) return fromHere;
    const tooMany = await attempts.take([
      { kind: 'code', of: `${from}\n${email}` },
      { kind: 'code-all', of: email },
    ]);
    if (tooMany === undefined) return undefined;
    const isSent = (await attempts.take([{ kind: 'code-way-in', of: email }])) !== undefined;
    if (!isSent) await sendWayIn(email, waysIn.issue(email));
    return tooMany;
  };
}

/** Returns undefined for texts that cannot be a challenge of ours, which then cost no read. */
function digestOf(challenge: string): Buffer | undefined {
  return CHALLENGE.test(challenge) ? sha256(challenge) : undefined;
}

/** One answer for unknown, expired, used and exhausted codes. */
function voidCode(): Refusal<'BAD_REQUEST'> {
  return refuse(
    'BAD_REQUEST',
    'This code is no longer valid. It has expired, was used, or was entered incorrectly too often. Request a new one.',
  );
}
