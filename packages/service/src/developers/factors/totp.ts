import { createHmac } from 'node:crypto';
import { equalBytes } from '#kernel/crypto/crypto.ts';
import { randomBytes } from '#kernel/crypto/random.ts';

/** The length that RFC 4226 recommends: that of the SHA-1 block which makes the codes. */
const SECRET_BYTES = 20;
const STEP_MS = 30_000;
const DIGITS = 6;
const CODE = /^\d{6}$/;
/** One step to each side: clocks of phones differ, and people type slowly (RFC 6238, section 5.2). */
const STEPS_ASIDE = [0, -1, 1] as const;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export function newTotpSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** The code of one step of 30 seconds (RFC 6238 with SHA-1 and six digits, the only kind that every authenticator app knows). */
export function totpOf(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const at = (mac.at(-1) ?? 0) & 0xf; // The last four bits say where the number begins (RFC 4226, section 5.3).
  return String((mac.readUInt32BE(at) & 0x7fff_ffff) % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** The step that a code belongs to, at this time or 30 seconds to either side. Undefined when the code is wrong. */
export function stepOfCode(secret: Buffer, code: string, nowMs: number): number | undefined {
  if (!CODE.test(code)) return undefined;
  const now = Math.floor(nowMs / STEP_MS);
  return STEPS_ASIDE.map((aside) => now + aside).find((step) =>
    equalBytes(Buffer.from(totpOf(secret, step)), Buffer.from(code)),
  );
}

/** A secret as people type it into an authenticator app (RFC 4648, base32 without padding). */
export function base32Of(bytes: Buffer): string {
  let [text, bits, value] = ['', 0, 0];
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += BASE32.charAt((value >>> (bits - 5)) & 31);
    value &= (1 << bits) - 1; // What is left is less than five bits, so the next byte never overflows.
  }
  return bits === 0 ? text : text + BASE32.charAt((value << (5 - bits)) & 31);
}

/** The address that sets up an authenticator app, as a link or a QR code. `issuer` and `email` are what the app shows. */
export function otpauthUri(
  secret: string,
  { issuer, email }: { readonly issuer: string; readonly email: string },
): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`;
}
