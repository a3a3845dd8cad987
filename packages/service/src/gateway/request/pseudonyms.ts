import { hmacSha256 } from '#kernel/crypto/crypto.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';
import type { Keys } from '#kernel/crypto/keys.ts';

/** The names under which providers know an app's users and their caches. Without the secret they tell nothing. */
export interface Pseudonyms {
  readonly ofUser: (appId: AppId, userId: EndUserId) => string;
  /** A cache key holds for one user of one app, so that no app can read what another's prompts left in a cache. */
  readonly ofCacheKey: (appId: AppId, userId: EndUserId, cacheKey: string) => string;
}

/**
 * Creates pseudonyms as HMACs under keys that are used for nothing else, and that the database keeps: a change of
 * `PURSER_SECRET` renames nobody. Each has 43 characters; the format allows 64.
 */
export function createPseudonyms(keys: Keys): Pseudonyms {
  const userKey = keys.kept('provider-user');
  const cacheKeyKey = keys.kept('provider-cache-key');
  return {
    ofUser: (appId, userId) => nameOf(userKey, [appId, userId]),
    ofCacheKey: (appId, userId, cacheKey) => nameOf(cacheKeyKey, [appId, userId, cacheKey]),
  };
}

/** The parts are joined as JSON, so that no two different lists give the same text. */
function nameOf(key: Buffer, parts: readonly string[]): string {
  return hmacSha256(key, JSON.stringify(parts)).toString('base64url');
}
