import { crc32 } from 'node:zlib';
import { sha256 } from '#kernel/crypto/crypto.ts';
import type { Mode } from '#kernel/values/ids.ts';
import { randomBase62, toBase62 } from '#kernel/crypto/random.ts';

const PREFIX = { live: 'svc_live_', sandbox: 'svc_test_' } as const satisfies Record<Mode, string>;
const RANDOM_LENGTH = 30; // 178 bits.
const CHECKSUM_LENGTH = 6; // A CRC-32 fits into six characters of base62.
const SHAPE = /^svc_(live|test)_[0-9A-Za-z]{36}$/;
const HINT_LENGTH = 4;

/**
 * Makes the text of a new key: a prefix, 178 random bits, and a checksum over both. The checksum lets a scanner recognise a
 * leaked key offline, and lets us refuse a mistyped key without a lookup (AU-07, AU-08).
 */
export function newApiKey(mode: Mode): string {
  const body = PREFIX[mode] + randomBase62(RANDOM_LENGTH);
  return body + checksumOf(body);
}

/** Returns true for a text that `newApiKey` could have made, with the right shape and the right checksum. */
export function isApiKey(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return checksumOf(body) === text.slice(-CHECKSUM_LENGTH);
}

/** The mode of a well-formed key, by its prefix. */
export function modeOfApiKey(apiKey: string): Mode {
  return apiKey.startsWith(PREFIX.sandbox) ? 'sandbox' : 'live';
}

/** The digest that is stored instead of the key. Plain SHA-256 is enough: 178 random bits cannot be guessed. */
export function digestOfApiKey(apiKey: string): Buffer {
  return sha256(apiKey);
}

/** Returns enough of a key for its owner to tell it from others, and too little to guess it. */
export function hintOfApiKey(apiKey: string): string {
  return `${PREFIX[modeOfApiKey(apiKey)]}...${apiKey.slice(-HINT_LENGTH)}`;
}

/** CRC-32 catches every typing error that matters and needs no secret. It is no protection against forgery. */
function checksumOf(body: string): string {
  return toBase62(crc32(body), CHECKSUM_LENGTH);
}
