import { bad, type CheckResult, good, warn } from '#doctor/findings/check-result.ts';

/**
 * The limit is 100 bits: 16 random bytes in hexadecimal have about 112 bits by this measure, and 24 in base64 about
 * 140. A sentence has fewer.
 */
const BITS_MIN = 100;
const WORDS = /[a-z]{4,}[ _.-][a-z]{4,}/i;

/** Judges the secret by its text alone. Never says anything of it but the verdict. */
export function judgeStrength(secret: Buffer, others: readonly string[]): CheckResult {
  const text = secret.toString('utf8');
  if (others.includes(text)) return bad('PURSER_SECRET is also the value of another setting.');
  if (bitsOf(text) < BITS_MIN || WORDS.test(text))
    return warn('PURSER_SECRET looks like words or a short text, and not like random bytes.');
  return good('PURSER_SECRET looks random.');
}

/** How many bits the text has if each character is drawn as often as it occurs. */
function bitsOf(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= count * Math.log2(count / text.length);
  return bits;
}
