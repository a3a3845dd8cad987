import type { Queryable } from '#db/pool/pool.ts';

interface Turn {
  /** Whether it is this process's turn to add what is new. */
  readonly begun: boolean;
  /** When a pass last ended, in any process. */
  readonly ended_seconds: number;
}

export async function beginPass(db: Queryable, periodMs: number): Promise<Turn> {
  const { rows } = await db.query<Turn>(`select begun, ended_seconds from stats.begin_pass($1)`, [periodMs]);
  return rows[0] ?? { begun: false, ended_seconds: 0 };
}

/** Notes the end of a pass. The next one begins `pauseMs` later, in the process that asks first. */
export async function endPass(db: Queryable, pauseMs: number, from: string): Promise<void> {
  await db.query(`select stats.end_pass($1, $2)`, [pauseMs, from]);
}

/** The passes have been over all receipts of calls before this one. */
export async function selectSummedFrom(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ from: string }>(`select from_call as from from stats.passes`);
  const [row] = rows;
  if (row === undefined) throw new Error('There is always a row of passes.');
  return row.from;
}

/** The least id that a call of an open month may have: all receipts of calls before it are there, and committed. */
export async function selectPassFrom(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ from: string }>(`select stats.pass_from() as from`);
  const [row] = rows;
  if (row === undefined) throw new Error('A function without a table has an answer.');
  return row.from;
}

export interface RolledUp {
  /** The last wallet that was rolled up. It is null when no wallet is left. */
  readonly last_wallet: bigint | null;
  readonly wallets: number;
  readonly calls: bigint;
}

/** Adds the new charges of some wallets after one, see `roll_up.sql`. Undefined while another process does, or a rebuild runs. */
export async function rollUp(
  db: Queryable,
  after: bigint,
  { walletsMax, entriesMax }: { readonly walletsMax: number; readonly entriesMax: number },
): Promise<RolledUp | undefined> {
  const { rows } = await db.query<RolledUp>(`select last_wallet, wallets, calls from stats.roll_up($1, $2, $3)`, [
    after,
    walletsMax,
    entriesMax,
  ]);
  return rows[0];
}

/** Merges one day of old hours. False if there is none. */
export async function mergeDay(db: Queryable, keptDays: number): Promise<boolean> {
  const { rows } = await db.query<{ merged: boolean }>(`select stats.merge_day($1) as merged`, [keptDays]);
  return rows[0]?.merged ?? false;
}
