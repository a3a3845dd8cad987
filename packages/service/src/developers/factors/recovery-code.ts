import { hmacSha256 } from '#kernel/crypto/crypto.ts';
import type { AccountId } from '#kernel/values/ids.ts';
import { randomBytes } from '#kernel/crypto/random.ts';

export const RECOVERY_CODES = 10;
/**
 * The alphabet is Crockford's base32, which has no letters that look like digits or like each other. Reading maps those
 * to what was meant.
 */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LENGTH = 10; // 50 bits, for codes that are guessed at most some hundred times a day.
const CODE = /^[0-9a-hjkmnp-tv-z]{10}$/;

/** A new code, written as two groups of five. */
export function newRecoveryCode(): string {
  const text = [...randomBytes(LENGTH)].map((byte) => ALPHABET.charAt(byte & 31)).join('');
  return `${text.slice(0, 5)}-${text.slice(5)}`;
}

/**
 * What is stored of a code, and compared. An HMAC under a key of ours: 50 bits alone could be found from a plain hash. Spaces,
 * dashes and upper case make no difference. Undefined for a text that is no code.
 */
export function proofOfRecoveryCode(key: Buffer, accountId: AccountId, typed: string): Buffer | undefined {
  const code = typed.replace(/[\s-]/g, '').toLowerCase().replace(/[il]/g, '1').replace(/o/g, '0');
  return CODE.test(code) ? hmacSha256(key, accountId, '\n', code) : undefined;
}
