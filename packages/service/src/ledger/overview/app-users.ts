import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';
import { type Micros, microsSumFromRow } from '#kernel/values/micros.ts';
import { type AppUserRow, selectAppUser, selectAppUsers } from '#ledger/overview/queries.ts';

/** A user with a connected wallet, as the app's developers may see them: no balance, nothing of the person (WA-02). */
export interface AppUser {
  readonly userId: EndUserId;
  /**
   * When the user first connected. A wallet that an operator opened counts from then on, until somebody connects it.
   */
  readonly connectedAtMs: number;
  readonly spentThisMonth: Micros;
  /** The most that a month may cost. Undefined if there is no cap. `GET /balance` tells the app the same. */
  readonly cap: Micros | undefined;
  /** The month's cap is spent. A pause is a cap of 0, so it looks the same, as it does to calls. */
  readonly isCapReached: boolean;
  /** When the newest call that cost something was charged. */
  readonly lastChargedAtMs: number | undefined;
}

export interface AppUsers {
  /**
   * Lists an app's users with a connected wallet, in the order of their ids: those that begin with `beginsWith` and come
   * after `after`. A user who has disconnected is left out like one who never connected.
   */
  readonly list: (
    appId: AppId,
    page: { readonly beginsWith: string; readonly after: string; readonly most: number },
  ) => Promise<readonly AppUser[]>;
  /** Finds one user, with what they spent in this app in all. Undefined for everybody whom the list leaves out. */
  readonly find: (appId: AppId, userId: EndUserId) => Promise<(AppUser & { readonly spent: Micros }) | undefined>;
}

export interface UsersPage {
  readonly appId: AppId;
  readonly beginsWith: string;
  readonly after: string;
  readonly most: number;
}

/** Reads users as a database has them: in one cell, or in all. */
export interface AppUserRows {
  readonly list: (page: UsersPage) => Promise<readonly AppUserRow[]>;
  readonly find: (
    appId: AppId,
    userId: EndUserId,
  ) => Promise<(AppUserRow & { readonly spent_micros: bigint }) | undefined>;
}

export function createAppUserRows(db: Queryable): AppUserRows {
  return {
    list: (page) => selectAppUsers(db, page),
    find: (appId, userId) => selectAppUser(db, appId, userId),
  };
}

export function createAppUsers(rowsOf: AppUserRows): AppUsers {
  return {
    list: async (appId, page) => (await rowsOf.list({ appId, ...page })).map(userOf),
    find: async (appId, userId) => {
      const row = await rowsOf.find(appId, userId);
      return row && { ...userOf(row), spent: microsSumFromRow(row.spent_micros) };
    },
  };
}

function userOf(row: AppUserRow): AppUser {
  return {
    userId: row.user_id,
    connectedAtMs: row.connected_at.getTime(),
    spentThisMonth: microsSumFromRow(row.spent_this_month_micros),
    cap: row.cap_micros === null ? undefined : microsSumFromRow(row.cap_micros),
    isCapReached: row.is_cap_reached,
    lastChargedAtMs: row.last_charged_at?.getTime(),
  };
}
