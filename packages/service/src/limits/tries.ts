import { hmacSha256 } from '#kernel/crypto.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';
import type { Throttle, ThrottleRate } from '#limits/throttle.ts';

/** Each bucket fills up within two hours, so that one that nobody used for a day says nothing (`limits.forget_tries`). */
const RATES = {
  /** Wrong passwords for one e-mail, by strangers. */
  'sign-in': { ratePerMinute: 1, rateBurst: 20, cost: 1 },
  /** Wrong passwords for one account, from one browser that has signed in to it before. */
  'sign-in-device': { ratePerMinute: 1, rateBurst: 20, cost: 1 },
  /** Wrong passwords from one address, for any e-mail: an office may share one. */
  'sign-in-from': { ratePerMinute: 10, rateBurst: 100, cost: 1 },
  /** Wrong present passwords of somebody who is signed in and sets another. */
  password: { ratePerMinute: 1, rateBurst: 20, cost: 1 },
  /** Accounts made from one address: twenty at once, then two a minute. */
  register: { ratePerMinute: 2, rateBurst: 20, cost: 1 },
  /** Registering an e-mail that has an account, from one address: ten at once, then one in five minutes. */
  'register-known': { ratePerMinute: 1, rateBurst: 50, cost: 5 },
  /** Mails that one address is sent: three at once, then one in ten minutes. */
  reset: { ratePerMinute: 1, rateBurst: 30, cost: 10 },
  /** Resets asked for from one address. */
  'reset-from': { ratePerMinute: 2, rateBurst: 20, cost: 1 },
  /** One-time codes that one e-mail is sent, asked for by strangers: five at once, then one in ten minutes. */
  code: { ratePerMinute: 1, rateBurst: 50, cost: 10 },
  /** The same from one browser that was signed in with this e-mail before, then one in two minutes: strangers leave it its own. */
  'code-known': { ratePerMinute: 1, rateBurst: 10, cost: 2 },
  /** One-time codes asked for from one address. */
  'code-from': { ratePerMinute: 2, rateBurst: 30, cost: 1 },
  /** Wrong one-time codes for one e-mail, by strangers: ten at once, then one in ten minutes. A million make it likely. */
  'code-guess': { ratePerMinute: 1, rateBurst: 100, cost: 10 },
  /** The same from one browser that was signed in with this e-mail before. */
  'code-guess-known': { ratePerMinute: 1, rateBurst: 20, cost: 1 },
  /** Checkouts begun from one address. */
  'checkout-from': { ratePerMinute: 4, rateBurst: 40, cost: 1 },
  /** Refunds that one identity asks for: each costs the processor something, however small it is. */
  refund: { ratePerMinute: 1, rateBurst: 20, cost: 1 },
} as const satisfies Record<string, ThrottleRate>;

type Kind = keyof typeof RATES;

/** What is tried, and what the tries of count together: an e-mail, an account, an address. */
export interface Try {
  readonly kind: Kind;
  readonly of: string;
}

/** Tries that count, so that guessing is slow. */
export interface Tries {
  /** Takes each of these tries, in order, up to the first that is not there. Undefined: all are taken. */
  readonly take: (tries: readonly Try[]) => Promise<Refusal<'TOO_MANY_REQUESTS'> | undefined>;
  readonly giveBack: (tries: readonly Try[]) => Promise<void>;
}

const RETRY_SECONDS_MAX = 60;

const WRONG_CODES = 'Too many wrong codes for this e-mail. Wait.';
const MESSAGES: Readonly<Partial<Record<Kind, string>>> = {
  register: 'Too many accounts were made from your address. Wait.',
  'register-known': 'Too many accounts were made from your address. Wait.',
  'reset-from': 'Too many resets were asked for from your address. Wait.',
  code: 'Too many codes were sent to this e-mail. Wait.',
  'code-from': 'Too many codes were asked for from your address. Wait.',
  'code-known': 'Too many codes were sent to this e-mail. Wait.',
  'code-guess': WRONG_CODES,
  'code-guess-known': WRONG_CODES,
  'checkout-from': 'Too many payments were begun from your address. Wait.',
  refund: 'You have asked for many refunds. Wait before you ask for another.',
};
const WRONG_PASSWORDS = 'Too many wrong passwords. Wait, or reset the password by mail: that works at once.';

/** `key`: buckets are named by digests under it, so that no e-mail and no address is in them. */
export function createTries(throttle: Throttle, key: Buffer): Tries {
  const bucketOf = ({ kind, of }: Try): string => `${kind}:${hmacSha256(key, kind, '\n', of).toString('base64url')}`;
  return {
    take: async (tries) => {
      for (const one of tries) {
        const empty = await throttle.take(bucketOf(one), RATES[one.kind]);
        if (empty !== undefined) return tooMany(MESSAGES[one.kind] ?? WRONG_PASSWORDS, empty.waitMs);
      }
      return undefined;
    },
    giveBack: async (tries) => {
      for (const one of tries) await throttle.giveBack(bucketOf(one), RATES[one.kind]);
    },
  };
}

function tooMany(message: string, waitMs: number): Refusal<'TOO_MANY_REQUESTS'> {
  const retryAfterSeconds = Math.min(RETRY_SECONDS_MAX, Math.max(1, Math.ceil(waitMs / 1_000)));
  return refuse('TOO_MANY_REQUESTS', message, { retryAfterSeconds });
}
