import type { Queryable } from '#db/pool/pool.ts';

/** A table whose rows move to another database with the users that they are about. */
export interface MovedTable {
  /** The name of the table with its schema. The names of tables are ours, and not of anybody outside. */
  readonly name: string;
  /** The condition of a row `t`. `$1` and `$2` are the apps and user ids, in pairs. */
  readonly of: string;
}

/** Users of apps. */
export interface MovedUsers {
  readonly apps: readonly string[];
  readonly users: readonly string[];
}

/** Writes times alike in databases with different settings. Until the transaction ends. */
export async function writeTimesAlike(tx: Queryable): Promise<void> {
  await tx.query(`select set_config('timezone', 'UTC', true), set_config('datestyle', 'ISO', true)`);
}

/** The rows of these users as JSON, in an order that is the same in every database. */
export async function selectMovedRows(
  db: Queryable,
  { name, of }: MovedTable,
  { apps, users }: MovedUsers,
): Promise<readonly string[]> {
  const { rows } = await db.query<{ row: string }>(
    `select to_jsonb(t)::text as row from ${name} t where ${of} order by to_jsonb(t)::text collate "C"`,
    [apps, users],
  );
  return rows.map(({ row }) => row);
}

/** Adds rows that `selectMovedRows` gave. One that is there already stays as it is. */
export async function insertMovedRows(tx: Queryable, table: string, rows: readonly string[]): Promise<void> {
  await tx.query(
    `insert into ${table}
     select r.* from unnest($1::text[]) with ordinality j (text, n) cross join lateral jsonb_populate_record(null::${table}, j.text::jsonb) r
     order by j.n
     on conflict do nothing`,
    [rows],
  );
}

/** Deletes the rows of these users. */
export async function deleteMovedRows(tx: Queryable, { name, of }: MovedTable, moved: MovedUsers): Promise<void> {
  await tx.query(`delete from ${name} t where ${of}`, [moved.apps, moved.users]);
}
