import { selectAppProfile } from '#developers/apps/operator-queries.ts';
import type { Queryable } from '#db/pool/pool.ts';
import type { AppId } from '#kernel/values/ids.ts';

/** What end users see of an app. */
export interface AppProfile {
  readonly appId: AppId;
  /**
   * The name that the developer chose, without control characters and marks that change the writing direction. Pages put it
   * in the middle of sentences, where such characters could rearrange the text around it.
   */
  readonly name: string;
  readonly isSuspended: boolean;
  /** The digest of its logo; undefined when it has none. */
  readonly logo: string | undefined;
  /** Addresses to which its users may be sent back, compared character by character (BI-02). */
  readonly redirectUris: readonly string[];
  /** Where pages lead its users back, other than at the end of connecting. On the allow-list. Undefined if that is empty. */
  readonly returnUri: string | undefined;
}

/** Finds apps for the pages that end users see. */
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
        returnUri: row.return_uri ?? row.redirect_uris[0],
      };
    },
  };
}

/** Control characters, line and paragraph separators, and everything that changes the writing direction. */
const MISLEADING = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu;
/** A character that a reader can see. U+2800 is a blank Braille pattern, which counts as neither space nor ignorable. */
const SEEN = /[^\s\u2800\p{Default_Ignorable_Code_Point}]/u;

/** Falls back to the app's id, because a name without visible characters would leave a gap in the sentence. */
function shownName(name: string, appId: AppId): string {
  const shown = name.replace(MISLEADING, ' ').trim();
  return SEEN.test(shown) ? shown : appId;
}
