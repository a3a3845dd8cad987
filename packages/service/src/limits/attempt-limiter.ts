import { hmacSha256 } from '#kernel/crypto/crypto.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { Throttle, ThrottleRate } from '#limits/throttle.ts';

/** Each bucket refills within two hours, so a bucket that was idle for a day can be deleted (`limits.delete_idle_buckets`). */
const RATES = {
  /**
   * Limits wrong passwords for one e-mail from one network address, from browsers that have never signed in to the
   * account.
   */
  'sign-in': { ratePerMinute: 1, rateBurst: 20, cost: 1 },
  /**
   * Limits wrong passwords for one e-mail from all network addresses together: 500 at once, then five a minute. It
   * takes more than 25 addresses to use it up. Known browsers and password resets are not counted here.
   */
  'sign-in-all': { ratePerMinute: 5, rateBurst: 500, cost: 1 },
  /** Limits wrong passwords for one account, from one browser that has signed in to it before. */
  'sign-in-device': { ratePerMinute: 1, rateBurst: 20, cost: 1 },
  /**
   * Limits wrong passwords from one network address, for any e-mail. The limit is higher, because an office may share
   * one address.
   */
  'sign-in-from': { ratePerMinute: 10, rateBurst: 100, cost: 1 },
  /** Limits wrong current passwords from an account that is signed in and sets a new one. */
  password: { ratePerMinute: 1, rateBurst: 20, cost: 1 },
  /**
   * Limits wrong second factors of one account: ten at once, then one in five minutes. Only a person who knows the
   * password gets here. Three codes of an app are right at a time, so a day of guesses has one chance in a thousand.
   */
  'second-factor': { ratePerMinute: 1, rateBurst: 50, cost: 5 },
  /** Limits wrong codes for the first second factor of one account: ten at once, then one in five minutes. */
  'enrolment-code': { ratePerMinute: 1, rateBurst: 50, cost: 5 },
  /** Answers of the OpenID Connect provider that opened no session, from one network address. Each costs requests to the provider. */
  sso: { ratePerMinute: 10, rateBurst: 40, cost: 1 },
  /** Mails with which one account proves its e-mail: three at once, then one in ten minutes. */
  verification: { ratePerMinute: 1, rateBurst: 30, cost: 10 },
  /** Accounts registered from one network address: twenty at once, then two a minute. */
  register: { ratePerMinute: 2, rateBurst: 20, cost: 1 },
  /** Registrations of e-mails that already have an account, from one address: ten at once, then one in five minutes. */
  'register-known': { ratePerMinute: 1, rateBurst: 50, cost: 5 },
  /** Invitations to teams that one account sends: twenty at once, then one in three minutes. */
  invite: { ratePerMinute: 1, rateBurst: 60, cost: 3 },
  /** Invitations to teams mailed to one address, by anybody: five at once, then one in ten minutes. */
  'invite-to': { ratePerMinute: 1, rateBurst: 50, cost: 10 },
  /** Limits reset mails to one e-mail address: three at once, then one in ten minutes. */
  reset: { ratePerMinute: 1, rateBurst: 30, cost: 10 },
  /** Limits the password resets requested from one network address. */
  'reset-from': { ratePerMinute: 2, rateBurst: 20, cost: 1 },
  /**
   * Limits the one-time codes mailed to one e-mail, requested by unknown browsers at one network address: five at once,
   * then one in ten minutes.
   */
  code: { ratePerMinute: 1, rateBurst: 50, cost: 10 },
  /**
   * Limits the one-time codes mailed to one e-mail, requested by unknown browsers anywhere: twenty at once, then one in
   * five minutes. This bounds the mails, and with them the guesses: a code allows five (`people/README.md` has the
   * sums).
   */
  'code-all': { ratePerMinute: 1, rateBurst: 100, cost: 5 },
  /** Mails with a way in, for an e-mail to which too many codes were sent: one an hour. */
  'code-way-in': { ratePerMinute: 1, rateBurst: 60, cost: 60 },
  /**
   * Limits the one-time codes requested by one browser that has signed in with this e-mail before, or by one way in:
   * five at once, then one in two minutes. Strangers cannot use this bucket up, so they cannot lock the owner out.
   */
  'code-known': { ratePerMinute: 1, rateBurst: 10, cost: 2 },
  /** Limits the one-time codes requested by unknown browsers from one network address. */
  'code-from': { ratePerMinute: 2, rateBurst: 30, cost: 1 },
  /** Checkouts started from one network address. */
  'checkout-from': { ratePerMinute: 4, rateBurst: 40, cost: 1 },
  /** Files of everything that is kept about one identity: five at once, then one in ten minutes. Each reads all of their calls. */
  'person-export': { ratePerMinute: 1, rateBurst: 50, cost: 10 },
  /** Refunds that one identity requests. Each one costs the processor something, however small the amount. */
  refund: { ratePerMinute: 1, rateBurst: 20, cost: 1 },
} as const satisfies Record<string, ThrottleRate>;

type Kind = keyof typeof RATES;

/** One attempt, and whose attempts count together (`of`): an e-mail, an account, a browser or a network address. */
export interface Attempt {
  readonly kind: Kind;
  readonly of: string;
}

/**
 * Slows down guessing and abuse. The caller takes an attempt first, does the work, and gives the attempt back if it did no
 * harm. The other order would let many attempts at once pass the check together.
 */
export interface AttemptLimiter {
  /** Takes the attempts in order, up to the first empty bucket. Undefined means that all were taken. */
  readonly take: (attempts: readonly Attempt[]) => Promise<Refusal<'TOO_MANY_REQUESTS'> | undefined>;
  readonly giveBack: (attempts: readonly Attempt[]) => Promise<void>;
}

const RETRY_SECONDS_MAX = 60;

const CODES_SENT =
  'Too many codes were sent to this e-mail address. Look for our e-mail “Sign in from your own browser”: its link gets you a code right away. Otherwise, wait before you request another.';
const MESSAGES: Readonly<Partial<Record<Kind, string>>> = {
  register: 'Too many accounts were created from your network address. Wait before you create another.',
  'register-known': 'Too many accounts were created from your network address. Wait before you create another.',
  'reset-from': 'Too many password resets were requested from your network address. Wait before you request another.',
  'second-factor': 'Too many wrong codes. Wait a few minutes before you try again.',
  'enrolment-code': 'Too many wrong codes. Wait a few minutes before you try again.',
  sso: 'Too many sign-ins from your network address failed. Wait before you try again.',
  verification: 'We have sent you several links. Use the newest one, or wait before you ask for another.',
  invite: 'You have sent many invitations. Wait before you send another.',
  'invite-to': 'Too many invitations were sent to this e-mail address. Wait before you send another.',
  code: CODES_SENT,
  'code-from': 'Too many codes were requested from your network address. Wait before you request another.',
  'code-all': CODES_SENT,
  'code-known': 'You have requested many codes. Use the newest one, or wait before you request another.',
  'checkout-from': 'Too many payments were started from your network address. Wait before you start another.',
  refund: 'You have requested many refunds. Wait before you request another.',
};
const WRONG_PASSWORDS = 'Too many wrong passwords. Wait, or reset your password by e-mail, which works right away.';

/** Buckets are named by HMACs under `key`, so that the database never holds an e-mail or a network address by them. */
export function createAttemptLimiter(throttle: Throttle, key: Buffer): AttemptLimiter {
  const bucketOf = ({ kind, of }: Attempt): string =>
    `${kind}:${hmacSha256(key, kind, '\n', of).toString('base64url')}`;
  return {
    take: async (attempts) => {
      for (const attempt of attempts) {
        const empty = await throttle.take(bucketOf(attempt), RATES[attempt.kind]);
        if (empty !== undefined) return tooMany(MESSAGES[attempt.kind] ?? WRONG_PASSWORDS, empty.waitMs);
      }
      return undefined;
    },
    giveBack: async (attempts) => {
      for (const attempt of attempts) await throttle.giveBack(bucketOf(attempt), RATES[attempt.kind]);
    },
  };
}

function tooMany(message: string, waitMs: number): Refusal<'TOO_MANY_REQUESTS'> {
  const retryAfterSeconds = Math.min(RETRY_SECONDS_MAX, Math.max(1, Math.ceil(waitMs / 1_000)));
  return refuse('TOO_MANY_REQUESTS', message, { retryAfterSeconds });
}
