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
  /** The address that it is asked from. */
  readonly from: string;
  /** What names the code that this browser asked for before: it is void from now on. */
  readonly before: string | undefined;
  /** What this browser keeps of a sign-in before: it has tries of its own then. */
  readonly known: string | undefined;
  /** The app that a person signs in for, as the mail names it. */
  readonly appName: string | undefined;
}

interface TypedCode {
  readonly challenge: string;
  readonly code: string;
  readonly known: string | undefined;
}

/** Signing in by a code of six digits that is mailed: once, within ten minutes, in the browser that asked for it. */
export interface CodeSignIns {
  /** Mails a code. Gives what names it, for this browser alone. No e-mail is answered otherwise than another. */
  readonly ask: (ask: AskForCode) => Promise<{ readonly challenge: string } | Refusal<'TOO_MANY_REQUESTS'>>;
  /** Where the code was mailed; undefined once it is void. */
  readonly emailOf: (challenge: string) => Promise<Email | undefined>;
  /** Signs in by the code, once. */
  readonly use: (typed: TypedCode) => Promise<PersonSignIn | Refusal<'BAD_REQUEST' | 'TOO_MANY_REQUESTS'>>;
}

/** Tells a person a code by mail. */
type SendCode = (mail: {
  readonly email: Email;
  readonly code: string;
  readonly appName: string | undefined;
}) => Promise<void>;

interface CodeOptions {
  readonly pool: Pool;
  readonly attempts: AttemptLimiter;
  /** Codes are stored as HMACs under a key of it: a million of them are soon tried. */
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

  /** Of a browser that was signed in with this e-mail before they are its own: no stranger can use them up. */
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
      // Over all strangers: who asks for one code after the other guesses no faster. Taken first, so that guesses at once count.
      const guess = [tryOf('code-guess', email, known)];
      const tooMany = await attempts.take(guess);
      if (tooMany !== undefined) return tooMany;
      const digest = sha256(challenge);
      const proof = await takeGuess(pool, digest);
      if (proof === undefined) return voidCode();
      if (!equalBytes(proof, proofOf(challenge, code))) {
        return refuse('BAD_REQUEST', 'This is not the code. Look at the newest mail, and type its six digits.');
      }
      const opened = await inTransaction(pool, async (tx) => {
        return (await deleteCode(tx, digest)) ? createPersonSessions(tx).open(email) : undefined;
      });
      await attempts.giveBack(guess);
      return opened === undefined ? voidCode() : { ...opened, known: browsers.issue(email) };
    },
  };
}

function digestOf(challenge: string): Buffer | undefined {
  return CHALLENGE.test(challenge) ? sha256(challenge) : undefined;
}

function voidCode(): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', 'This code has expired, was used, or was guessed wrong too often. Ask for a new one.');
}
