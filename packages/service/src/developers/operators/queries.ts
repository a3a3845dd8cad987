import type { OperatorRole } from '@purser/contract/operator-access.ts';
import { ACCOUNT_COLUMNS, type AccountRow, type Role } from '#developers/accounts/queries.ts';
import { emailsOf, type Queryable, withEmail } from '#db/pool/pool.ts';
import type { AccountId, AppId } from '#kernel/values/ids.ts';

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

/**
 * Locks the account to be changed together with every operator's account, and returns it. Without that, two operators who
 * demote each other at the same moment could leave the service without any. The rows are locked in one order, so that
 * concurrent changes wait for each other and never deadlock.
 */
export async function lockAccount(tx: Queryable, accountId: AccountId): Promise<AccountRow | undefined> {
  const { rows } = await tx.query<AccountRow>(
    `select ${ACCOUNT_COLUMNS} from accounts.accounts where account_id = $1 or role = 'operator'
     order by account_id for no key update`,
    [accountId],
  );
  const row = rows.find((one) => one.account_id === accountId);
  return row && withEmail(tx, row);
}

/** Changes the roles and the disabled flag, and ends the account's sessions and resets. */
export async function updateAccount(
  tx: Queryable,
  accountId: AccountId,
  change: {
    readonly role: Role;
    readonly operatorRole: OperatorRole | null;
    readonly isDisabled: boolean;
  },
): Promise<AccountRow | undefined> {
  const { rows } = await tx.query<AccountRow>(
    `with ended as (delete from accounts.sessions where account_id = $1),
       voided as (delete from accounts.password_resets where account_id = $1)
     update accounts.accounts set role = $2, operator_role = $3, is_disabled = $4
     where account_id = $1 returning ${ACCOUNT_COLUMNS}`,
    [accountId, change.role, change.operatorRole, change.isDisabled],
  );
  return rows[0] && withEmail(tx, rows[0]);
}

/** Returns true while at least one account can still sign in as an operator who may do everything. */
export async function hasAdmin(tx: Queryable): Promise<boolean> {
  const { rowCount } = await tx.query(
    `select from accounts.accounts where operator_role = 'admin' and not is_disabled
       and (password_hash is not null or sso_subject is not null) limit 1`,
  );
  return rowCount === 1;
}

/** The operators who can sign in, with their roles, oldest first. At most 200. */
export async function selectSecondPersons(
  db: Queryable,
): Promise<
  readonly { readonly account_id: AccountId; readonly email: string; readonly operator_role: OperatorRole }[]
> {
  const { rows } = await db.query<{ account_id: AccountId; email: string; operator_role: OperatorRole }>(
    `select account_id, email, operator_role from accounts.accounts
     where role = 'operator' and operator_role is not null and not is_disabled
       and (password_hash is not null or sso_subject is not null)
     order by created_at, account_id limit 200`,
  );
  return rows.map((row) => withEmail(db, row));
}

/** How many operators can sign in, and how many of them can move money. */
export async function countOperators(db: Queryable): Promise<{ readonly all: number; readonly movers: number }> {
  const { rows } = await db.query<{ all: number; movers: number }>(
    `select count(*)::int as all, count(*) filter (where operator_role in ('finance', 'admin'))::int as movers
     from accounts.accounts where role = 'operator' and not is_disabled`,
  );
  return rows[0] ?? { all: 0, movers: 0 };
}

/** Operators who can sign in with a password alone, at most `most`. */
export async function selectOperatorsWithoutFactor(
  db: Queryable,
  most: number,
): Promise<readonly { readonly account_id: AccountId; readonly email: string }[]> {
  const { rows } = await db.query<{ account_id: AccountId; email: string }>(
    `select a.account_id, a.email from accounts.accounts a
     where a.role = 'operator' and not a.is_disabled and a.sso_subject is null
       and not exists (select from accounts.authenticators t where t.account_id = a.account_id)
       and not exists (select from accounts.passkeys p where p.account_id = a.account_id)
     order by a.account_id limit $1`,
    [most],
  );
  return rows.map((row) => withEmail(db, row));
}

interface KeyAppRow {
  readonly app_id: AppId;
  readonly mode: 'live' | 'sandbox';
  readonly name: string | null;
  readonly is_revoked: boolean;
}

/** The app of a key. Undefined if there is no such key. */
export async function selectAppOfKey(db: Queryable, keyId: string): Promise<KeyAppRow | undefined> {
  const { rows } = await db.query<KeyAppRow>(
    `select app_id, mode, name, revoked_at is not null as is_revoked from accounts.api_keys where key_id = $1`,
    [keyId],
  );
  return rows[0];
}

/**
 * The role of an operator who can sign in, as it is now. Their account stays locked until the transaction ends. Undefined for
 * everybody else.
 */
export async function lockOperator(tx: Queryable, accountId: string): Promise<OperatorRole | undefined> {
  const { rows } = await tx.query<{ operator_role: OperatorRole | null }>(
    `select operator_role from accounts.accounts where account_id = $1 and role = 'operator' and not is_disabled
     for no key update`,
    [accountId],
  );
  const row = rows[0];
  return row && (row.operator_role ?? 'viewer');
}
