import type { Queryable } from '#db/pool/pool.ts';

interface SlotRow {
  readonly cell: string;
  /** The cell that the slot moves to. It is null if the slot does not move. */
  readonly moving_to: string | null;
  /** How often it has begun to move. A move that was given up counts. */
  readonly moves: number;
}

export async function selectSlot(db: Queryable, slot: number): Promise<SlotRow | undefined> {
  const { rows } = await db.query<SlotRow>('select cell, moving_to, moves from cells.slots where slot = $1', [slot]);
  return rows[0];
}

/** Reads a slot and locks it, so that nobody else changes it until the transaction ends. */
export async function lockSlot(tx: Queryable, slot: number): Promise<SlotRow | undefined> {
  const text = 'select cell, moving_to, moves from cells.slots where slot = $1 for update';
  const { rows } = await tx.query<SlotRow>(text, [slot]);
  return rows[0];
}

/** Begins a move of a slot that does not move. */
export async function setMoving(tx: Queryable, slot: number, to: string): Promise<void> {
  await tx.query('update cells.slots set moving_to = $2, moves = moves + 1 where slot = $1', [slot, to]);
}

/** Ends a move: the slot belongs to `cell`. */
export async function endMoving(tx: Queryable, slot: number, cell: string): Promise<void> {
  await tx.query('update cells.slots set cell = $2, moving_to = null where slot = $1', [slot, cell]);
}

/** What became of a move, in the database that takes the slot. */
export interface ArrivalRow {
  readonly has_arrived: boolean;
  readonly wallets: bigint;
  readonly balance_micros: bigint;
  readonly owed_micros: bigint;
}

export async function selectArrival(db: Queryable, slot: number, move: number): Promise<ArrivalRow | undefined> {
  const { rows } = await db.query<ArrivalRow>(
    'select has_arrived, wallets, balance_micros, owed_micros from cells.arrivals where slot = $1 and move = $2',
    [slot, move],
  );
  return rows[0];
}

/** Decides what becomes of a move, once. False if it is decided already. Waits for another transaction that is deciding. */
export async function insertArrival(
  tx: Queryable,
  decided: { readonly slot: number; readonly move: number; readonly from: string } & ArrivalRow,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into cells.arrivals (slot, move, has_arrived, from_cell, wallets, balance_micros, owed_micros)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    [
      decided.slot,
      decided.move,
      decided.has_arrived,
      decided.from,
      decided.wallets,
      decided.balance_micros,
      decided.owed_micros,
    ],
  );
  return rowCount === 1;
}
