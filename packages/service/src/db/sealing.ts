import type { Pool, Queryable } from '#db/pool.ts';
import { type EmailSeal, SEALED_SHAPE } from '#kernel/email-seal.ts';

/** A table with addresses. The folder that owns it says which columns they are in. */
export interface SealedRows {
  readonly table: string;
  /** Its primary key, of one column. */
  readonly key: string;
  /** Refuses plain addresses. It is validated once every row is sealed, and says so. */
  readonly constraint: string;
  readonly addresses: readonly string[];
  /** Columns with other texts that are sealed. */
  readonly texts?: readonly string[];
}

/** Rows of one transaction. Others may wait for so many rows, and no longer than a few milliseconds. */
const ROWS_PER_BATCH = 500;
// Any number will do, as long as every Purser takes the same.
const SEALING_LOCK = 7_283_940_156;

/**
 * Seals the addresses of rows from before addresses were sealed, and returns how many rows these were. Call it before anything looks an address
 * up. Each batch is a transaction, so a crash loses nothing: the next start goes on. Of several processes one works and the others
 * wait. A table that is done costs one look at its constraint.
 */
export async function sealOldRows(
  owner: Pool,
  emails: EmailSeal,
  tables: readonly SealedRows[],
  rowsPerBatch = ROWS_PER_BATCH,
): Promise<number> {
  if (await areSealed(owner, tables)) return 0;
  const client = await owner.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [SEALING_LOCK]);
    let rows = 0;
    for (const table of tables) {
      if (await areSealed(client, [table])) continue;
      rows += await sealTable(client, emails, table, rowsPerBatch);
      // Reads the table once, while others read and write.
      await client.query(`alter table ${table.table} validate constraint ${table.constraint}`);
    }
    return rows;
  } finally {
    client.release(true); // Ends the lock as well.
  }
}

async function areSealed(db: Queryable, tables: readonly SealedRows[]): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from unnest($1::text[], $2::text[]) as t (name, rule)
     join pg_constraint c on c.conrelid = t.name::regclass and c.conname = t.rule where c.convalidated`,
    [tables.map(({ table }) => table), tables.map(({ constraint }) => constraint)],
  );
  return rowCount === tables.length;
}

async function sealTable(
  client: Queryable,
  emails: EmailSeal,
  { table, key, addresses, texts = [] }: SealedRows,
  rowsPerBatch: number,
): Promise<number> {
  const columns = [...addresses, ...texts];
  const type = await typeOf(client, table, key);
  const isPlain = columns.map((column) => `${column} !~ '${SEALED_SHAPE}'`).join(' or ');
  const find = `select ${key}::text as key, ${columns.join(', ')} from ${table}
    where ($1::text is null or ${key} > $1::text::${type}) and (${isPlain}) order by ${key} limit $2 for update`;
  const replace = `update ${table} t set ${columns.map((column) => `${column} = v.${column}`).join(', ')}
    from unnest($1::text[], ${columns.map((_column, index) => `$${index + 2}::text[]`).join(', ')})
      as v (key, ${columns.join(', ')}) where t.${key} = v.key::${type}`;
  const sealed = (column: string, text: string | null | undefined): string | null => {
    if (text === null || text === undefined) return null;
    if (new RegExp(SEALED_SHAPE).test(text)) return text;
    return addresses.includes(column) ? emails.seal(text) : emails.sealText(text);
  };
  let done = 0;
  for (let after: string | null = null; ; ) {
    await client.query('begin');
    const { rows }: { rows: Record<string, string | null>[] } = await client.query(find, [after, rowsPerBatch]);
    const values = columns.map((column) => rows.map((row) => sealed(column, row[column])));
    if (rows.length > 0) await client.query(replace, [rows.map(({ key: name }) => name), ...values]);
    await client.query('commit');
    done += rows.length;
    after = rows.at(-1)?.['key'] ?? null;
    if (rows.length < rowsPerBatch) return done;
  }
}

async function typeOf(db: Queryable, table: string, column: string): Promise<string> {
  const { rows } = await db.query<{ type: string }>(
    'select format_type(atttypid, atttypmod) as type from pg_attribute where attrelid = $1::regclass and attname = $2',
    [table, column],
  );
  return rows[0]?.type ?? 'text';
}
