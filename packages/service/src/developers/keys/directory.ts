import { isApiKey } from '#developers/keys/key-text.ts';
import { type KeyFacts, keyFactsOf } from '#developers/keys/settings.ts';
import { type KeyRow, selectKeyByDigest, selectKeysChangedSince } from '#developers/keys/queries.ts';
import { type AppRow, selectApp, selectAppsChangedSince, selectNewestGeneration } from '#developers/apps/queries.ts';
import type { Queryable } from '#db/pool/pool.ts';
import { selectCopies } from '#db/processes/queries.ts';
import { systemClock } from '#kernel/time/clock.ts';
import { sha256Base64 } from '#kernel/crypto/crypto.ts';
import type { AccountId, AppId, EndUserId, KeyId, Mode } from '#kernel/values/ids.ts';

/** What the data plane needs to know about an app. */
export interface AppFacts {
  readonly appId: AppId;
  /** Who owns the app. */
  readonly accountId: AccountId;
  readonly isSuspended: boolean;
  readonly isFirstParty: boolean;
  readonly limits: CallLimits;
}

export interface AppLimits {
  readonly ratePerMinute: number;
  readonly rateBurst: number;
  readonly maxStreamsPerUser: number;
}

/** The limits of an app, with those that a restart alone can change. */
export interface CallLimits extends AppLimits {
  /**
   * The plain calls that a user may have at once, across all gateways. They are as many as the streams, if an app may
   * have more of those (CC-18).
   */
  readonly maxCallsPerUser: number;
  /** The plain calls that the app may have at once in each gateway process. */
  readonly maxCallsPerApp: number;
}

/** Who is calling: the app behind a valid key. */
export interface Caller {
  readonly app: AppFacts;
  readonly keyId: KeyId;
  readonly mode: Mode;
  /** The only end user that this key may name (CP-08). Null if it may name any user. */
  readonly boundUser: EndUserId | null;
  /** How long after its end a call with this key answers others with the same body (CC-14). Null if it does not. */
  readonly joinSeconds: number | null;
  readonly key: KeyFacts;
}

/** Keeps keys and apps in memory, so that a call costs no database read. */
export interface KeyDirectory {
  /**
   * The caller behind a key; undefined when the key is malformed, unknown, revoked or expired. A suspended app is still a caller: it
   * is refused later, with a reason. Synchronous when the key is in memory.
   */
  readonly find: (apiKey: string) => Caller | undefined | Promise<Caller | undefined>;
  /** Loads what has changed in the database since the last refresh. */
  readonly refresh: () => Promise<void>;
}

/**
 * Beyond this number all keys are dropped, instead of evicting one by one: that needs no bookkeeping on the hot path, and
 * keys in use come back with their next call.
 */
const KEYS_MAX = 100_000;
/** Unknown digests are remembered, so that a caller who repeats a made-up key costs one read and not one for every call. */
const UNKNOWN_DIGESTS_MAX = 10_000;

/**
 * Loads a key when it is first used and keeps it. `refresh` brings every later change. A row never replaces one of a later
 * generation: otherwise a look-up that was already running could undo a revocation (AU-09). When the whole directory was copied again, all
 * that was known is forgotten: what was wrong may have had a later generation.
 */
export function createKeyDirectory(db: Queryable, defaults: CallLimits, onUse: (keyId: KeyId) => void): KeyDirectory {
  const keys = new Map<string, KeyRow & { readonly facts: KeyFacts }>();
  const apps = new Map<AppId, AppRow & { readonly facts: AppFacts }>();
  const unknown = new Set<string>();
  const loading = new Map<string, Promise<Caller | undefined>>();
  let seen: bigint | undefined;
  let copies = 0;

  function keepKey(row: KeyRow): void {
    const digest = row.digest.toString('base64');
    if ((keys.get(digest)?.generation ?? -1n) >= row.generation) return;
    if (keys.size >= KEYS_MAX) keys.clear();
    keys.set(digest, { ...row, facts: keyFactsOf(row) });
    unknown.delete(digest);
  }

  function keepApp(row: AppRow): void {
    if ((apps.get(row.app_id)?.generation ?? -1n) < row.generation)
      apps.set(row.app_id, { ...row, facts: factsOf(row, defaults) });
  }

  function callerOf(digest: string): Caller | undefined {
    const key = keys.get(digest);
    const app = key === undefined || !isInForce(key) ? undefined : apps.get(key.app_id);
    if (key === undefined || app === undefined) return undefined;
    onUse(key.key_id);
    return callerWith(key, app.facts);
  }

  async function load(digest: string): Promise<Caller | undefined> {
    const copiesBefore = copies;
    const { key, app } = await readKey(db, digest);
    if (copies !== copiesBefore) return load(digest);
    if (key === undefined || app === undefined) return remember(unknown, digest);
    keepApp(app);
    keepKey(key);
    return callerOf(digest);
  }

  /** Shares one look-up among all calls that come with the same unknown key, as they do right after a start. */
  function loadOnce(digest: string): Promise<Caller | undefined> {
    const inFlight = loading.get(digest) ?? load(digest).finally(() => loading.delete(digest));
    loading.set(digest, inFlight);
    return inFlight;
  }

  return {
    find: (apiKey) => {
      const digest = sha256Base64(apiKey);
      const key = keys.get(digest);
      // A refresh may bring a key whose app was never used here. Then the first call loads the app.
      if (key !== undefined && (key.revoked_at !== null || apps.has(key.app_id))) return callerOf(digest);
      // The checksum is needed only for texts that are not in memory: a text in memory was a valid key.
      return unknown.has(digest) || !isApiKey(apiKey) ? undefined : loadOnce(digest);
    },
    refresh: async () => {
      const copied = await selectCopies(db);
      if (copied !== copies) for (const known of [keys, apps, unknown]) known.clear();
      copies = copied;
      // Read before the rows: changes committed while the rows are read come again with the next refresh, and none is lost.
      const newest = await selectNewestGeneration(db);
      const since = seen ?? newest;
      for (const row of await selectAppsChangedSince(db, since)) keepApp(row);
      for (const row of await selectKeysChangedSince(db, since)) keepKey(row);
      seen = newest;
    },
  };
}

function isInForce(key: KeyRow): boolean {
  if (key.expires_at !== null && key.expires_at.getTime() <= systemClock.nowMs()) return false;
  return key.revoked_at === null;
}

async function readKey(db: Queryable, digest: string): Promise<{ readonly key?: KeyRow; readonly app?: AppRow }> {
  const key = await selectKeyByDigest(db, Buffer.from(digest, 'base64'));
  const app = key === undefined ? undefined : await selectApp(db, key.app_id);
  return { ...(key && { key }), ...(app && { app }) };
}

/** Remembers a digest, so that a caller who repeats a made-up key costs one read and not one for every call. */
function remember(unknown: Set<string>, digest: string): undefined {
  if (unknown.size >= UNKNOWN_DIGESTS_MAX) unknown.clear();
  unknown.add(digest);
}

function callerWith(key: KeyRow & { readonly facts: KeyFacts }, app: AppFacts): Caller {
  const { key_id: keyId, mode, bound_user: boundUser, join_seconds: joinSeconds, facts } = key;
  return { app, keyId, mode, boundUser, joinSeconds, key: facts };
}

/** Reads an app, for a call without a key of its own. */
export async function readAppFacts(db: Queryable, defaults: CallLimits, appId: AppId): Promise<AppFacts | undefined> {
  const row = await selectApp(db, appId);
  return row && factsOf(row, defaults);
}

/** An app without limits of its own gets the service's defaults, which a restart may change. */
function factsOf(row: AppRow, defaults: CallLimits): AppFacts {
  const maxStreamsPerUser = row.max_streams_per_user ?? defaults.maxStreamsPerUser;
  return {
    appId: row.app_id,
    accountId: row.account_id,
    isSuspended: row.status === 'suspended',
    isFirstParty: row.is_first_party,
    limits: {
      ratePerMinute: row.rate_per_minute ?? defaults.ratePerMinute,
      rateBurst: row.rate_burst ?? defaults.rateBurst,
      maxStreamsPerUser,
      maxCallsPerUser: Math.max(maxStreamsPerUser, defaults.maxCallsPerUser),
      maxCallsPerApp: defaults.maxCallsPerApp,
    },
  };
}
