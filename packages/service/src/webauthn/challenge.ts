import type { Clock } from '#kernel/time/clock.ts';
import { hmacSha256, sha256 } from '#kernel/crypto/crypto.ts';
import { keyOfProof, type ProofKeys } from '#kernel/crypto/keys.ts';
import { randomBytes } from '#kernel/crypto/random.ts';

export interface ReadChallenge {
  /** Identifies the challenge, so that it is answered only once. */
  readonly digest: Buffer;
  readonly expiresAtMs: number;
}

/**
 * Challenges that a passkey signs. Each is valid for one purpose and a short time. They carry their own HMAC, so issuing one
 * writes nothing: a stranger who opens the sign-in page a million times fills no table.
 */
interface Challenges {
  readonly issue: (purpose: string) => string;
  /** Reads a challenge. Undefined when it is forged, expired or meant for another purpose. */
  readonly read: (purpose: string, challenge: string) => ReadChallenge | undefined;
}

const LIFETIME_SECONDS = 30 * 60; // A page may stay open for a while before the person uses it.
const EXPIRY_BYTES = 4;
const NONCE_BYTES = 16;
const SHAPE = /^[A-Za-z0-9_-]{70}$/; // 52 bytes: the two above, and an HMAC over them.

export function createChallenges(keys: ProofKeys, clock: Clock): Challenges {
  const nowSeconds = (): number => Math.floor(clock.nowMs() / 1_000);
  return {
    issue: (purpose) => {
      const head = Buffer.alloc(EXPIRY_BYTES);
      head.writeUInt32BE(nowSeconds() + LIFETIME_SECONDS);
      const claims = Buffer.concat([head, randomBytes(NONCE_BYTES)]);
      return Buffer.concat([claims, hmacSha256(keys[0], claims, purpose)]).toString('base64url');
    },
    read: (purpose, challenge) => {
      const bytes = SHAPE.test(challenge) ? Buffer.from(challenge, 'base64url') : undefined;
      // Different texts can decode to the same bytes. Only one of them is valid, or a challenge could be answered twice.
      if (bytes?.toString('base64url') !== challenge) return undefined;
      const claims = bytes.subarray(0, EXPIRY_BYTES + NONCE_BYTES);
      if (keyOfProof(keys, bytes.subarray(claims.length), claims, purpose) === undefined) return undefined;
      const expiry = claims.readUInt32BE();
      return expiry > nowSeconds() ? { digest: sha256(challenge), expiresAtMs: expiry * 1_000 } : undefined;
    },
  };
}
