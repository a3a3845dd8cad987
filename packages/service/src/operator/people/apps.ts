import { isDeepStrictEqual } from 'node:util';
import type { AppLimits } from '#developers/keys/directory.ts';
import {
  type AppDetailsRow,
  type AppSettings,
  selectAppDetails,
  selectAppNames,
  selectAppsByText,
  updateAppSettings,
  updateAppStatus,
} from '#developers/apps/operator-queries.ts';
import { changedFacts } from '#audit/entry.ts';
import type { Pool, Queryable } from '#db/pool/pool.ts';
import { bumpGeneration } from '#db/processes/queries.ts';
import type { AppId } from '#kernel/values/ids.ts';
import { cutPage } from '#kernel/values/page.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { type Act, audited, Repeated } from '#operator/acts/act.ts';

/** An app as an operator sees it: its owners, its rights and the limits in force, defaults included. */
export type AppDetails = ReturnType<typeof detailsOf>;

/** All apps of the service. A change takes effect at once on this process and within a second on the others (AU-09). */
export type AnyApps = ReturnType<typeof createAnyApps>;

interface AnyAppsOptions {
  readonly pool: Pool;
  readonly defaults: AppLimits;
  readonly refresh: () => Promise<void>;
}

const FOUND_MAX = 500;

export function createAnyApps({ pool, defaults, refresh }: AnyAppsOptions) {
  async function act(
    named: Act & { readonly action: string },
    appId: AppId,
    run: (tx: Queryable, generation: bigint) => Promise<boolean>,
  ): Promise<AppDetails | Refusal<'NOT_FOUND' | 'CONFLICT'>> {
    const done = await audited(pool, { ...named, subject: appId }, async (tx, note) => {
      // The new generation tells other processes to reload. Its row also serves as the lock for what follows.
      const generation = await bumpGeneration(tx, 'accounts');
      const before = await selectAppDetails(tx, appId);
      const isThere = await run(tx, generation);
      const row = isThere ? await selectAppDetails(tx, appId) : undefined;
      if (row === undefined) return refuse('NOT_FOUND', 'There is no such app.');
      const details = detailsOf(row, defaults);
      if (before !== undefined) note(changedFacts(factsOf(before), factsOf(row)));
      // An act with a reason is recorded even if it changed nothing: the reason may be the point.
      const isNews = named.reason !== undefined || !isDeepStrictEqual(row, before);
      return isNews ? details : new Repeated(details);
    });
    await refresh(); // After the commit, so that this process sees its own change with the next request.
    return done;
  }

  return {
    /** The apps whose id or name contains the text, or with a member of exactly this e-mail. The newest first, at most 500. */
    search: async (text: string) =>
      (await selectAppsByText(pool, { text, most: FOUND_MAX })).map((row) => detailsOf(row, defaults)),
    /** Lists apps in pages, all or those with one status. Pass `next` as `after` to get the page after it; undefined on the last one. */
    page: async ({ most, ...asked }: Parameters<typeof selectAppsByText>[1]) => {
      const found = await selectAppsByText(pool, { ...asked, most: most + 1 });
      const { rows, next } = cutPage(found, most, (last) => last.app_id);
      return { apps: rows.map((row) => detailsOf(row, defaults)), next };
    },
    /** What apps are called. */
    names: async (appIds: readonly string[]): Promise<ReadonlyMap<string, string>> =>
      new Map((appIds.length === 0 ? [] : await selectAppNames(pool, appIds)).map((row) => [row.app_id, row.name])),
    find: async (appId: AppId) => {
      const row = await selectAppDetails(pool, appId);
      return row && detailsOf(row, defaults);
    },
    /** Changes rights and limits. A setting that is left out stays as it is. */
    change: (by: Act, appId: AppId, settings: AppSettings) =>
      act({ ...by, action: 'app.change' }, appId, (tx, generation) =>
        updateAppSettings(tx, appId, settings, generation),
      ),
    /** Refuses the app's next calls. Calls that are running continue (AU-10). */
    suspend: (by: Act, appId: AppId) =>
      act({ ...by, action: 'app.suspend' }, appId, (tx, generation) =>
        updateAppStatus(tx, appId, 'suspended', generation),
      ),
    /** Lifts a suspension. */
    resume: (by: Act, appId: AppId) =>
      act({ ...by, action: 'app.resume' }, appId, (tx, generation) => updateAppStatus(tx, appId, 'active', generation)),
  };
}

/** What operators can change, with the limits that are set for this app alone. */
function factsOf(row: AppDetailsRow) {
  return {
    status: row.status,
    isFirstParty: row.is_first_party,
    ratePerMinute: row.rate_per_minute,
    rateBurst: row.rate_burst,
    maxStreamsPerUser: row.max_streams_per_user,
  };
}

function detailsOf(row: AppDetailsRow, defaults: AppLimits) {
  return {
    appId: row.app_id,
    name: row.name,
    ownerEmails: row.owner_emails,
    redirectUris: row.redirect_uris,
    returnUri: row.return_uri,
    status: row.status,
    isFirstParty: row.is_first_party,
    limits: {
      ratePerMinute: row.rate_per_minute ?? defaults.ratePerMinute,
      rateBurst: row.rate_burst ?? defaults.rateBurst,
      maxStreamsPerUser: row.max_streams_per_user ?? defaults.maxStreamsPerUser,
    },
    createdAtMs: row.created_at.getTime(),
  };
}
