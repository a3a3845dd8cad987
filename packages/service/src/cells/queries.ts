import type { Queryable } from '#db/pool.ts';

export interface CellRow {
  readonly name: string;
  /** From 0. The ids of its wallets lie in a range of their own by it. */
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

/** The cell that this database is. Undefined: no gateway has said so yet. */
export async function selectOwnCell(db: Queryable): Promise<string | undefined> {
  const { rows } = await db.query<{ cell: string }>('select cell from cells.own');
  return rows[0]?.cell;
}

/** Makes this database a cell for good. Nothing happens if it is one. */
export async function insertOwnCell(tx: Queryable, name: string): Promise<void> {
  await tx.query('insert into cells.own (cell) values ($1) on conflict do nothing', [name]);
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

/** Whose slots these are, each name once. Holds the rows until the transaction ends: nobody opens a wallet of theirs meanwhile. */
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
