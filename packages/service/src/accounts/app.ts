import { createOwnKeys, type OwnKeys } from '#accounts/own-keys.ts';
import { insertApp, type OwnAppRow, selectOwnApp, selectOwnApps, updateApp } from '#accounts/queries.ts';
import { changedFacts, type Owner, ownersEntry } from '#audit/entry.ts';
import { insertAuditEntry } from '#audit/queries.ts';
import { inTransaction, type Pool, type Queryable } from '#db/pool.ts';
import { bumpGeneration } from '#db/queries.ts';
import type { Clock } from '#kernel/clock.ts';
import { type AccountId, type AppId, newAppId } from '#kernel/ids.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';

/** An app as its owner sees it. */
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

/** An owner's apps and their keys. Another owner's app looks the same as one that does not exist (AU-06). */
export interface OwnApps extends OwnKeys {
  readonly create: (owner: Owner, app: Pick<App, 'name' | 'redirectUris'>) => Promise<App | Refusal<'CONFLICT'>>;
  readonly list: (owner: AccountId) => Promise<readonly App[]>;
  readonly find: (owner: AccountId, appId: AppId) => Promise<App | undefined>;
  /** Refuses a return address that is not among the redirect addresses, as they are after the change. */
  readonly change: (owner: Owner, appId: AppId, change: AppChange) => Promise<App | Refusal<'BAD_REQUEST'> | undefined>;
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
  readonly clock: Clock;
  /** Whether the service serves a model or alias of this name. */
  readonly isModel: (name: string) => boolean;
  /** Makes this process see a change before the caller gets the answer, so that a new key works in the very next call. */
  readonly refresh: () => Promise<void>;
}

const APPS_MAX = 100;
const NOT_ALLOWED = '`returnUri` must be one of the `redirectUris` of the app, character by character.';
const TOO_MANY_APPS = `An account has at most ${APPS_MAX} apps.`;

export function createOwnApps(options: OwnAppsOptions): OwnApps {
  return { ...createApps(options), ...createOwnKeys(options) };
}

function createApps({ pool }: Pick<OwnAppsOptions, 'pool'>): Pick<OwnApps, 'create' | 'list' | 'find' | 'change'> {
  return {
    create: async (by, { name, redirectUris }) => {
      const owner = by.accountId;
      const app = { appId: newAppId(), name, redirectUris, isFirstParty: false, limits: undefined };
      const hasAll = async (db: Queryable) => (await selectOwnApps(db, owner)).length >= APPS_MAX;
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
      const row = await selectOwnApp(pool, owner, app.appId);
      if (row === undefined) throw new Error('The app cannot be read back after it was created.');
      return appOf(row);
    },
    list: async (owner) => (await selectOwnApps(pool, owner)).map(appOf),
    find: async (owner, appId) => {
      const row = await selectOwnApp(pool, owner, appId);
      return row === undefined ? undefined : appOf(row);
    },
    change: (by, appId, change) =>
      inTransaction(pool, async (tx) => {
        const owner = by.accountId;
        const before = await selectOwnApp(tx, owner, appId);
        if (before === undefined) return undefined;
        const row = await updateApp(tx, { owner, appId, ...change });
        if (row === undefined) return refuse('BAD_REQUEST', NOT_ALLOWED, { param: 'returnUri' });
        const changed = changedFacts(factsOf(before), factsOf(row));
        const act = { action: 'app.edit', subject: appId, appId, ...changed };
        if (Object.keys(changed.after).length > 0) await insertAuditEntry(tx, ownersEntry(by, act));
        return appOf(row);
      }),
  };
}

/** What an owner can change of an app, for the audit trail. */
function factsOf({ name, redirect_uris: redirectUris, return_uri: returnUri }: OwnAppRow) {
  return { name, redirectUris, returnUri };
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
