import { type Email, emailOf } from '#identities/email.ts';
import type { Clock } from '#kernel/clock.ts';
import { deriveKey, seal, unseal } from '#kernel/crypto.ts';

/**
 * Links that are mailed to a person when strangers have used up the codes of their e-mail. A way in grants no access: it
 * only lets the browser that opens it request a code from a bucket of its own.
 */
export interface WaysIn {
  readonly issue: (email: Email) => string;
  /** The e-mail that a token was issued for. Undefined when the token is forged or has expired. */
  readonly read: (token: string) => Email | undefined;
}

/** Twice as long as the time between two such mails, so that a person under attack always has one that works. */
const LIFETIME_SECONDS = 2 * 60 * 60;
const SHAPE = /^[A-Za-z0-9_-]{38,500}$/;
const CONTEXT = Buffer.from('way-in');

export function createWaysIn(secret: Buffer, clock: Clock): WaysIn {
  const key = deriveKey(secret, 'person-way-in');
  const nowSeconds = (): number => Math.floor(clock.nowMs() / 1_000);
  return {
    issue: (email) => seal(key, CONTEXT, `${nowSeconds() + LIFETIME_SECONDS} ${email}`).toString('base64url'),
    read: (token) => {
      const bytes = SHAPE.test(token) ? Buffer.from(token, 'base64url') : undefined;
      // Different texts can decode to the same bytes. Each would have a bucket of its own, so only one of them is valid.
      if (bytes?.toString('base64url') !== token) return undefined;
      const [expiry, email = ''] = opened(key, bytes).split(' ');
      return Number(expiry) > nowSeconds() ? emailOf(email) : undefined;
    },
  };
}

/** The sealed text. Empty when it was forged or altered. */
function opened(key: Buffer, sealed: Buffer): string {
  try {
    return unseal(key, CONTEXT, sealed);
  } catch {
    return '';
  }
}
