import { digestOfApiKey, hintOfApiKey, newApiKey } from '#developers/keys/key-text.ts';
import { needsVerifiedEmail } from '#developers/sign-in/email-verification.ts';
import {
  countKeysInForce,
  expireKey,
  insertKey,
  revokeKey,
  selectKeyOfApp,
  selectKeysOfApp,
  updateKey,
} from '#developers/keys/queries.ts';
import { type KeySettings, NO_SETTINGS } from '#developers/keys/settings.ts';
import {
  type ApiKey,
  factsOf,
  type KeyChange,
  type KeyOptions,
  keyOf,
  type KeyRules,
  refusalOf,
  setFacts,
  withChange,
} from '#developers/keys/api-key.ts';
import { changedFacts, type Owner, ownersEntry } from '#audit/entry.ts';
import { insertAuditEntry } from '#audit/queries.ts';
import { inTransaction, type Pool, type Queryable } from '#db/pool/pool.ts';
import { bumpGeneration } from '#db/processes/queries.ts';
import { type AppId, type KeyId, newKeyId } from '#kernel/values/ids.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/** A key that was just made. This is the only place where the whole key ever appears (AU-08). */
interface MintedKey {
  readonly key: ApiKey;
  readonly apiKey: string;
}

/** Its successor, and when the rolled key ends. */
interface RolledKey extends MintedKey {
  readonly endsAtMs: number;
}

/** What an owner does with the keys of an app. The caller has checked that the app is theirs. */
export interface OwnKeys {
  /**
   * Makes a key. An account that has not verified its e-mail makes sandbox keys only. `keyId`: its id, from `keyIdFrom`; refused if
   * the app has a key with it. If it is undefined, a new one is made.
   */
  readonly mintKey: (
    owner: Owner,
    appId: AppId,
    key: KeyOptions & KeyChange & { readonly keyId?: KeyId | undefined },
  ) => Promise<MintedKey | Refusal<'CONFLICT' | 'BAD_REQUEST' | 'FORBIDDEN'>>;
  /** Lists all keys in force, and the hundred that ended last, by revocation or expiry. */
  readonly listKeys: (appId: AppId) => Promise<readonly ApiKey[]>;
  readonly findKey: (appId: AppId, keyId: KeyId) => Promise<ApiKey | undefined>;
  /**
   * Changes name, expiry and limits: at once in this process, and in the others by `WhenEverywhere`. A revoked key is refused, and so is
   * a later expiry for one that has expired when the app has all keys that it may have.
   */
  readonly changeKey: (
    owner: Owner,
    key: KeyOfApp,
    change: KeyChange,
  ) => Promise<ApiKey | Refusal<'CONFLICT' | 'BAD_REQUEST'> | undefined>;
  /**
   * Makes the successor of a key, with the same options and limits, and lets the key expire after the overlap. Both count for
   * one rate and one budget. A key has one successor: a second roll is refused and names the first one's. The successor is a new
   * key, so an account that has not verified its e-mail rolls sandbox keys only.
   */
  readonly rollKey: (
    owner: Owner,
    key: KeyOfApp,
    roll: Roll,
  ) => Promise<RolledKey | Refusal<'CONFLICT' | 'BAD_REQUEST' | 'FORBIDDEN'> | undefined>;
  /** Revokes a key, at once in this process and in the others by `WhenEverywhere` (AU-09). False when the app has no such key. */
  readonly revokeKey: (owner: Owner, appId: AppId, keyId: KeyId) => Promise<boolean>;
}

interface KeyOfApp {
  readonly appId: AppId;
  readonly keyId: KeyId;
}

interface Roll {
  /** How long both keys work. 0: the old one ends at once. */
  readonly overlapSeconds: number;
  /** When the successor expires. If it is undefined, it expires when the old key would have. */
  readonly expiresAtMs?: number | null | undefined;
}

interface OwnKeysOptions extends KeyRules {
  readonly pool: Pool;
  /** Makes this process see a change before the caller gets the answer, so that a new key works in the very next call. */
  readonly refresh: () => Promise<void>;
}

const KEYS_MAX = 100;
const ENDED_LISTED_MAX = 100;
const TOO_MANY_KEYS = `An app has at most ${KEYS_MAX} keys that are in force. Revoke one that is no longer used.`;
const MADE_BEFORE = 'This key was made before.';
const REVOKED = 'This key is revoked, for good. Create another.';

export function createOwnKeys(options: OwnKeysOptions): OwnKeys {
  const { pool } = options;
  return {
    listKeys: async (appId) => (await selectKeysOfApp(pool, appId, ENDED_LISTED_MAX)).map(keyOf),
    findKey: async (appId, keyId) => {
      const row = await selectKeyOfApp(pool, { appId, keyId });
      return row && keyOf(row);
    },
    mintKey: createMint(options),
    changeKey: createChange(options),
    rollKey: createRoll(options),
    revokeKey: async (owner, appId, keyId) => {
      const isThere = await inTransaction(pool, async (tx) => {
        const isRevoked = await revokeKey(tx, { appId, keyId }, await bumpGeneration(tx, 'accounts'));
        const act = { action: 'key.revoke', subject: keyId, appId };
        if (isRevoked) await insertAuditEntry(tx, ownersEntry(owner, act));
        return isRevoked;
      });
      await options.refresh();
      return isThere;
    },
  };
}

function createMint({ pool, refresh, ...rules }: OwnKeysOptions): OwnKeys['mintKey'] {
  return async (owner, appId, { keyId: chosen, mode, boundUser, joinSeconds, ...change }) => {
    const options = { mode, boundUser, joinSeconds };
    const refused = refusalOf(change, rules);
    if (refused !== undefined) return refused;
    const notVerified = mode === 'live' ? await needsVerifiedEmail(pool, owner.accountId) : undefined;
    if (notVerified !== undefined) return notVerified;
    if (await hasAll(pool, appId)) return refuse('CONFLICT', TOO_MANY_KEYS);
    const apiKey = newApiKey(mode);
    const keyId = chosen ?? newKeyId();
    const key = await inTransaction(pool, async (tx) => {
      const generation = await bumpGeneration(tx, 'accounts'); // Also the lock under which the limit is checked.
      if (chosen !== undefined && (await selectKeyOfApp(tx, { appId, keyId })) !== undefined) return MADE_BEFORE;
      if (await hasAll(tx, appId)) return TOO_MANY_KEYS;
      return insertNew(tx, {
        owner,
        appId,
        keyId,
        apiKey,
        generation,
        ...options,
        settings: withChange(NO_SETTINGS, change),
      });
    });
    if (typeof key === 'string') return refuse('CONFLICT', key);
    await refresh();
    return { key, apiKey };
  };
}

function createChange({ pool, refresh, ...rules }: OwnKeysOptions): OwnKeys['changeKey'] {
  return async (owner, key, change) => {
    const refused = refusalOf(change, rules);
    if (refused !== undefined) return refused;
    const changed = await inTransaction(pool, async (tx) => {
      const generation = await bumpGeneration(tx, 'accounts');
      const row = await selectKeyOfApp(tx, key);
      if (row === undefined) return undefined;
      if (row.revoked_at !== null) return refuse('CONFLICT', REVOKED);
      const before = keyOf(row);
      const settings = withChange(before.settings, change);
      // A key that comes back after its expiry needs a place among those in force.
      const comesBack = hasExpired(before.settings, rules) && !hasExpired(settings, rules);
      if (comesBack && (await hasAll(tx, key.appId))) return refuse('CONFLICT', TOO_MANY_KEYS);
      const facts = changedFacts(factsOf(before.settings), factsOf(settings));
      if (Object.keys(facts.after).length === 0) return before;
      await updateKey(tx, { ...key, settings }, generation);
      const act = { action: 'key.edit', subject: key.keyId, appId: key.appId, ...facts };
      await insertAuditEntry(tx, ownersEntry(owner, act));
      return { ...before, settings };
    });
    await refresh();
    return changed;
  };
}

function createRoll({ pool, refresh, ...rules }: OwnKeysOptions): OwnKeys['rollKey'] {
  return async (owner, { appId, keyId }, { overlapSeconds, expiresAtMs }) => {
    const impossible = refusalOf({ expiresAtMs }, rules);
    if (impossible !== undefined) return impossible;
    const rolled = await inTransaction(pool, async (tx) => {
      const generation = await bumpGeneration(tx, 'accounts');
      const row = await selectKeyOfApp(tx, { appId, keyId });
      if (row === undefined) return undefined;
      const old = keyOf(row);
      const notVerified = old.mode === 'live' ? await needsVerifiedEmail(tx, owner.accountId) : undefined;
      const refused = notVerified ?? (await refusalOfRoll(tx, old, { appId, overlapSeconds, ...rules }));
      if (refused !== undefined) return refused;
      const endsAt = await expireKey(tx, { keyId, inSeconds: overlapSeconds }, generation);
      const apiKey = newApiKey(old.mode);
      const { mode, boundUser, joinSeconds, line } = old;
      const settings = withChange(old.settings, { expiresAtMs });
      const of = { owner, appId, keyId: newKeyId(), apiKey, generation };
      const key = await insertNew(tx, {
        ...of,
        mode,
        boundUser,
        joinSeconds,
        settings,
        succeeds: { keyId, line },
      });
      const before = factsOf(old.settings);
      const after = { ...before, expiresAt: endsAt.toISOString(), successor: key.keyId };
      const act = { action: 'key.roll', subject: keyId, appId, ...changedFacts(before, after) };
      await insertAuditEntry(tx, ownersEntry(owner, act));
      return { key, apiKey, endsAtMs: endsAt.getTime() };
    });
    await refresh();
    return rolled;
  };
}

async function refusalOfRoll(
  tx: Queryable,
  old: ApiKey,
  {
    appId,
    overlapSeconds,
    clock,
  }: Pick<KeyRules, 'clock'> & { readonly appId: AppId; readonly overlapSeconds: number },
): Promise<Refusal<'CONFLICT'> | undefined> {
  if (old.revokedAtMs !== undefined) return refuse('CONFLICT', REVOKED);
  if (old.rolledTo !== undefined) {
    const message = `This key was rolled before, and its successor is \`${old.rolledTo}\`. If its text was lost, roll the successor.`;
    return refuse('CONFLICT', message);
  }
  if (hasExpired(old.settings, { clock })) {
    return refuse('CONFLICT', 'This key has expired. Set a later expiry first, or create another key.');
  }
  const room = overlapSeconds === 0 ? 1 : 0; // The old key ends as the new one begins.
  return (await hasAll(tx, appId, room)) ? refuse('CONFLICT', TOO_MANY_KEYS) : undefined;
}

function hasExpired({ expiresAtMs }: KeySettings, { clock }: Pick<KeyRules, 'clock'>): boolean {
  return expiresAtMs !== null && expiresAtMs <= clock.nowMs();
}

async function hasAll(db: Queryable, appId: AppId, room = 0): Promise<boolean> {
  return (await countKeysInForce(db, appId)) >= KEYS_MAX + room;
}

interface NewKey extends KeyOptions {
  readonly owner: Owner;
  readonly appId: AppId;
  readonly keyId: KeyId;
  readonly apiKey: string;
  readonly generation: bigint;
  readonly settings: KeySettings;
  readonly succeeds?: { readonly keyId: KeyId; readonly line: KeyId };
}

/** Adds a key with its entry in the trail, and reads it back. */
async function insertNew(tx: Queryable, { owner, apiKey, generation, ...key }: NewKey): Promise<ApiKey> {
  const { keyId, appId, mode, boundUser, joinSeconds, settings, succeeds } = key;
  const hint = hintOfApiKey(apiKey);
  await insertKey(tx, { ...key, digest: digestOfApiKey(apiKey), hint }, generation);
  const options = { mode, hint, userId: boundUser, joinSeconds };
  const after = { ...options, ...setFacts(settings), rolledFrom: succeeds?.keyId };
  await insertAuditEntry(tx, ownersEntry(owner, { action: 'key.create', subject: keyId, appId, after }));
  const row = await selectKeyOfApp(tx, { appId, keyId });
  if (row === undefined) throw new Error('The key cannot be read back after it was created.');
  return keyOf(row);
}
