import type { Queryable } from '#db/pool.ts';
import type { AppId } from '#kernel/ids.ts';

/** An app as an operator sees it. */
export interface AppDetailsRow {
  readonly app_id: AppId;
  readonly account_id: string;
  readonly email: string;
  readonly name: string;
  readonly redirect_uris: readonly string[];
  readonly return_uri: string | null;
  readonly status: 'active' | 'suspended';
  readonly is_first_party: boolean;
  readonly rate_per_minute: number | null;
  readonly rate_burst: number | null;
  readonly max_streams_per_user: number | null;
  readonly created_at: Date;
}

const DETAILS = `a.app_id, a.account_id, o.email, a.name, a.redirect_uris, a.return_uri, a.status, a.is_first_party, a.rate_per_minute,
  a.rate_burst, a.max_streams_per_user, a.created_at`;

/** Finds apps whose id, name or owner's e-mail contains `text`, ignoring case. An empty text finds all. Newest first. */
export async function selectAppsByText(db: Queryable, text: string, most: number): Promise<readonly AppDetailsRow[]> {
  const { rows } = await db.query<AppDetailsRow>(
    `select ${DETAILS} from accounts.apps a join accounts.accounts o on o.account_id = a.account_id
     where position(lower($1) in lower(a.app_id || ' ' || a.name || ' ' || o.email)) > 0
     order by a.created_at desc, a.app_id
     limit $2`,
    [text, most],
  );
  return rows;
}

/** Finds an app as an operator sees it. Undefined when there is none. */
export async function selectAppDetails(db: Queryable, appId: AppId): Promise<AppDetailsRow | undefined> {
  const { rows } = await db.query<AppDetailsRow>(
    `select ${DETAILS} from accounts.apps a join accounts.accounts o on o.account_id = a.account_id where a.app_id = $1`,
    [appId],
  );
  return rows[0];
}

/** Any app as its end users see it. */
interface AppProfileRow {
  readonly name: string;
  readonly status: 'active' | 'suspended';
  readonly redirect_uris: readonly string[];
  readonly return_uri: string | null;
  readonly logo: Buffer | null;
}

/** Finds an app as its end users see it. Undefined when there is none. */
export async function selectAppProfile(db: Queryable, appId: AppId): Promise<AppProfileRow | undefined> {
  const { rows } = await db.query<AppProfileRow>(
    `select a.name, a.status, a.redirect_uris, a.return_uri, l.digest as logo
     from accounts.apps a left join accounts.app_logos l on l.app_id = a.app_id where a.app_id = $1`,
    [appId],
  );
  return rows[0];
}

/** What an operator may change of an app. Undefined fields stay as they are. */
export interface AppSettings {
  readonly isFirstParty: boolean | undefined;
  readonly ratePerMinute: number | undefined;
  readonly rateBurst: number | undefined;
  readonly maxStreamsPerUser: number | undefined;
}

/** Changes an app's settings. Undefined fields stay. False when there is no such app. */
export async function updateAppSettings(
  tx: Queryable,
  appId: AppId,
  settings: AppSettings,
  generation: bigint,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update accounts.apps set
       is_first_party = coalesce($2, is_first_party), rate_per_minute = coalesce($3, rate_per_minute),
       rate_burst = coalesce($4, rate_burst), max_streams_per_user = coalesce($5, max_streams_per_user), generation = $6
     where app_id = $1`,
    [
      appId,
      settings.isFirstParty ?? null,
      settings.ratePerMinute ?? null,
      settings.rateBurst ?? null,
      settings.maxStreamsPerUser ?? null,
      generation,
    ],
  );
  return rowCount === 1;
}

/** Suspends an app or lifts its suspension. False when there is no such app. */
export async function updateAppStatus(
  tx: Queryable,
  appId: AppId,
  status: 'active' | 'suspended',
  generation: bigint,
): Promise<boolean> {
  const { rowCount } = await tx.query(`update accounts.apps set status = $2, generation = $3 where app_id = $1`, [
    appId,
    status,
    generation,
  ]);
  return rowCount === 1;
}
