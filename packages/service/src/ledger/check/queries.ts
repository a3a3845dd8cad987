import type { Queryable } from '#db/pool/pool.ts';

interface DifferenceRow {
  /** The rule that is broken. It is null in a row that carries the counts alone. */
  readonly rule: string | null;
  readonly wallet_id: bigint;
  readonly expected: bigint;
  readonly found: bigint;
}

interface CheckRow extends DifferenceRow {
  readonly wallets: bigint;
  readonly entries: bigint;
  /** Differences, also those beyond the limit. */
  readonly all: bigint | null;
}

/** The first differences of the whole ledger and the counts, in one snapshot. At least one row. */
export async function selectCheck(db: Queryable, differencesMax: number): Promise<readonly CheckRow[]> {
  const { rows } = await db.query<CheckRow>(
    `select c.wallets, c.entries, d.*
     from (
       select (select count(*) from ledger.wallets) as wallets, (select count(*) from ledger.entries) as entries
     ) c
     left join (
       select rule, wallet_id, expected, found, count(*) over () as "all"
       from ledger.differences() order by wallet_id, rule limit $1
     ) d on true
     order by d.wallet_id, d.rule`,
    [differencesMax],
  );
  return rows;
}

interface ChangesRow extends DifferenceRow {
  readonly last_wallet: bigint | null;
  readonly wallets: number;
  readonly entries: bigint;
}

/** Checks up to `most` changed wallets after one, see `check_changes.sql`. At least one row. */
export async function selectChanges(db: Queryable, after: bigint, most: number): Promise<readonly ChangesRow[]> {
  const { rows } = await db.query<ChangesRow>(
    `select last_wallet, wallets, entries, rule, wallet_id, expected, found from ledger.check_changes($1, $2)`,
    [after, most],
  );
  return rows;
}

/** The least id that a call of an open month may have: all receipts of calls before it are there, and committed. */
export async function selectOpenFrom(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ from: string }>(`select ledger.open_from() as from`);
  const [row] = rows;
  if (row === undefined) throw new Error('A function without a table has an answer.');
  return row.from;
}

/** Notes that a whole pass has found the books right, over all receipts of calls before this one. */
export async function noteCheckedFrom(db: Queryable, call: string): Promise<void> {
  await db.query(`select ledger.checked_from($1)`, [call]);
}

/** Keeps what a check has found, see `note_check.sql`. */
export async function insertCheck(
  db: Queryable,
  check: {
    readonly kind: 'full' | 'changes';
    readonly process: string;
    readonly wallets: bigint;
    readonly ms: bigint;
    readonly differences: bigint;
  },
): Promise<void> {
  const { kind, process, wallets, ms, differences } = check;
  await db.query('select ledger.note_check($1, $2, $3, $4, $5)', [kind, process, wallets, ms, differences]);
}

interface PastRow {
  readonly kind: 'full' | 'changes';
  readonly begun_at: Date;
  readonly ended_at: Date;
  readonly process: string;
  readonly passes: number;
  readonly wallets: bigint;
  readonly longest_ms: bigint;
  readonly differences: bigint;
}

/** What checks found, the last first. */
export async function selectChecks(db: Queryable, most: number): Promise<readonly PastRow[]> {
  const { rows } = await db.query<PastRow>(
    `select kind, begun_at, ended_at, process, passes, wallets, longest_ms, differences from ledger.checks
     order by ended_at desc limit $1`,
    [most],
  );
  return rows;
}
