import { argon2 } from 'node:crypto';
import { promisify } from 'node:util';
import { equalBytes } from '#kernel/crypto/crypto.ts';
import { randomBytes } from '#kernel/crypto/random.ts';

/** What a hash costs: KiB of memory, passes over it, and lanes. */
interface HashingCost {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

/** Argon2id at the minimum that OWASP recommends: 19 MiB, two passes, one lane. Tests of other things lower it. */
export const hashing: { cost: HashingCost } = { cost: { memory: 19_456, passes: 2, parallelism: 1 } };
const SALT_BYTES = 16;
const TAG_BYTES = 32;
const ENCODED = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

const derive = promisify(argon2);

/** The parts of a PHC string. */
interface Encoded extends HashingCost {
  readonly salt: Buffer;
  readonly tag: Buffer;
}

/**
 * Hashes a password for storage, in the PHC string format. The cost is part of the text, so it can be raised later without
 * breaking stored hashes.
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const { cost } = hashing;
  const tag = await tagOf(password, { ...cost, salt, tag: Buffer.alloc(TAG_BYTES) });
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${base64(salt)}$${base64(tag)}`;
}

/**
 * Returns true when the password matches the stored hash. Without a stored hash it does the same work and returns
 * false, so that response times do not reveal whether an account exists.
 */
export async function isPassword(password: string, stored: string | undefined): Promise<boolean> {
  const encoded = stored === undefined ? undefined : decode(stored);
  const compared = encoded ?? { ...hashing.cost, salt: Buffer.alloc(SALT_BYTES), tag: Buffer.alloc(TAG_BYTES) };
  const tag = await tagOf(password, compared);
  return equalBytes(tag, compared.tag) && encoded !== undefined;
}

function tagOf(password: string, { memory, passes, parallelism, salt, tag }: Encoded): Promise<Buffer> {
  // Keyboards and systems encode the same characters as different bytes. NFKC makes them equal (NIST SP 800-63B).
  const message = Buffer.from(password.normalize('NFKC'));
  return derive('argon2id', { message, nonce: salt, memory, passes, parallelism, tagLength: tag.length });
}

/** Reads a PHC string. Undefined when it is none of ours, which then counts as a wrong password. */
function decode(stored: string): Encoded | undefined {
  const [, memory, passes, parallelism, salt, tag] = ENCODED.exec(stored) ?? [];
  if (salt === undefined || tag === undefined) return undefined;
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

/** The PHC string format uses base64 without padding. */
function base64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
