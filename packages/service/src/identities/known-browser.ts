import { deriveKey } from '#kernel/crypto.ts';
import { createSignedNames, type SignedNames } from '#kernel/signed-name.ts';

/** Browsers that were signed in with an e-mail before: each has tries of its own for it, which no stranger uses up. */
export function createKnownBrowsers(secret: Buffer): SignedNames {
  return createSignedNames(deriveKey(secret, 'person-browser'));
}
