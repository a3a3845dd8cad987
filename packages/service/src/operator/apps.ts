import { isDeepStrictEqual } from 'node:util';
import type { AppLimits } from '#accounts/key-directory.ts';
import {
  type AppDetailsRow,
  type AppSettings,
  selectAppDetails,
  selectAppsByText,
  updateAppSettings,
  updateAppStatus,
} from '#accounts/operator-queries.ts';
import type { Pool, Queryable } from '#db/pool.ts';
import { bumpGeneration } from '#db/queries.ts';
import type { AppId } from '#kernel/ids.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';
import { type Act, audited, Repeated } from '#operator/acts.ts';

/** An app as an operator sees it: its owner, its rights and the limits that are in force. */
export interface AppDetails {
  readonly appId: AppId;
  readonly name: string;
  readonly ownerEmail: string;
  readonly redirectUris: readonly string[];
  readonly status: 'active' | 'suspended';
  readonly isFirstParty: boolean;
  readonly limits: AppLimits;
  readonly createdAtMs: number;
}

/** Any app of the service. Every change is in force on this process at once and on the others within a second (AU-09). */
export interface AnyApps {
  /** Those whose id, name or owner's e-mail contains a text; at most 500, the newest first. */
  readonly search: (text: string) => Promise<readonly AppDetails[]>;
  readonly change: (
    act: Act,
    appId: AppId,
    settings: AppSettings,
  ) => Promise<AppDetails | Refusal<'NOT_FOUND' | 'CONFLICT'>>;
  /** Cuts no call that runs: the next one is refused (AU-10). */
  readonly suspend: (act: Act, appId: AppId) => Promise<AppDetails | Refusal<'NOT_FOUND' | 'CONFLICT'>>;
  readonly resume: (act: Act, appId: AppId) => Promise<AppDetails | Refusal<'NOT_FOUND' | 'CONFLICT'>>;
}

interface AnyAppsOptions {
  readonly pool: Pool;
  readonly defaults: AppLimits;
  readonly refresh: () => Promise<void>;
}

const FOUND_MAX = 500;

export function createAnyApps({ pool, defaults, refresh }: AnyAppsOptions): AnyApps {
  async function act(
    named: Act & { readonly action: string },
    appId: AppId,
    run: (tx: Queryable, generation: bigint) => Promise<boolean>,
  ): Promise<AppDetails | Refusal<'NOT_FOUND' | 'CONFLICT'>> {
    const done = await audited(pool, { ...named, subject: appId }, async (tx) => {
      const generation = await bumpGeneration(tx, 'accounts'); // Also the lock: what is read next stays as it is.
      const before = await selectAppDetails(tx, appId);
      const isThere = await run(tx, generation);
      const row = isThere ? await selectAppDetails(tx, appId) : undefined;
      if (row === undefined) return refuse('NOT_FOUND', 'There is no such app.');
      const details = detailsOf(row, defaults);
      const isNews = named.reason !== undefined || !isDeepStrictEqual(row, before); // A reason is: it is written down.
      return isNews ? details : new Repeated(details);
    });
    await refresh();
    return done;
  }

  return {
    search: async (text) => (await selectAppsByText(pool, text, FOUND_MAX)).map((row) => detailsOf(row, defaults)),
    change: (by, appId, settings) =>
      act({ ...by, action: 'app.change' }, appId, (tx, generation) =>
        updateAppSettings(tx, appId, settings, generation),
      ),
    suspend: (by, appId) =>
      act({ ...by, action: 'app.suspend' }, appId, (tx, generation) =>
        updateAppStatus(tx, appId, 'suspended', generation),
      ),
    resume: (by, appId) =>
      act({ ...by, action: 'app.resume' }, appId, (tx, generation) => updateAppStatus(tx, appId, 'active', generation)),
  };
}

function detailsOf(row: AppDetailsRow, defaults: AppLimits): AppDetails {
  return {
    appId: row.app_id,
    name: row.name,
    ownerEmail: row.email,
    redirectUris: row.redirect_uris,
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
