import { createHmac, hash, hkdfSync, timingSafeEqual } from 'node:crypto';

export function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

export function hmacSha256(key: Buffer, message: string): Buffer {
  return createHmac('sha256', key).update(message).digest();
}

/** True when both are the same bytes; takes the same time wherever they differ. */
export function equalBytes(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}

/** A key of its own for each use of the one secret, so that no two uses can be played against each other (HKDF, RFC 5869). */
export function deriveKey(secret: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'purser', purpose, 32));
}
