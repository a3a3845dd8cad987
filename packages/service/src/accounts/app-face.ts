import { selectAppFace } from '#accounts/operator-queries.ts';
import type { Queryable } from '#db/pool.ts';
import type { AppId } from '#kernel/ids.ts';

/** What end users see of an app. */
export interface AppFace {
  readonly appId: AppId;
  readonly name: string;
  readonly isSuspended: boolean;
  /** The digest of its picture; undefined where it has none. */
  readonly logo: string | undefined;
  /** Where its users may be sent back to, compared character by character (BI-02). */
  readonly redirectUris: readonly string[];
}

export interface AppFaces {
  readonly find: (appId: AppId) => Promise<AppFace | undefined>;
}

export function createAppFaces(db: Queryable): AppFaces {
  return {
    find: async (appId) => {
      const row = await selectAppFace(db, appId);
      if (row === undefined) return undefined;
      return {
        appId,
        name: row.name,
        isSuspended: row.status === 'suspended',
        logo: row.logo?.toString('hex'),
        redirectUris: row.redirect_uris,
      };
    },
  };
}
