import { deriveKey, seal, sha256, unseal } from '#kernel/crypto.ts';
import type { AppId } from '#kernel/ids.ts';
import { randomBase62 } from '#kernel/random.ts';

const PREFIX = 'whsec_';
const RANDOM_LENGTH = 43; // 256 bits.
const FINGERPRINT_LENGTH = 16;

/** Makes, names and seals the secrets by which deliveries are signed. */
export interface SigningSecrets {
  readonly create: () => string;
  /** Tells one secret from the next, and nothing of either. */
  readonly fingerprintOf: (secret: string) => string;
  /** Sealed for one app: in another's row it cannot be opened. */
  readonly seal: (appId: AppId, secret: string) => Buffer;
  /** Undefined where the service's own secret is another than the one that it was sealed under. */
  readonly open: (appId: AppId, sealed: Buffer) => string | undefined;
}

/** `whsec_` and 256 bits. */
export const newSigningSecret = (): string => PREFIX + randomBase62(RANDOM_LENGTH);

export function createSigningSecrets(serviceSecret: Buffer): SigningSecrets {
  const key = deriveKey(serviceSecret, 'webhook-secrets');
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
