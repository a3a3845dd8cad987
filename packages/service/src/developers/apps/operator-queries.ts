import { emailsOf, type Queryable } from '#db/pool/pool.ts';
import type { AppId } from '#kernel/values/ids.ts';

/** An app as an operator sees it. */
export interface AppDetailsRow {
  readonly app_id: AppId;
  /** The longest there first. */
  readonly owner_emails: readonly string[];
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

const DETAILS = `a.app_id, a.name, a.redirect_uris, a.return_uri, a.status, a.is_first_party, a.rate_per_minute,
  a.rate_burst, a.max_streams_per_user, a.created_at,
  array(select o.email from accounts.members m join accounts.accounts o using (account_id)
    where m.app_id = a.app_id and m.role = 'owner' order by m.since, o.email) as owner_emails`;

/**
 * Finds apps whose id or name contains `text`, ignoring case, and those with a member who has exactly this e-mail. An empty text
 * finds all. Newest first, from the one after the app `after`.
 */
export async function selectAppsByText(
  db: Queryable,
  {
    text,
    status,
    after,
    most,
  }: {
    readonly text: string;
    readonly status?: 'active' | 'suspended' | undefined;
    readonly after?: string | undefined;
    readonly most: number;
  },
): Promise<readonly AppDetailsRow[]> {
  const { rows } = await db.query<AppDetailsRow>(
    `select ${DETAILS} from accounts.apps a
     where (
       position(lower($1) in lower(a.app_id || ' ' || a.name)) > 0
       or a.app_id in (select m.app_id from accounts.members m join accounts.accounts o using (account_id) where o.email = $5)
     ) and ($3::text is null or a.status = $3) and ($4::text is null or exists (
       select from accounts.apps b where b.app_id = $4
         and (a.created_at < b.created_at or a.created_at = b.created_at and a.app_id > b.app_id)
     ))
     order by a.created_at desc, a.app_id
     limit $2`,
    [text, most, status ?? null, after ?? null, emailsOf(db).seal(text.trim())],
  );
  return rows.map((row) => withOwners(db, row));
}

/** Finds an app as an operator sees it. Undefined when there is none. */
export async function selectAppDetails(db: Queryable, appId: AppId): Promise<AppDetailsRow | undefined> {
  const { rows } = await db.query<AppDetailsRow>(`select ${DETAILS} from accounts.apps a where a.app_id = $1`, [appId]);
  return rows[0] && withOwners(db, rows[0]);
}

function withOwners(db: Queryable, row: AppDetailsRow): AppDetailsRow {
  return { ...row, owner_emails: row.owner_emails.map((email) => emailsOf(db).open(email)) };
}

/** What apps are called, in no order. */
export async function selectAppNames(
  db: Queryable,
  appIds: readonly string[],
): Promise<readonly { readonly app_id: string; readonly name: string }[]> {
  const { rows } = await db.query<{ app_id: string; name: string }>(
    `select app_id, name from accounts.apps where app_id = any ($1::text[])`,
    [appIds],
  );
  return rows;
}

/** The owners of an app who can sign in: where mails about it go. At most `most`, the longest there first. */
export async function selectOwnersToTell(db: Queryable, appId: AppId, most: number): Promise<readonly string[]> {
  const { rows } = await db.query<{ email: string }>(
    `select a.email from accounts.members m join accounts.accounts a using (account_id)
     where m.app_id = $1 and m.role = 'owner' and not a.is_disabled order by m.since, a.email limit $2`,
    [appId, most],
  );
  return rows.map(({ email }) => emailsOf(db).open(email));
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
