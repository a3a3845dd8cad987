import { randomFillSync, randomInt } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const POOL_BYTES = 4096; // One system call for about a hundred ids.
const pool = Buffer.allocUnsafe(POOL_BYTES);
let used = POOL_BYTES;

/** `count` bytes from the system's generator, at most 4096. */
export function randomBytes(count: number): Buffer {
  if (used + count > POOL_BYTES) refill();
  const bytes = Buffer.from(pool.subarray(used, used + count));
  pool.fill(0, used, used + count); // What was handed out is not kept: it may be a key.
  used += count;
  return bytes;
}

function refill(): void {
  randomFillSync(pool);
  used = 0;
}

/** `length` characters of base62, each one of 62 with equal chance. */
export function randomBase62(length: number): string {
  const characters = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; ) {
    if (used === POOL_BYTES) refill();
    const byte = pool[used] ?? 0;
    pool[used] = 0; // What was handed out is not kept: it may be a key.
    used += 1;
    // 248 is the largest multiple of 62 in a byte: above it, a remainder would favour the first characters.
    if (byte >= 248) continue;
    characters[at] = BASE62.charCodeAt(byte % 62);
    at += 1;
  }
  const text = characters.toString('latin1');
  characters.fill(0);
  return text;
}

/** A number below 62^length as exactly `length` characters of base62. */
export function toBase62(value: number, length: number): string {
  let rest = value;
  let text = '';
  for (let index = 0; index < length; index += 1) {
    text = BASE62.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** `length` decimal digits, each one of ten with equal chance. */
export function randomDigits(length: number): string {
  return Array.from({ length }, () => randomInt(10)).join('');
}
