import { hmacSha256 } from '#kernel/crypto/crypto.ts';
import { keyOfProof, type ProofKeys } from '#kernel/crypto/keys.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';
import type { Cookies } from '#web/frame/cookies.ts';

const FORM_COOKIE = /^[0-9A-Za-z]{43}$/;
const FORM_COOKIE_LENGTH = 43; // 256 bits.

/** What ties forms to one browser: its session token, or a random cookie before there is a session. */
interface FormBinding {
  readonly value: string;
  /** The browser does not have the cookie yet: the answer must set it. */
  readonly isNew: boolean;
}

/** The binding of a browser. `sessionToken`: of a session that is in force; an expired one binds nothing. */
export function bindingOf(
  cookies: Cookies,
  cookieHeader: string | undefined,
  sessionToken: string | undefined,
): FormBinding {
  if (sessionToken !== undefined) return { value: sessionToken, isNew: false };
  const kept = cookies.read(cookieHeader, 'form');
  const isKept = kept !== undefined && FORM_COOKIE.test(kept);
  return isKept ? { value: kept, isNew: false } : { value: randomBase62(FORM_COOKIE_LENGTH), isNew: true };
}

/**
 * The proof that a form carries: an HMAC of its address. A proof is good for one browser and one address, so that a proof
 * taken from a harmless form opens no other one (PG-02).
 */
export function proofOf([key]: ProofKeys, { value }: FormBinding, action: string): string {
  return hmacSha256(key, value, '\n', action).toString('base64url');
}

/** Whether `shown` is the proof of this address. It comes from outside and may have any length. */
export function isProof(keys: ProofKeys, shown: string, { value }: FormBinding, action: string): boolean {
  const proof = Buffer.from(shown, 'base64url');
  // Different texts can decode to the same bytes. Only the one that we wrote is a proof.
  return proof.toString('base64url') === shown && keyOfProof(keys, proof, value, '\n', action) !== undefined;
}
