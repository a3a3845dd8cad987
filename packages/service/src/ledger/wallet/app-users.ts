import type { Queryable } from '#db/pool.ts';
import type { AppId, EndUserId } from '#kernel/ids.ts';
import { type Micros, microsSumFromRow } from '#kernel/micros.ts';
import { type AppUserRow, selectAppUsers } from '#ledger/wallet/queries.ts';

/** A user with a connected wallet, as the app's developers may see them: no balance, nothing of the person (WA-02). */
export interface AppUser {
  readonly userId: EndUserId;
  /** Of the first connection. A wallet that an operator opened counts from then on, until somebody connects it. */
  readonly connectedAtMs: number;
  readonly spentThisMonth: Micros;
  /** The month's cap is spent. A pause is a cap of 0, so it looks the same, as it does to calls. */
  readonly isCapReached: boolean;
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
}

export function createAppUsers(db: Queryable): AppUsers {
  return { list: async (appId, page) => (await selectAppUsers(db, { appId, ...page })).map(userOf) };
}

function userOf(row: AppUserRow): AppUser {
  return {
    userId: row.user_id,
    connectedAtMs: row.connected_at.getTime(),
    spentThisMonth: microsSumFromRow(row.spent_this_month_micros),
    isCapReached: row.is_cap_reached,
  };
}
