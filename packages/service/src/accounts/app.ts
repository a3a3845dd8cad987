import type { AppRole } from '@purser/contract/access.ts';
import { digestOfApiKey, hintOfApiKey, newApiKey } from '#accounts/api-key.ts';
import { needsVerifiedEmail } from '#accounts/email-verification.ts';
import {
  countKeysInForce,
  insertKey,
  type KeyListRow,
  revokeKey,
  selectKeyMode,
  selectKeysOfApp,
} from '#accounts/key-queries.ts';
import { countAppsMadeBy, insertApp, type OwnAppRow, updateApp } from '#accounts/queries.ts';
import { type MembershipRow, selectMembership, selectMemberships } from '#accounts/team-queries.ts';
import { changedFacts, type Owner, ownersEntry } from '#audit/entry.ts';
import { insertAuditEntry } from '#audit/queries.ts';
import { inTransaction, type Pool, type Queryable } from '#db/pool.ts';
import { bumpGeneration } from '#db/queries.ts';
import { type AccountId, type AppId, type EndUserId, type KeyId, type Mode, newAppId, newKeyId } from '#kernel/ids.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';

/** An app as its members see it. */
export interface App {
  readonly appId: AppId;
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** One of them, or null: then the pages lead users back to the first. */
  readonly returnUri: string | null;
  readonly status: 'active' | 'suspended';
  /** An app of the operator's own may call reserved models too (MO-04). Not in answers to owners. */
  readonly isFirstParty: boolean;
  readonly createdAtMs: number;
}

/** An app together with what one account may do with it. */
interface Membership {
  readonly app: App;
  readonly role: AppRole;
}

/** What an owner chooses when they make a key. None of it can be changed later. */
interface KeyOptions {
  /** The only end user of calls with this key. Undefined: each call names its own. */
  readonly boundUser: EndUserId | undefined;
  /** How long after its end a call answers others with the same body (CC-14). Undefined: only a marked retry gets its answer. */
  readonly joinSeconds: number | undefined;
}

/** A key as its owner sees it. The key itself cannot be read again. */
export interface ApiKey extends KeyOptions {
  readonly keyId: KeyId;
  readonly mode: Mode;
  /** The prefix and last characters: enough for its owner to tell it from others. */
  readonly hint: string;
  readonly createdAtMs: number;
  /** Recorded within a minute of the use. Undefined when the key was never used. */
  readonly lastUsedAtMs: number | undefined;
  readonly revokedAtMs: number | undefined;
}

/** The apps of accounts and their keys. An app of others looks the same as one that does not exist (AU-06). */
export interface OwnApps {
  readonly create: (owner: Owner, app: Pick<App, 'name' | 'redirectUris'>) => Promise<App | Refusal<'CONFLICT'>>;
  /** The apps of which the account is a member, oldest first. */
  readonly list: (accountId: AccountId) => Promise<readonly Membership[]>;
  /**
   * Decides who may see an app, and what they may do with it: every route and page of an app begins with this. It reads the
   * database, so a member who is removed has no access with their next request. Undefined for everybody who is no member (AU-06).
   */
  readonly membership: (accountId: AccountId, appId: AppId) => Promise<Membership | undefined>;
  /** Refuses a return address that is not among the redirect addresses, as they are after the change. */
  readonly change: (owner: Owner, appId: AppId, change: AppChange) => Promise<App | Refusal<'BAD_REQUEST'> | undefined>;
  /**
   * Makes a key. This answer is the only place where the whole key ever appears (AU-08). An account that has not verified its
   * e-mail makes sandbox keys only.
   */
  readonly mintKey: (
    owner: Owner,
    appId: AppId,
    key: KeyOptions & { readonly mode: Mode },
  ) => Promise<{ readonly keyId: KeyId; readonly apiKey: string } | Refusal<'CONFLICT' | 'FORBIDDEN'>>;
  /** Lists all keys in force, and the hundred that were revoked last. */
  readonly listKeys: (appId: AppId) => Promise<readonly ApiKey[]>;
  /** The mode of a key, which decides the role that changing it needs. Undefined when the app has no such key. */
  readonly modeOfKey: (appId: AppId, keyId: KeyId) => Promise<Mode | undefined>;
  /** Revokes a key, at once in this process and within a second in the others (AU-09). False when the app has no such key. */
  readonly revokeKey: (owner: Owner, appId: AppId, keyId: KeyId) => Promise<boolean>;
}

/** Undefined fields stay as they are. */
interface AppChange {
  readonly name: string | undefined;
  readonly redirectUris: readonly string[] | undefined;
  /** Null clears it. */
  readonly returnUri: string | null | undefined;
}

interface OwnAppsOptions {
  readonly pool: Pool;
  /** Makes this process see a change before the caller gets the answer, so that a new key works in the very next call. */
  readonly refresh: () => Promise<void>;
}

const APPS_MAX = 100;
const KEYS_MAX = 100;
const REVOKED_LISTED_MAX = 100;
const NOT_ALLOWED = '`returnUri` must be one of the `redirectUris` of the app, character by character.';
const TOO_MANY_APPS = `An account makes at most ${APPS_MAX} apps.`;
const TOO_MANY_KEYS = `An app has at most ${KEYS_MAX} keys that are not revoked.`;

export function createOwnApps(options: OwnAppsOptions): OwnApps {
  return { ...createApps(options), ...createKeys(options) };
}

function createApps({ pool }: OwnAppsOptions): Pick<OwnApps, 'create' | 'list' | 'membership' | 'change'> {
  return {
    create: async (by, { name, redirectUris }) => {
      const owner = by.accountId;
      const app = { appId: newAppId(), name, redirectUris, isFirstParty: false, limits: undefined };
      const hasAll = async (db: Queryable) => (await countAppsMadeBy(db, owner)) >= APPS_MAX;
      // Checked once without the lock, so that an owner at the limit cannot keep others waiting for the lock.
      if (await hasAll(pool)) return refuse('CONFLICT', TOO_MANY_APPS);
      const act = { action: 'app.create', subject: app.appId, appId: app.appId, after: { name, redirectUris } };
      const isMade = await inTransaction(pool, async (tx) => {
        // Also the lock under which the limit is checked: two requests at once could both see room for one more.
        const generation = await bumpGeneration(tx, 'accounts');
        if (await hasAll(tx)) return false;
        await insertApp(tx, owner, app, generation);
        await insertAuditEntry(tx, ownersEntry(by, act));
        return true;
      });
      if (!isMade) return refuse('CONFLICT', TOO_MANY_APPS);
      const row = await selectMembership(pool, owner, app.appId);
      if (row === undefined) throw new Error('The app cannot be read back after it was created.');
      return appOf(row);
    },
    list: async (accountId) => (await selectMemberships(pool, accountId)).map(membershipOf),
    membership: async (accountId, appId) => {
      const row = await selectMembership(pool, accountId, appId);
      return row === undefined ? undefined : membershipOf(row);
    },
    change: (by, appId, change) =>
      inTransaction(pool, async (tx) => {
        const before = await selectMembership(tx, by.accountId, appId);
        if (before === undefined) return undefined;
        const row = await updateApp(tx, { appId, ...change });
        if (row === undefined) return refuse('BAD_REQUEST', NOT_ALLOWED, { param: 'returnUri' });
        const changed = changedFacts(factsOf(before), factsOf(row));
        const act = { action: 'app.edit', subject: appId, appId, ...changed };
        if (Object.keys(changed.after).length > 0) await insertAuditEntry(tx, ownersEntry(by, act));
        return appOf(row);
      }),
  };
}

function createKeys({
  pool,
  refresh,
}: OwnAppsOptions): Pick<OwnApps, 'mintKey' | 'listKeys' | 'modeOfKey' | 'revokeKey'> {
  return {
    mintKey: async (owner, appId, { mode, boundUser, joinSeconds }) => {
      const hasAll = async (db: Queryable) => (await countKeysInForce(db, appId)) >= KEYS_MAX;
      const notVerified = mode === 'live' ? await needsVerifiedEmail(pool, owner.accountId) : undefined;
      if (notVerified !== undefined) return notVerified;
      if (await hasAll(pool)) return refuse('CONFLICT', TOO_MANY_KEYS);
      const keyId = newKeyId();
      const apiKey = newApiKey(mode);
      const key = {
        keyId,
        appId,
        digest: digestOfApiKey(apiKey),
        mode,
        hint: hintOfApiKey(apiKey),
        boundUser,
        joinSeconds,
      };
      const isMade = await inTransaction(pool, async (tx) => {
        const generation = await bumpGeneration(tx, 'accounts'); // Also the lock under which the limit is checked.
        if (await hasAll(tx)) return false;
        await insertKey(tx, key, generation);
        const act = {
          action: 'key.create',
          subject: keyId,
          appId,
          after: { mode, hint: key.hint, userId: boundUser, joinSeconds },
        };
        await insertAuditEntry(tx, ownersEntry(owner, act));
        return true;
      });
      if (!isMade) return refuse('CONFLICT', TOO_MANY_KEYS);
      await refresh();
      return { keyId, apiKey };
    },
    listKeys: async (appId) => (await selectKeysOfApp(pool, appId, REVOKED_LISTED_MAX)).map(keyOf),
    modeOfKey: (appId, keyId) => selectKeyMode(pool, appId, keyId),
    revokeKey: async (owner, appId, keyId) => {
      const isThere = await inTransaction(pool, async (tx) => {
        const isRevoked = await revokeKey(tx, { appId, keyId }, await bumpGeneration(tx, 'accounts'));
        const act = { action: 'key.revoke', subject: keyId, appId };
        if (isRevoked) await insertAuditEntry(tx, ownersEntry(owner, act));
        return isRevoked;
      });
      await refresh();
      return isThere;
    },
  };
}

/** What an owner can change of an app, for the audit trail. */
function factsOf({ name, redirect_uris: redirectUris, return_uri: returnUri }: OwnAppRow) {
  return { name, redirectUris, returnUri };
}

function membershipOf(row: MembershipRow): Membership {
  return { app: appOf(row), role: row.role };
}

/** The database also knows limits that only operators see. They are left out here. */
function appOf(row: OwnAppRow): App {
  return {
    appId: row.app_id,
    name: row.name,
    redirectUris: row.redirect_uris,
    returnUri: row.return_uri,
    status: row.status,
    isFirstParty: row.is_first_party,
    createdAtMs: row.created_at.getTime(),
  };
}

function keyOf(row: KeyListRow): ApiKey {
  return {
    keyId: row.key_id,
    mode: row.mode,
    hint: row.hint,
    boundUser: row.bound_user ?? undefined,
    joinSeconds: row.join_seconds ?? undefined,
    createdAtMs: row.created_at.getTime(),
    lastUsedAtMs: row.last_used_at?.getTime(),
    revokedAtMs: row.revoked_at?.getTime(),
  };
}
