import type { Queryable } from '#db/pool/pool.ts';

/** A wallet of a slot that moves, as `parcel.sql` describes it. */
export interface MovingWalletRow {
  readonly wallet_id: bigint;
  readonly version: bigint;
  /** The move that the wallet is barred for. It is null if the wallet is not barred. */
  readonly move: number | null;
  /** The facts of the wallet in JSON, as PostgreSQL writes it: numbers in it are never read here. */
  readonly facts: string;
  readonly app_id: string;
  readonly user_id: string;
  readonly balance_micros: bigint;
  readonly shortfall_micros: bigint;
}

/** Bars the wallets of a slot, see `leave.sql`. Gives how many there are. Safe to repeat. */
export async function leave(tx: Queryable, slot: number, move: number): Promise<bigint> {
  const { rows } = await tx.query<{ wallets: bigint }>('select ledger.leave($1, $2) as wallets', [slot, move]);
  return rows[0]?.wallets ?? 0n;
}

/** Lifts the bars of a move that was given up, and of earlier ones, see `stay.sql`. Safe to repeat. */
export async function stay(tx: Queryable, slot: number, move: number): Promise<void> {
  await tx.query('select ledger.stay($1, $2)', [slot, move]);
}

/** How many calls still hold money of the barred wallets of a slot. */
export async function countHolds(db: Queryable, slot: number): Promise<bigint> {
  const { rows } = await db.query<{ holds: bigint }>('select ledger.holds_of_slot($1) as holds', [slot]);
  return rows[0]?.holds ?? 0n;
}

/** The wallets of a slot that have not left, in the order of their ids. */
export async function selectMovingWallets(db: Queryable, slot: number): Promise<readonly MovingWalletRow[]> {
  const { rows } = await db.query<MovingWalletRow>(
    `select p.wallet_id, p.version, p.move, p.facts::text as facts, p.facts ->> 'app_id' as app_id, p.facts ->> 'user_id' as user_id,
       (p.facts ->> 'balance_micros')::bigint as balance_micros, (p.facts ->> 'shortfall_micros')::bigint as shortfall_micros
     from ledger.parcel($1) p`,
    [slot],
  );
  return rows;
}

/** The kept answers of charged calls of a slot, as JSON rows of their table. */
export async function selectKeptAnswers(db: Queryable, slot: number): Promise<readonly string[]> {
  const text = 'select k::text as row from ledger.kept_answers_of_slot($1) k';
  const { rows } = await db.query<{ row: string }>(text, [slot]);
  return rows.map(({ row }) => row);
}

/** Takes in a wallet, see `arrive.sql`. */
export async function arrive(tx: Queryable, move: number, { version, facts }: MovingWalletRow): Promise<void> {
  await tx.query('select ledger.arrive($1, $2, $3)', [move, version, facts]);
}

/** Books the money of wallets that are barred for a move out of this cell, see `depart.sql`. Safe to repeat: then nothing leaves. */
export async function depart(
  tx: Queryable,
  slot: number,
  move: number,
): Promise<{ readonly wallets: bigint; readonly balance: bigint; readonly owed: bigint }> {
  const { rows } = await tx.query<{ wallets: bigint; balance: bigint; owed: bigint }>(
    'select wallets, balance, owed from ledger.depart($1, $2)',
    [slot, move],
  );
  return rows[0] ?? { wallets: 0n, balance: 0n, owed: 0n };
}

/** The money in a database, in micros, and what has come to it and left it with slots. */
export interface CellBooks {
  /** The number of wallets. Those that have left are not counted. */
  readonly wallets: bigint;
  readonly balance: bigint;
  readonly owed: bigint;
  readonly moved_in: bigint;
  readonly moved_out: bigint;
  readonly owed_in: bigint;
  readonly owed_out: bigint;
}

/**
 * Reads the books of the cell in one snapshot. It reads all wallets, and of the entries those of moves, by the index of
 * causes.
 */
export async function selectCellBooks(db: Queryable): Promise<CellBooks> {
  const { rows } = await db.query<CellBooks>(
    `select w.*, m.*
     from (
       select count(*) filter (where not exists (
           select from ledger.leaving l where l.wallet_id = w.wallet_id and l.left_at is not null)) as wallets,
         coalesce(sum(balance_micros), 0)::bigint as balance, coalesce(sum(shortfall_micros), 0)::bigint as owed
       from ledger.wallets w
     ) w
     cross join (
       select coalesce(sum(amount_micros) filter (where kind = 'moved_in'), 0)::bigint as moved_in,
         coalesce(sum(amount_micros) filter (where kind = 'moved_out'), 0)::bigint as moved_out,
         coalesce(sum(amount_micros) filter (where kind = 'owed_in'), 0)::bigint as owed_in,
         coalesce(sum(amount_micros) filter (where kind = 'owed_out'), 0)::bigint as owed_out
       from ledger.journal
       where kind in ('moved_in', 'moved_out', 'owed_in', 'owed_out') and (cause like 'moved\\_%' or cause like 'owed\\_%')
     ) m`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('Sums have always one row.');
  return row;
}
