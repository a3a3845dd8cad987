import type { Keys } from '#kernel/crypto/keys.ts';
import { createSignedNames, type SignedNames } from '#kernel/crypto/signed-name.ts';

/**
 * Recognises browsers that have signed in with an e-mail before. Each has attempts of its own for that e-mail, so strangers
 * who request or guess codes cannot lock the owner out.
 */
export function createKnownBrowsers(keys: Keys): SignedNames {
  return createSignedNames(keys.proof('person-browser'));
}
