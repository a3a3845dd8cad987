import { type Email, emailOf } from '#people/email.ts';
import type { Clock } from '#kernel/time/clock.ts';
import { seal } from '#kernel/crypto/crypto.ts';
import { type Keys, unsealAny } from '#kernel/crypto/keys.ts';

/**
 * Links that are mailed to a person when strangers have used up the codes of their e-mail. A way in grants no access: it
 * only lets the browser that opens it request a code from a bucket of its own.
 */
export interface WaysIn {
  readonly issue: (email: Email) => string;
  /** The e-mail that a token was issued for. Undefined when the token is forged or has expired. */
  readonly read: (token: string) => Email | undefined;
}

/**
 * This is twice as long as the time between two such mails, so that a person under attack always has one that works.
 */
const LIFETIME_SECONDS = 2 * 60 * 60;
const SHAPE = /^[A-Za-z0-9_-]{38,500}$/;
const CONTEXT = Buffer.from('way-in');

export function createWaysIn(keys: Keys, clock: Clock): WaysIn {
  const wayInKeys = keys.proof('person-way-in');
  const nowSeconds = (): number => Math.floor(clock.nowMs() / 1_000);
  return {
    issue: (email) => seal(wayInKeys[0], CONTEXT, `${nowSeconds() + LIFETIME_SECONDS} ${email}`).toString('base64url'),
    read: (token) => {
      const bytes = SHAPE.test(token) ? Buffer.from(token, 'base64url') : undefined;
      // Different texts can decode to the same bytes. Each would have a bucket of its own, so only one of them is valid.
      if (bytes?.toString('base64url') !== token) return undefined;
      const [expiry, email = ''] = (unsealAny(wayInKeys, CONTEXT, bytes) ?? '').split(' ');
      return Number(expiry) > nowSeconds() ? emailOf(email) : undefined;
    },
  };
}
