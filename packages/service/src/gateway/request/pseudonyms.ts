import { deriveKey, hmacSha256 } from '#kernel/crypto.ts';
import type { AppId, EndUserId } from '#kernel/ids.ts';

/** The names under which providers know an app's users and their caches. Whoever lacks the secret learns nothing of them. */
export interface Pseudonyms {
  readonly ofUser: (appId: AppId, userId: EndUserId) => string;
  /** A caller's cache key is its own user's alone: no app reads what another's prompts have left in a cache. */
  readonly ofCacheKey: (appId: AppId, userId: EndUserId, cacheKey: string) => string;
}

/** HMACs under keys used for nothing else: 43 characters each, where the format allows 64. */
export function createPseudonyms(secret: Buffer): Pseudonyms {
  const userKey = deriveKey(secret, 'provider-user');
  const cacheKeyKey = deriveKey(secret, 'provider-cache-key');
  return {
    ofUser: (appId, userId) => nameOf(userKey, [appId, userId]),
    ofCacheKey: (appId, userId, cacheKey) => nameOf(cacheKeyKey, [appId, userId, cacheKey]),
  };
}

/** As JSON, so that no two lists of parts read the same. */
function nameOf(key: Buffer, parts: readonly string[]): string {
  return hmacSha256(key, JSON.stringify(parts)).toString('base64url');
}
