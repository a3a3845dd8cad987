import { isApiKey } from '#accounts/api-key.ts';
import {
  type AppRow,
  type KeyRow,
  selectApp,
  selectAppsChangedSince,
  selectKeyByDigest,
  selectKeysChangedSince,
  selectNewestGeneration,
} from '#accounts/queries.ts';
import type { Queryable } from '#db/pool.ts';
import { sha256Base64 } from '#kernel/crypto.ts';
import type { AppId, KeyId, Mode } from '#kernel/ids.ts';

/** What the data plane needs to know of an app. */
export interface AppFacts {
  readonly appId: AppId;
  readonly isSuspended: boolean;
  readonly isFirstParty: boolean;
  readonly limits: AppLimits;
}

export interface AppLimits {
  readonly ratePerMinute: number;
  readonly rateBurst: number;
  readonly maxStreamsPerUser: number;
}

/** Who is calling: the app behind a valid key. */
export interface Caller {
  readonly app: AppFacts;
  readonly mode: Mode;
}

/** Keys and apps in memory, so that a call costs no database read. */
export interface KeyDirectory {
  /** The caller behind a key, or undefined when it is malformed, unknown or revoked. A suspended app is a caller. */
  readonly find: (apiKey: string) => Caller | undefined | Promise<Caller | undefined>;
  /** Takes over what has changed in the database since the last time. */
  readonly refresh: () => Promise<void>;
}

const KEYS_MAX = 100_000;
const UNKNOWN_DIGESTS_MAX = 10_000;

/**
 * Loads a key when it is first used and keeps it. `refresh` brings every change since; a row read earlier never
 * replaces one of a later generation, so that a revocation cannot be lost to a lookup that ran beside it (AU-09).
 */
export function createKeyDirectory(db: Queryable, defaults: AppLimits, onUse: (keyId: KeyId) => void): KeyDirectory {
  const keys = new Map<string, KeyRow>();
  const apps = new Map<AppId, AppRow & { readonly facts: AppFacts }>();
  const unknown = new Set<string>();
  const loading = new Map<string, Promise<Caller | undefined>>();
  let seen: bigint | undefined;

  function keepKey(row: KeyRow): void {
    const digest = row.digest.toString('base64');
    const known = keys.get(digest);
    if (known !== undefined && known.generation >= row.generation) return;
    if (keys.size >= KEYS_MAX) keys.clear(); // They come back one by one as they are used.
    keys.set(digest, row);
    unknown.delete(digest);
  }

  function keepApp(row: AppRow): void {
    const known = apps.get(row.app_id);
    if (known === undefined || known.generation < row.generation)
      apps.set(row.app_id, { ...row, facts: factsOf(row, defaults) });
  }

  function callerOf(digest: string): Caller | undefined {
    const key = keys.get(digest);
    if (key === undefined || key.revoked_at !== null) return undefined;
    const app = apps.get(key.app_id);
    if (app === undefined) return undefined;
    onUse(key.key_id);
    return { app: app.facts, mode: key.mode };
  }

  async function load(digest: string): Promise<Caller | undefined> {
    const key = await selectKeyByDigest(db, Buffer.from(digest, 'base64'));
    const app = key === undefined ? undefined : await selectApp(db, key.app_id);
    if (key === undefined || app === undefined) {
      if (unknown.size >= UNKNOWN_DIGESTS_MAX) unknown.clear();
      unknown.add(digest);
      return undefined;
    }
    keepApp(app);
    keepKey(key);
    return callerOf(digest);
  }

  /** One lookup for all calls that come with the same key before it is known, as after a start. */
  function loadOnce(digest: string): Promise<Caller | undefined> {
    const underWay = loading.get(digest) ?? load(digest).finally(() => loading.delete(digest));
    loading.set(digest, underWay);
    return underWay;
  }

  return {
    find: (apiKey) => {
      const digest = sha256Base64(apiKey);
      const key = keys.get(digest);
      // A refresh brings keys of apps that were never used here: their app is read with the first call.
      if (key !== undefined && (key.revoked_at !== null || apps.has(key.app_id))) return callerOf(digest);
      // Only of what is not in memory is the checksum looked at: what is there was a key.
      return unknown.has(digest) || !isApiKey(apiKey) ? undefined : loadOnce(digest);
    },
    refresh: async () => {
      // Read before the rows: what is committed while they are read is read again next time.
      const newest = await selectNewestGeneration(db);
      const since = seen ?? newest;
      for (const row of await selectAppsChangedSince(db, since)) keepApp(row);
      for (const row of await selectKeysChangedSince(db, since)) keepKey(row);
      seen = newest;
    },
  };
}

function factsOf(row: AppRow, defaults: AppLimits): AppFacts {
  return {
    appId: row.app_id,
    isSuspended: row.status === 'suspended',
    isFirstParty: row.is_first_party,
    limits: {
      ratePerMinute: row.rate_per_minute ?? defaults.ratePerMinute,
      rateBurst: row.rate_burst ?? defaults.rateBurst,
      maxStreamsPerUser: row.max_streams_per_user ?? defaults.maxStreamsPerUser,
    },
  };
}
