import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

export function sha256(text: string | Buffer): Buffer {
  return hash('sha256', text, 'buffer');
}

/** The same as base64: a key of a map, three times as fast as by way of a buffer. */
export function sha256Base64(text: string): string {
  return hash('sha256', text, 'base64');
}

export function hmacSha256(key: Buffer, ...parts: readonly (string | Buffer)[]): Buffer {
  const hmac = createHmac('sha256', key);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

/** True when both are the same bytes; takes the same time wherever they differ. */
export function equalBytes(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}

/** A key of its own for each use of the one secret, so that no two uses can be played against each other (HKDF, RFC 5869). */
export function deriveKey(secret: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'purser', purpose, 32));
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

/** Encrypts under a key of 32 bytes, bound to `context`: nonce, tag and text in one. */
export function seal(key: Buffer, context: Buffer, text: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(context);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** What was sealed under this key for this context. Throws when it was not. */
export function unseal(key: Buffer, context: Buffer, sealed: Buffer): string {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(context).setAuthTag(tag);
  const text = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  return text.toString('utf8');
}
