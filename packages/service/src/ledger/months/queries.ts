import type { Queryable } from '#db/pool/pool.ts';

/** Makes the next month for receipts if one is missing, see `make_month.sql`. True if it made one: then ask again. */
export async function makeMonth(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ made: boolean }>(`select ledger.make_month() as made`);
  return rows[0]?.made ?? false;
}

/** Keeps others from changing months until the connection ends. False while somebody else does. */
export async function holdMonths(client: Queryable): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>(
    `select pg_try_advisory_lock(hashtextextended('ledger.months', 0)) as held`,
  );
  return rows[0]?.held ?? false;
}

export async function letMonthsGo(client: Queryable): Promise<void> {
  await client.query(`select pg_advisory_unlock(hashtextextended('ledger.months', 0))`);
}

/** A month of receipts. All but `month` are null while it is open. */
export interface MonthRow {
  /** Its first day. */
  readonly month: string;
  /** Whether enough days have passed since its end. */
  readonly has_ended: boolean;
  /** The first month has all that came before it. */
  readonly is_first: boolean;
  readonly closed_at: Date | null;
  readonly receipts: bigint | null;
  readonly entries: bigint | null;
  readonly charged_micros: bigint | null;
  readonly rows_hash: Buffer | null;
  readonly chain_hash: Buffer | null;
  /** When an archive of it was last read back and found whole. */
  readonly archived_at: Date | null;
  /** Its receipts are only in an archive. */
  readonly detached_at: Date | null;
  /** Whether the month ended at least the asked number of months before this one began. */
  readonly is_old: boolean;
  /** Whether the check of changes has been over all of its receipts. */
  readonly is_checked: boolean;
  /** The first id of the next month. */
  readonly before_call: string;
}

/** The months that were made, the oldest first. */
export async function selectMonths(
  db: Queryable,
  daysAfterEnd: number,
  monthsKept: number,
): Promise<readonly MonthRow[]> {
  const { rows } = await db.query<MonthRow>(
    `select month::text as month, from_call is null as is_first, closed_at, receipts, entries, charged_micros, rows_hash, chain_hash,
       archived_at, detached_at, month + ($2 + 1) * interval '1 month' <= date_trunc('month', clock_timestamp(), 'UTC') at time zone 'UTC' as is_old,
       before_call, before_call <= (select from_call from ledger.last_check) as is_checked,
       clock_timestamp() >= (month + interval '1 month') at time zone 'UTC' + $1 * interval '1 day' as has_ended
     from ledger.months order by month`,
    [daysAfterEnd, monthsKept],
  );
  return rows;
}

/** Sets the lock timeout for the rest of a transaction. */
export async function setLockTimeout(tx: Queryable, ms: number): Promise<void> {
  await tx.query(`select set_config('lock_timeout', $1, true)`, [String(ms)]);
}

interface PageRow {
  /** The lines of the page. It is null when no receipt is left. */
  readonly lines: string | null;
  readonly rows: number;
  readonly last_call: string | null;
}

/** A page of a month's receipts as CSV, see `month_page.sql`. */
export async function selectMonthPage(db: Queryable, month: string, after: string, most: number): Promise<PageRow> {
  const { rows } = await db.query<PageRow>(`select lines, rows, last_call from ledger.month_page($1, $2, $3)`, [
    month,
    after,
    most,
  ]);
  return rows[0] ?? { lines: null, rows: 0, last_call: null };
}
