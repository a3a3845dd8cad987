import { seal, sha256, unseal } from '#kernel/crypto/crypto.ts';
import type { AppId } from '#kernel/values/ids.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';

const PREFIX = 'whsec_';
const RANDOM_LENGTH = 43; // 256 bits.
const FINGERPRINT_LENGTH = 16;

/** Makes and seals the secrets that sign deliveries. Unlike a key's, a hash is not enough: signing needs the secret. */
export interface SigningSecrets {
  readonly create: () => string;
  /** Lets an owner tell one secret from another. Reveals nothing about either. */
  readonly fingerprintOf: (secret: string) => string;
  /** Encrypts a secret for one app. Copied into another app's row, it cannot be opened. */
  readonly seal: (appId: AppId, secret: string) => Buffer;
  /**
   * Opens a sealed secret. It returns undefined if the secret was sealed under another key, because the former
   * `PURSER_SECRET` was lost.
   */
  readonly open: (appId: AppId, sealed: Buffer) => string | undefined;
}

/** A new secret: `whsec_` and 256 random bits. */
export const newSigningSecret = (): string => PREFIX + randomBase62(RANDOM_LENGTH);

/** Takes a `key` that is kept by the database, so that a change of `PURSER_SECRET` voids no secret. */
export function createSigningSecrets(key: Buffer): SigningSecrets {
  return {
    create: newSigningSecret,
    fingerprintOf: (secret) =>
      sha256(`purser webhook fingerprint ${secret}`).toString('hex').slice(0, FINGERPRINT_LENGTH),
    seal: (appId, secret) => seal(key, Buffer.from(appId), secret),
    open: (appId, sealed) => {
      try {
        return unseal(key, Buffer.from(appId), sealed);
      } catch {
        return undefined;
      }
    },
  };
}
