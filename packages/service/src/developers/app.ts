import type { AppRole } from '@purser/contract/access.ts';
import { createOwnKeys, type OwnKeys } from '#developers/keys/own-keys.ts';
import { countAppsMadeBy, insertApp, type OwnAppRow, updateApp } from '#developers/apps/queries.ts';
import { type MembershipRow, selectMembership, selectMemberships } from '#developers/teams/queries.ts';
import { changedFacts, type Owner, ownersEntry } from '#audit/entry.ts';
import { insertAuditEntry } from '#audit/queries.ts';
import { inTransaction, type Pool, type Queryable } from '#db/pool/pool.ts';
import { bumpGeneration } from '#db/processes/queries.ts';
import type { Clock } from '#kernel/time/clock.ts';
import { type AccountId, type AppId, newAppId } from '#kernel/values/ids.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

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

/** The apps of accounts and their keys. An app of others looks the same as one that does not exist (AU-06). */
export interface OwnApps extends OwnKeys {
  /** Makes an app. `appId`: its id, from `appIdFrom`; refused if there is an app with it. If it is undefined, a new one is made. */
  readonly create: (
    owner: Owner,
    app: Pick<App, 'name' | 'redirectUris'> & { readonly appId?: AppId | undefined },
  ) => Promise<App | Refusal<'CONFLICT'>>;
  /** The apps of which the account is a member, oldest first. */
  readonly list: (accountId: AccountId) => Promise<readonly Membership[]>;
  /**
   * Decides who may see an app, and what they may do with it: every route and page of an app begins with this. It reads the
   * database, so a member who is removed has no access with their next request. Undefined for everybody who is no member (AU-06).
   */
  readonly membership: (accountId: AccountId, appId: AppId) => Promise<Membership | undefined>;
  /** Refuses a return address that is not among the redirect addresses, as they are after the change. */
  readonly change: (owner: Owner, appId: AppId, change: AppChange) => Promise<App | Refusal<'BAD_REQUEST'> | undefined>;
}

/** Undefined fields stay as they are. */
interface AppChange {
  readonly name: string | undefined;
  readonly redirectUris: readonly string[] | undefined;
  /** The app's return address. Null clears it. */
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
const TOO_MANY_APPS = `An account makes at most ${APPS_MAX} apps.`;

export function createOwnApps(options: OwnAppsOptions): OwnApps {
  return { ...createApps(options), ...createOwnKeys(options) };
}

function createApps({
  pool,
}: Pick<OwnAppsOptions, 'pool'>): Pick<OwnApps, 'create' | 'list' | 'membership' | 'change'> {
  return {
    create: async (by, { appId = newAppId(), name, redirectUris }) => {
      const owner = by.accountId;
      const app = { appId, name, redirectUris, isFirstParty: false, limits: undefined };
      const hasAll = async (db: Queryable) => (await countAppsMadeBy(db, owner)) >= APPS_MAX;
      // Checked once without the lock, so that an owner at the limit cannot keep others waiting for the lock.
      if (await hasAll(pool)) return refuse('CONFLICT', TOO_MANY_APPS);
      const act = { action: 'app.create', subject: appId, appId, after: { name, redirectUris } };
      const isMade = await inTransaction(pool, async (tx) => {
        // Also the lock under which the limit is checked: two requests at once could both see room for one more.
        const generation = await bumpGeneration(tx, 'accounts');
        if ((await selectMembership(tx, owner, appId)) !== undefined || (await hasAll(tx))) return false;
        await insertApp(tx, owner, app, generation);
        await insertAuditEntry(tx, ownersEntry(by, act));
        return true;
      });
      if (!isMade) return refuse('CONFLICT', TOO_MANY_APPS);
      const row = await selectMembership(pool, owner, appId);
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
