import { selectAppProfile } from '#accounts/operator-queries.ts';
import type { Queryable } from '#db/pool.ts';
import type { AppId } from '#kernel/ids.ts';

/** What end users see of an app. */
export interface AppProfile {
  readonly appId: AppId;
  /** As its developer wrote it, but for what is no sign, or turns the text around it: it stands in the middle of sentences. */
  readonly name: string;
  readonly isSuspended: boolean;
  /** The digest of its picture; undefined where it has none. */
  readonly logo: string | undefined;
  /** Where its users may be sent back to, compared character by character (BI-02). */
  readonly redirectUris: readonly string[];
}

export interface AppProfiles {
  readonly find: (appId: AppId) => Promise<AppProfile | undefined>;
}

export function createAppProfiles(db: Queryable): AppProfiles {
  return {
    find: async (appId) => {
      const row = await selectAppProfile(db, appId);
      if (row === undefined) return undefined;
      return {
        appId,
        name: shownName(row.name, appId),
        isSuspended: row.status === 'suspended',
        logo: row.logo?.toString('hex'),
        redirectUris: row.redirect_uris,
      };
    },
  };
}

const MISLEADING = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;
/** What a reader sees something of. */
const SEEN = /[^\s\u2800\p{Default_Ignorable_Code_Point}]/u;

function shownName(name: string, appId: AppId): string {
  const shown = name.replace(MISLEADING, ' ').trim();
  return SEEN.test(shown) ? shown : appId;
}
