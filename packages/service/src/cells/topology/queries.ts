import type { Queryable } from '#db/pool/pool.ts';

export interface CellRow {
  readonly name: string;
  /** The number of the cell, from 0. It decides the range in which the ids of the cell's wallets lie. */
  readonly number: number;
  /** Where gateways of other cells reach it, without a trailing slash. */
  readonly base_url: string;
}

/** All cells, in the order in which they were added. */
export async function selectCells(db: Queryable): Promise<readonly CellRow[]> {
  const { rows } = await db.query<CellRow>('select name, number, base_url from cells.cells order by number');
  return rows;
}

/** The cell of each slot, by the number of the slot. Empty if there are no cells. */
export async function selectSlots(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query<{ cells: readonly string[] | null }>(
    'select array_agg(cell order by slot) as cells from cells.slots',
  );
  return rows[0]?.cells ?? [];
}

/** The slots whose money is moving between cells. */
export async function selectMovingSlots(db: Queryable): Promise<readonly number[]> {
  const { rows } = await db.query<{ slot: number }>('select slot from cells.slots where moving_to is not null');
  return rows.map(({ slot }) => slot);
}

/** The cell that this database is. Undefined if no gateway has said so yet. */
export async function selectOwnCell(db: Queryable): Promise<string | undefined> {
  const { rows } = await db.query<{ cell: string }>('select cell from cells.own');
  return rows[0]?.cell;
}

/** Makes this database a cell for good. Nothing happens if it is one. */
export async function insertOwnCell(tx: Queryable, name: string, directoryUrl: string | undefined): Promise<void> {
  await tx.query('insert into cells.own (cell, directory_url) values ($1, $2) on conflict do nothing', [
    name,
    directoryUrl ?? null,
  ]);
}

/** Says in the database of every cell but the first that it spends of API keys' budgets only what the first one lends it. */
export async function updateBorrows(db: Queryable): Promise<void> {
  await db.query(
    `update cells.own set borrows_budgets = true
     where not borrows_budgets and cell <> (select name from cells.cells order by number limit 1)`,
  );
}

/** Keeps others from changing the cells until the transaction ends. */
export async function lockCells(tx: Queryable): Promise<void> {
  await tx.query('lock table cells.cells in share row exclusive mode');
}

/** Adds a cell with the next number. */
export async function insertCell(tx: Queryable, name: string, baseUrl: string): Promise<void> {
  await tx.query(
    `insert into cells.cells (name, number, base_url)
     select $1, coalesce(max(number) + 1, 0), $2 from cells.cells`,
    [name, baseUrl],
  );
}

export async function updateAddress(tx: Queryable, name: string, baseUrl: string): Promise<void> {
  await tx.query('update cells.cells set base_url = $2 where name = $1', [name, baseUrl]);
}

/** Gives all slots to the first cell. */
export async function insertSlots(tx: Queryable, cell: string): Promise<void> {
  await tx.query('insert into cells.slots (slot, cell) select slot, $1 from generate_series(0, 4095) slot', [cell]);
}

/**
 * Returns the cells that have these slots, each name once. Holds the rows until the transaction ends, so that nobody
 * opens a wallet in these slots meanwhile.
 */
export async function lockSlots(tx: Queryable, least: number, most: number): Promise<readonly string[]> {
  const { rows } = await tx.query<{ cell: string }>(
    `select distinct s.cell
     from (select cell from cells.slots where slot between $1 and $2 order by slot for update) s
     order by s.cell`,
    [least, most],
  );
  return rows.map(({ cell }) => cell);
}

export async function updateSlots(tx: Queryable, least: number, most: number, cell: string): Promise<void> {
  await tx.query('update cells.slots set cell = $3 where slot between $1 and $2 and cell <> $3', [least, most, cell]);
}

/** Where the directory is written. Undefined if it is this database. */
export async function selectDirectoryUrl(db: Queryable): Promise<string | undefined> {
  const { rows } = await db.query<{ directory_url: string | null }>('select directory_url from cells.own');
  return rows[0]?.directory_url ?? undefined;
}

/** The cells that have given a slot to this one. Without a slot: all slots that came. */
export async function selectGivers(
  db: Queryable,
  slot?: number,
): Promise<readonly { readonly slot: number; readonly cell: string }[]> {
  const { rows } = await db.query<{ slot: number; cell: string }>(
    `select distinct slot, from_cell as cell from cells.arrivals
     where has_arrived and wallets > 0 and ($1::integer is null or slot = $1)`,
    [slot ?? null],
  );
  return rows;
}
