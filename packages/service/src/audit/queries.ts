import { type AuditEntry, openFacts, storedFacts } from '#audit/entry.ts';
import { emailsOf, type Queryable } from '#db/pool/pool.ts';
import type { AccountId, AppId } from '#kernel/values/ids.ts';

export interface AuditRow {
  readonly entry_id: bigint;
  readonly at: Date;
  readonly actor: string;
  readonly actor_name: string | null;
  readonly action: string;
  readonly subject: string;
  readonly reason: string | null;
  readonly amount_micros: bigint | null;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
  /** The network address. It is null once it has been forgotten, and for acts that came from no network address. */
  readonly address: string | null;
}

/**
 * Adds an entry. Call it in the transaction of the act, so that neither is stored without the other. Addresses are sealed, and the
 * chain covers the sealed text.
 */
export async function insertAuditEntry(tx: Queryable, entry: AuditEntry): Promise<void> {
  const emails = emailsOf(tx);
  await tx.query(
    `with added as (
       insert into audit.entries
         (actor, action, subject, reason, actor_name, account_id, app_id, amount_micros, before, after)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning entry_id
     )
     insert into audit.addresses (entry_id, address) select entry_id, $11 from added where $11::text is not null`,
    [
      entry.actor,
      entry.action,
      entry.subject,
      entry.reason === undefined ? null : emails.conceal(entry.reason),
      entry.actorName === undefined ? null : emails.seal(entry.actorName),
      entry.accountId ?? null,
      entry.appId ?? null,
      entry.amount ?? null,
      storedFacts(entry.before, emails),
      storedFacts(entry.after, emails),
      entry.from === '' ? null : (entry.from ?? null), // The address of a caller who has left is gone.
    ],
  );
}

const ENTRY = `e.entry_id, e.at, e.actor, e.actor_name, e.action, e.subject, e.reason, e.amount_micros, e.before, e.after,
  a.address from audit.entries e left join audit.addresses a on a.entry_id = e.entry_id`;

interface Page {
  readonly before: bigint | undefined;
  readonly most: number;
}

/** Lists an owner's own acts, newest first: all of them, or those on one app. */
export async function selectOwnersEntries(
  db: Queryable,
  owner: { readonly accountId: AccountId; readonly appId: AppId | undefined },
  page: Page,
): Promise<readonly AuditRow[]> {
  const { rows } = await db.query<AuditRow>(
    `select ${ENTRY}
     where e.account_id = $1 and ($2::text is null or e.app_id = $2) and ($3::bigint is null or e.entry_id < $3)
     order by e.entry_id desc limit $4`,
    [owner.accountId, owner.appId ?? null, page.before ?? null, page.most],
  );
  return rows.map((row) => openEntry(db, row));
}

/** An entry with its addresses opened. */
export function openEntry<Row extends AuditRow>(db: Queryable, row: Row): Row {
  const { open } = emailsOf(db);
  return {
    ...row,
    actor_name: row.actor_name === null ? null : open(row.actor_name),
    reason: row.reason === null ? null : open(row.reason),
    before: openFacts(row.before, open),
    after: openFacts(row.after, open),
  };
}

/**
 * Lists what members, and keys for them, did with an app, newest first: all of it, or one kind of act. Acts of operators are not
 * among them: they have no account.
 */
export async function selectAppEntries(
  db: Queryable,
  { appId, action }: { readonly appId: AppId; readonly action: string | undefined },
  page: Page,
): Promise<readonly AuditRow[]> {
  // Two texts, so that each has its index: one that serves both would read all acts for a rare kind.
  const ofAction = action === undefined ? '' : 'and e.action = $4';
  const { rows } = await db.query<AuditRow>(
    `select ${ENTRY}
     where e.app_id = $1 and e.account_id is not null and ($2::bigint is null or e.entry_id < $2) ${ofAction}
     order by e.entry_id desc limit $3`,
    [appId, page.before ?? null, page.most, ...(action === undefined ? [] : [action])],
  );
  return rows.map((row) => openEntry(db, row));
}

/** Lists what was done to some things, oldest first, by the subjects that entries name them with. */
export async function selectEntriesAbout(
  db: Queryable,
  subjects: readonly string[],
  most: number,
): Promise<readonly AuditRow[]> {
  const { rows } = await db.query<AuditRow>(`select ${ENTRY} where e.subject = any ($1) order by e.entry_id limit $2`, [
    subjects,
    most,
  ]);
  return rows.map((row) => openEntry(db, row));
}

export type SignInResult =
  | 'signed_in'
  | 'wrong_password'
  | 'too_many_attempts'
  | 'password_reset'
  | 'wrong_code'
  | 'refused_passkey'
  | 'needs_second_factor'
  | 'wrong_second_factor'
  | 'refused_sso';

interface SignInRow {
  readonly sign_in_id: bigint;
  readonly minute: Date;
  readonly who: string;
  readonly result: SignInResult;
  readonly address: string;
  readonly count: number;
}

/** Rows of failed sign-ins in one minute. Beyond that they are counted in one row for each result. */
const FAILED_ROWS_MAX = 100;

/**
 * Counts a sign-in, or an attempt at one, in its minute. `who` is the account or identity, if it is known. A text that was typed is
 * not kept: people sometimes type a password into the field for the e-mail.
 */
export async function countSignIn(
  db: Queryable,
  signIn: { readonly who: string | undefined; readonly result: SignInResult; readonly from: string },
): Promise<void> {
  await db.query(
    `with crowd as (
       select $2 <> 'signed_in' and count(*) >= $4 as is_full from (
         select from audit.sign_ins where minute = date_trunc('minute', clock_timestamp()) limit $4
       ) as rows_of_minute
     )
     insert into audit.sign_ins as s (minute, who, result, address)
     select date_trunc('minute', clock_timestamp()), case when is_full then '' else $1 end, $2,
       case when is_full then '' else $3 end from crowd
     on conflict (minute, who, result, address) do update set count = s.count + 1`,
    [signIn.who ?? '', signIn.result, signIn.from, FAILED_ROWS_MAX],
  );
}

/**
 * Returns true when this account or identity has signed in from this network address before, as far as sign-ins are
 * kept.
 */
export async function hasSignedInFrom(db: Queryable, who: string, from: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from audit.sign_ins where who = $1 and address = $2 and result = 'signed_in' limit 1`,
    [who, from],
  );
  return rowCount === 1;
}

/** Lists sign-ins, newest first: those of one account or identity, or all. */
export async function selectSignIns(
  db: Queryable,
  page: Page & { readonly who: string | undefined },
): Promise<readonly SignInRow[]> {
  const { rows } = await db.query<SignInRow>(
    `select sign_in_id, minute, who, result, address, count from audit.sign_ins
     where ($1::text is null or who = $1) and ($2::bigint is null or sign_in_id < $2)
     order by sign_in_id desc limit $3`,
    [page.who ?? null, page.before ?? null, page.most],
  );
  return rows;
}

/** Deletes network addresses and sign-ins older than `keptDays`, at most `rowsMax` of each. */
export async function deleteOldAddresses(db: Queryable, keptDays: number, rowsMax: number): Promise<void> {
  await db.query(
    `with forgotten as (
       delete from audit.addresses where entry_id in
         (select entry_id from audit.addresses where at < clock_timestamp() - $2 * interval '1 day' order by at limit $1)
     )
     delete from audit.sign_ins where sign_in_id in
       (select sign_in_id from audit.sign_ins where minute < clock_timestamp() - $2 * interval '1 day'
        order by minute limit $1)`,
    [rowsMax, keptDays],
  );
}
