import { emailsOf, type Queryable } from '#db/pool/pool.ts';
import type { AccountId, AppId } from '#kernel/values/ids.ts';

/** An app as the data plane needs it. Null limits mean the service's defaults. */
export interface AppRow {
  readonly app_id: AppId;
  readonly account_id: AccountId;
  readonly status: 'active' | 'suspended';
  readonly is_first_party: boolean;
  readonly rate_per_minute: number | null;
  readonly rate_burst: number | null;
  readonly max_streams_per_user: number | null;
  readonly generation: bigint;
}

const APP_COLUMNS =
  'app_id, account_id, status, is_first_party, rate_per_minute, rate_burst, max_streams_per_user, generation';

/** Finds an app as the data plane needs it, suspended ones included. */
export async function selectApp(db: Queryable, appId: AppId): Promise<AppRow | undefined> {
  const { rows } = await db.query<AppRow>(`select ${APP_COLUMNS} from accounts.apps where app_id = $1`, [appId]);
  return rows[0];
}

/** Reads the apps that were added or changed after a generation, oldest change first. */
export async function selectAppsChangedSince(db: Queryable, generation: bigint): Promise<readonly AppRow[]> {
  const { rows } = await db.query<AppRow>(
    `select ${APP_COLUMNS} from accounts.apps where generation > $1 order by generation`,
    [generation],
  );
  return rows;
}

/** The newest generation of any app or key. Later reads see at least the changes up to it. */
export async function selectNewestGeneration(db: Queryable): Promise<bigint> {
  const { rows } = await db.query<{ newest: bigint }>(
    `select greatest(
       (select coalesce(max(generation), 0) from accounts.api_keys),
       (select coalesce(max(generation), 0) from accounts.apps)) as newest`,
  );
  return rows[0]?.newest ?? 0n;
}

export interface NewAccount {
  readonly accountId: AccountId;
  readonly email: string;
  readonly name: string;
}

/** Adds an account and returns its id, or the id of the account that already has the e-mail. */
export async function ensureAccount(tx: Queryable, account: NewAccount): Promise<AccountId> {
  const { rows } = await tx.query<{ account_id: AccountId }>(
    // The update changes nothing. It is there because `do nothing` would return no row for an e-mail that exists.
    `insert into accounts.accounts (account_id, email, name, email_verified_at) values ($1, $2, $3, clock_timestamp())
     on conflict (email) do update set email = excluded.email
     returning account_id`,
    [account.accountId, emailsOf(tx).seal(account.email), account.name],
  );
  const row = rows[0];
  if (row === undefined) throw new Error('The account could not be stored.');
  return row.account_id;
}

/** An app to be added. */
export interface NewApp {
  readonly appId: AppId;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly isFirstParty: boolean;
  /** The limits of the app. If they are undefined, it gets the service's defaults. */
  readonly limits:
    | { readonly ratePerMinute: number; readonly rateBurst: number; readonly maxStreamsPerUser: number }
    | undefined;
}

/** Adds an app, with the account that made it as its first owner. Does nothing when its id exists. */
export async function insertApp(tx: Queryable, accountId: AccountId, app: NewApp, generation: bigint): Promise<void> {
  await tx.query(
    `with made as (
       insert into accounts.apps (app_id, account_id, name, redirect_uris, is_first_party, rate_per_minute, rate_burst,
         max_streams_per_user, generation)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       on conflict do nothing returning app_id, account_id
     )
     insert into accounts.members (app_id, account_id, role) select app_id, account_id, 'owner' from made`,
    [
      app.appId,
      accountId,
      app.name,
      app.redirectUris,
      app.isFirstParty,
      app.limits?.ratePerMinute ?? null,
      app.limits?.rateBurst ?? null,
      app.limits?.maxStreamsPerUser ?? null,
      generation,
    ],
  );
}

/** An app as its members see it. */
export interface OwnAppRow {
  readonly app_id: AppId;
  readonly name: string;
  readonly redirect_uris: readonly string[];
  readonly return_uri: string | null;
  readonly status: 'active' | 'suspended';
  readonly is_first_party: boolean;
  readonly created_at: Date;
}

export const OWN_APP_COLUMNS = 'app_id, name, redirect_uris, return_uri, status, is_first_party, created_at';

/** Counts the apps that an account made, its own or by now only others'. */
export async function countAppsMadeBy(db: Queryable, accountId: AccountId): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select count(*)::int as count from accounts.apps where account_id = $1',
    [accountId],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Changes an app's name and addresses. Calls read none of them, so the generation does not change. A return address that is
 * not on the list afterwards is cleared: taking an address off the list must always work. Undefined when the new return address
 * is not on the list: then nothing changes.
 */
export async function updateApp(
  db: Queryable,
  app: {
    readonly appId: AppId;
    readonly name: string | undefined;
    readonly redirectUris: readonly string[] | undefined;
    /** The app's return address. Null clears it. */
    readonly returnUri: string | null | undefined;
  },
): Promise<OwnAppRow | undefined> {
  const { rows } = await db.query<OwnAppRow>(
    `update accounts.apps set name = coalesce($2, name), redirect_uris = coalesce($3, redirect_uris),
       return_uri = case when $4 = any (coalesce($3, redirect_uris)) then $4
         when not $5 and return_uri = any (coalesce($3, redirect_uris)) then return_uri end
     where app_id = $1 and ($4::text is null or $4 = any (coalesce($3, redirect_uris)))
     returning ${OWN_APP_COLUMNS}`,
    [app.appId, app.name ?? null, app.redirectUris ?? null, app.returnUri ?? null, app.returnUri !== undefined],
  );
  return rows[0];
}

/** Stores an app's logo in place of the one before. The table checks type and size as well. */
export async function upsertLogo(
  db: Queryable,
  logo: { readonly appId: AppId; readonly digest: Buffer; readonly type: string; readonly image: Buffer },
): Promise<void> {
  await db.query(
    `insert into accounts.app_logos (app_id, digest, type, image) values ($1, $2, $3, $4)
     on conflict (app_id) do update set digest = excluded.digest, type = excluded.type, image = excluded.image`,
    [logo.appId, logo.digest, logo.type, logo.image],
  );
}

export async function deleteLogo(db: Queryable, appId: AppId): Promise<void> {
  await db.query('delete from accounts.app_logos where app_id = $1', [appId]);
}

interface LogoRow {
  readonly type: 'image/png' | 'image/jpeg' | 'image/webp';
  readonly image: Buffer;
}

export async function selectLogoDigest(db: Queryable, appId: AppId): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ readonly digest: Buffer }>(
    'select digest from accounts.app_logos where app_id = $1',
    [appId],
  );
  return rows[0]?.digest;
}

/** Finds a logo by its digest. Several apps may have the same picture, so one row is enough. */
export async function selectLogoByDigest(db: Queryable, digest: Buffer): Promise<LogoRow | undefined> {
  const { rows } = await db.query<LogoRow>('select type, image from accounts.app_logos where digest = $1 limit 1', [
    digest,
  ]);
  return rows[0];
}
