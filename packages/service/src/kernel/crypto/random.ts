import { randomFillSync, randomInt } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
// Random bytes are fetched from the system in blocks: one call into the generator serves about a hundred ids.
const POOL_BYTES = 4096;
const pool = Buffer.allocUnsafe(POOL_BYTES);
let used = POOL_BYTES;
/** Most texts are shorter, and are made here one after another. */
const draft = Buffer.alloc(64);

/** Returns `count` bytes from the system's generator, at most 4096. */
export function randomBytes(count: number): Buffer {
  if (used + count > POOL_BYTES) refill();
  const bytes = Buffer.from(pool.subarray(used, used + count));
  // Erase what was handed out: it may be a key, and must not stay in the pool for a heap dump to find.
  pool.fill(0, used, used + count);
  used += count;
  return bytes;
}

function refill(): void {
  randomFillSync(pool);
  used = 0;
}

/** Returns `length` characters of base62, all 62 equally likely. */
export function randomBase62(length: number): string {
  const characters = length <= draft.length ? draft : Buffer.allocUnsafe(length);
  for (let at = 0; at < length; ) {
    if (used === POOL_BYTES) refill();
    const byte = pool[used] ?? 0;
    pool[used] = 0; // As above: it may be part of a key.
    used += 1;
    // 248 is the largest multiple of 62 within a byte. Bytes above it would favour the first characters, so they are skipped.
    if (byte >= 248) continue;
    characters[at] = BASE62.charCodeAt(byte % 62);
    at += 1;
  }
  const text = characters.toString('latin1', 0, length);
  characters.fill(0, 0, length);
  return text;
}

/** Writes a number below 62^length as exactly `length` characters of base62. */
export function toBase62(value: number, length: number): string {
  let rest = value;
  let text = '';
  for (let index = 0; index < length; index += 1) {
    text = BASE62.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** Writes the end of a number of any size, given by its bytes, as exactly `length` characters of base62. */
export function base62Of(bytes: Buffer, length: number): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let index = 0; index < length; index += 1) {
    text = BASE62.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}

/** Returns a share from 0 to below 1. */
export function randomShare(): number {
  return randomBytes(4).readUInt32LE() / 2 ** 32;
}

/** Returns `length` decimal digits, all ten equally likely. */
export function randomDigits(length: number): string {
  return Array.from({ length }, () => randomInt(10)).join('');
}
