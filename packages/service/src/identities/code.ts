import { inTransaction, type Pool } from '#db/pool.ts';
import type { Email } from '#identities/email.ts';
import { createKnownBrowsers } from '#identities/known-browser.ts';
import { deleteCode, insertCode, selectCodeEmail, takeGuess } from '#identities/queries.ts';
import { createPersonSessions, type PersonSignIn } from '#identities/session.ts';
import { deriveKey, equalBytes, hmacSha256, sha256 } from '#kernel/crypto.ts';
import { randomBase62, randomDigits } from '#kernel/random.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';
import type { AttemptLimiter, Attempt } from '#limits/attempt-limiter.ts';

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
  readonly challenge: string;
  readonly code: string;
  readonly known: string | undefined;
}

/** Signs people in by a mailed six-digit code. It works once, within ten minutes, in the browser that requested it. */
export interface CodeSignIns {
  /**
   * Mails a code and returns its challenge, which only this browser gets. Every e-mail gets the same answer, so that nobody
   * can find out who has a wallet.
   */
  readonly ask: (ask: AskForCode) => Promise<{ readonly challenge: string } | Refusal<'TOO_MANY_REQUESTS'>>;
  /** The e-mail that the code was sent to. Undefined once the code is void. */
  readonly emailOf: (challenge: string) => Promise<Email | undefined>;
  /** Signs in with the code. A code works once. */
  readonly use: (typed: TypedCode) => Promise<PersonSignIn | Refusal<'BAD_REQUEST' | 'TOO_MANY_REQUESTS'>>;
}

/** Mails a code to a person. */
type SendCode = (mail: {
  readonly email: Email;
  readonly code: string;
  readonly appName: string | undefined;
}) => Promise<void>;

interface CodeOptions {
  readonly pool: Pool;
  readonly attempts: AttemptLimiter;
  /**
   * Codes are stored as HMACs under a key derived from this. A plain hash would not do: a person who can read the
   * database could try all million codes in a moment.
   */
  readonly secret: Buffer;
  readonly sendCode: SendCode;
}

const LIFETIME_MS = 10 * 60 * 1_000;
const GUESSES = 5;
const CODE_LENGTH = 6;
const CODE = /^\d{6}$/;
const CHALLENGE_LENGTH = 43; // 256 bits.
const CHALLENGE = /^[0-9A-Za-z]{43}$/;

export function createCodeSignIns({ pool, attempts, secret, sendCode }: CodeOptions): CodeSignIns {
  const key = deriveKey(secret, 'person-code');
  const browsers = createKnownBrowsers(secret);
  const proofOf = (challenge: string, code: string): Buffer => hmacSha256(key, challenge, '\n', code);

  /** A browser that has signed in with this e-mail before has attempts of its own, which no stranger can use up. */
  function tryOf(kind: 'code' | 'code-guess', email: Email, known: string | undefined): Attempt {
    const browser = browsers.nameOf(known, email);
    return browser === undefined ? { kind, of: email } : { kind: `${kind}-known`, of: `${browser}\n${email}` };
  }

  async function emailOf(challenge: string): Promise<Email | undefined> {
    const digest = digestOf(challenge);
    return digest && selectCodeEmail(pool, digest);
  }

  return {
    ask: async ({ email, from, before, known, appName }) => {
      const tooMany = await attempts.take([{ kind: 'code-from', of: from }, tryOf('code', email, known)]);
      if (tooMany !== undefined) return tooMany;
      const older = digestOf(before ?? '');
      if (older !== undefined) await deleteCode(pool, older);
      const challenge = randomBase62(CHALLENGE_LENGTH);
      const code = randomDigits(CODE_LENGTH);
      const [digest, proof] = [sha256(challenge), proofOf(challenge, code)];
      await insertCode(pool, { digest, email, proof, guesses: GUESSES, lifetimeMs: LIFETIME_MS });
      await sendCode({ email, code, appName });
      return { challenge };
    },
    emailOf,
    use: async ({ challenge, known, ...typed }) => {
      const code = typed.code.replace(/[\s-]/g, '');
      if (!CODE.test(code)) return refuse('BAD_REQUEST', 'Type the six digits from the mail.');
      const email = await emailOf(challenge);
      if (email === undefined) return voidCode();
      // Counted over all unknown browsers, so that requesting one code after the other makes nobody guess faster. Taken before
      // the code is compared, so that many guesses at once all count.
      const guess = [tryOf('code-guess', email, known)];
      const tooMany = await attempts.take(guess);
      if (tooMany !== undefined) return tooMany;
      const digest = sha256(challenge);
      const proof = await takeGuess(pool, digest);
      if (proof === undefined) return voidCode();
      if (!equalBytes(proof, proofOf(challenge, code))) {
        return refuse('BAD_REQUEST', 'This code is wrong. Check the newest mail and type its six digits.');
      }
      // The delete decides which of two requests with the right code signs in: the other finds the code gone.
      const opened = await inTransaction(pool, async (tx) => {
        return (await deleteCode(tx, digest)) ? createPersonSessions(tx).open(email) : undefined;
      });
      await attempts.giveBack(guess);
      return opened === undefined ? voidCode() : { ...opened, known: browsers.issue(email) };
    },
  };
}

/** Undefined for texts that cannot be a challenge of ours, which then cost no read. */
function digestOf(challenge: string): Buffer | undefined {
  return CHALLENGE.test(challenge) ? sha256(challenge) : undefined;
}

/** One answer for unknown, expired, used and exhausted codes. */
function voidCode(): Refusal<'BAD_REQUEST'> {
  return refuse(
    'BAD_REQUEST',
    'This code is no longer valid. It has expired, was used, or was entered wrong too often. Request a new one.',
  );
}
