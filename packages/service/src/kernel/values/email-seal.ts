import type { Brand } from '#kernel/values/brand.ts';
import { deriveKey, hmacSha256, seal, unseal } from '#kernel/crypto/crypto.ts';

/** An e-mail address as the database keeps it. */
type SealedEmail = Brand<string, 'SealedEmail'>;

/** Encrypts e-mail addresses, and texts that may contain one, before they are stored (decision 74). */
export interface EmailSeal {
  /** Seals an address, in lower case. The same address gives the same text, so that it can be looked up and be unique. */
  readonly seal: (address: string) => SealedEmail;
  /** Seals any text. The same text gives another result each time. */
  readonly sealText: (text: string) => string;
  /** Seals a text that contains something like an address, and leaves any other as it is. The same text gives the same result. */
  readonly conceal: (text: string) => string;
  /**
   * Opens what the other functions made. A text that is not sealed is returned as it is. A text
   * under another key is replaced by a name that is no address, so that one lost key does not break every list.
   */
  readonly open: <Text extends string>(text: Text) => Text;
}

/** The shape of a sealed text, for PostgreSQL as well. The checks of the tables repeat it. No address has it: it has no `@`. */
export const SEALED_SHAPE = '^e1[.][A-Za-z0-9_-]+$';

const SEALED = new RegExp(SEALED_SHAPE);
const PREFIX = 'e1.';
const ADDRESS = /\S@\S/;
const NONCE_BYTES = 12;
/** A text is filled up to a multiple of this, so that its length says little. */
const BLOCK_BYTES = 32;
const CONTEXT = Buffer.from('email-1');

/** Takes a `key` that has 32 bytes and is used for nothing else. */
export function createEmailSeal(key: Buffer): EmailSeal {
  const nonceKey = deriveKey(key, 'email-nonce');
  const cipherKey = deriveKey(key, 'email-cipher');

  function sealed(text: string, nonce?: Buffer<ArrayBuffer>): string {
    const bytes = Buffer.byteLength(text);
    // PostgreSQL keeps no NUL in a text, so the filling can be told from what it fills.
    const filled = text + '\0'.repeat(Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES - bytes);
    return PREFIX + seal(cipherKey, CONTEXT, filled, nonce).toString('base64url');
  }

  // A nonce that depends on the text repeats only with the text, and then reveals nothing but that.
  const repeatable = (text: string) => sealed(text, Buffer.from(hmacSha256(nonceKey, text).subarray(0, NONCE_BYTES)));

  return {
    seal: (address) => repeatable(address.toLowerCase()) as SealedEmail,
    sealText: (text) => sealed(text),
    conceal: (text) => (ADDRESS.test(text) || SEALED.test(text) ? repeatable(text) : text),
    open: <Text extends string>(text: Text): Text => {
      if (!SEALED.test(text)) return text;
      try {
        const bytes = Buffer.from(text.slice(PREFIX.length), 'base64url');
        return unseal(cipherKey, CONTEXT, bytes).replace(/\0+$/, '') as Text;
      } catch {
        return `unreadable ${text.slice(PREFIX.length, PREFIX.length + 8)}` as Text;
      }
    },
  };
}
