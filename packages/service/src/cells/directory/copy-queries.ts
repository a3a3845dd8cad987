import { createSubscription, hasSubscription } from '#cells/directory/queries.ts';
import type { DirectoryTable } from '#cells/topology/tables.ts';
import { type Queryable, sqlStateOf } from '#db/pool/pool.ts';

const IS_THERE = '42710';

/** Keeps other runs from copying to this database until the transaction ends. False if one is under way. */
export async function holdCopy(tx: Queryable): Promise<boolean> {
  const { rows } = await tx.query<{ held: boolean }>(
    `select pg_try_advisory_xact_lock(hashtextextended('cells.copy', 0)) as held`,
  );
  return rows[0]?.held ?? false;
}

/** Copies nothing from now on. */
export async function disableSubscription(db: Queryable): Promise<void> {
  await db.query('alter subscription purser_directory disable');
}

/** Ends the processes of this server that copy, or that try to reach the directory. Returns false once there is none. */
export async function endCopying(db: Queryable): Promise<boolean> {
  const { rowCount } = await db.query(
    `select case when a.usesysid is not null then pg_terminate_backend(w.pid) end
     from pg_subscription s join pg_database d on d.oid = s.subdbid join pg_stat_subscription w on w.subid = s.oid
     left join pg_stat_activity a on a.pid = w.pid
     where d.datname = current_database() and s.subname = 'purser_directory' and w.pid is not null`,
  );
  return rowCount !== 0;
}

export async function enableSubscription(db: Queryable): Promise<void> {
  await db.query('alter subscription purser_directory enable');
}

/** How long each statement of this connection waits for one transaction of others. */
export async function limitWaits(db: Queryable, msMax: number): Promise<void> {
  await db.query(`set lock_timeout = ${msMax}`);
}

/** Fails as making the slot would: for want of a right, of room, or of an end of the transactions that run now. */
export async function tryOutSlot(replication: Queryable, slot: string): Promise<void> {
  const name = `trying_${slot}`; // No cell's slot is called that.
  await replication.query(`CREATE_REPLICATION_SLOT ${name} TEMPORARY LOGICAL pgoutput (SNAPSHOT 'nothing')`);
  await replication.query(`DROP_REPLICATION_SLOT ${name}`);
}

export interface NewSlot {
  readonly snapshot_name: string;
  /** Where in the directory's log it begins. */
  readonly consistent_point: string;
}

/**
 * Makes a replication slot, and a snapshot of exactly what comes before it. The snapshot lives until the next statement on this connection.
 * Undefined if there is a slot of that name. The name is ours, and small letters would be SQL.
 */
export async function createSlotWithSnapshot(replication: Queryable, slot: string): Promise<NewSlot | undefined> {
  try {
    const { rows } = await replication.query<NewSlot>(
      `CREATE_REPLICATION_SLOT ${slot} LOGICAL pgoutput (SNAPSHOT 'export')`,
    );
    return rows[0];
  } catch (fault) {
    if (sqlStateOf(fault) === IS_THERE) return undefined;
    throw fault;
  }
}

/** Whether the slot is still the one that was made: nobody has read it, or made it anew. */
export async function isSlotAt(directory: Queryable, slot: string, place: string): Promise<boolean> {
  const { rowCount } = await directory.query(
    'select from pg_replication_slots where slot_name = $1 and confirmed_flush_lsn = $2::pg_lsn',
    [slot, place],
  );
  return rowCount === 1;
}

/** Takes over a snapshot, as the first statement of a transaction. The name comes from the server. */
export async function useSnapshot(tx: Queryable, snapshot: string): Promise<void> {
  await tx.query(`set transaction snapshot '${snapshot.replaceAll("'", "''")}'`);
}

/** Lets this transaction write what the directory's cell writes. No trigger and no foreign key is looked at, as when PostgreSQL copies. */
export async function writeAsCopy(tx: Queryable): Promise<void> {
  await tx.query(`set local session_replication_role = 'replica'`);
}

/** The columns of a table, quoted. */
export async function selectColumns(db: Queryable, table: string): Promise<readonly string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select quote_ident(attname) as name from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
    [table],
  );
  return rows.map(({ name }) => name);
}

async function selectKey(db: Queryable, table: string): Promise<readonly string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select quote_ident(a.attname) as name from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
     where i.indrelid = $1::regclass and i.indisprimary`,
    [table],
  );
  return rows.map(({ name }) => name);
}

/** All rows of a small table, as one text. */
export async function selectAll(db: Queryable, table: string): Promise<string> {
  const { rows } = await db.query<{ all: string }>(`select coalesce(jsonb_agg(t), '[]')::text as all from ${table} t`);
  return rows[0]?.all ?? '';
}

/** Opens the rows of a table, for `fetchRows`. One at a time. */
export async function openRows(tx: Queryable, table: string): Promise<void> {
  await tx.query(`declare directory_rows no scroll cursor for select to_jsonb(t)::text as row from ${table} t`);
}

export async function fetchRows(tx: Queryable, most: number): Promise<readonly string[]> {
  const { rows } = await tx.query<{ row: string }>(`fetch ${most} from directory_rows`);
  return rows.map(({ row }) => row);
}

export async function closeRows(tx: Queryable): Promise<void> {
  await tx.query('close directory_rows');
}

/** Makes an empty place for the rows of a table of the directory. */
export async function stage(tx: Queryable, table: string): Promise<void> {
  await tx.query(`create temporary table staged on commit drop as select * from ${table} with no data`);
}

export async function insertStaged(
  tx: Queryable,
  {
    table,
    columns,
    rows,
  }: { readonly table: string; readonly columns: readonly string[]; readonly rows: readonly string[] },
): Promise<void> {
  const names = columns.join(', ');
  await tx.query(
    `insert into staged (${names})
     select ${columns.map((column) => `r.${column}`).join(', ')}
     from unnest($1::text[]) j (text) cross join lateral jsonb_populate_record(null::${table}, j.text::jsonb) r`,
    [rows],
  );
}

/**
 * Makes a table what is staged, and touches no other rows: calls go on meanwhile. Gives how many rows went, and how many came. What each cell notes
 * for itself stays, in the rows that stay. Ends the staging.
 */
export async function replaceRows(
  tx: Queryable,
  { name, ownColumns }: DirectoryTable,
  columns: readonly string[],
): Promise<{ readonly went: number; readonly came: number }> {
  const compared = columns.filter((column) => !ownColumns.includes(column));
  const key = (await selectKey(tx, name)).map((column) => `s.${column} = t.${column}`).join(' and ');
  const of = (alias: string): string => compared.map((column) => `${alias}.${column}`).join(', ');
  await tx.query('analyze staged');
  const gone = await tx.query(
    `delete from ${name} t where not exists (select from staged s where ${key} and row(${of('s')})::text = row(${of('t')})::text)`,
  );
  const names = columns.join(', ');
  const added = await tx.query(
    `insert into ${name} (${names}) overriding system value
     select ${names} from staged s where not exists (select from ${name} t where ${key})`,
  );
  await tx.query('drop table staged');
  return { went: gone.rowCount ?? 0, came: added.rowCount ?? 0 };
}

/** Copies what changes in the directory from the slot on. What was copied before, and up to where, is forgotten. */
export async function replaceSubscription(tx: Queryable, databaseUrl: string, slot: string): Promise<void> {
  if (await hasSubscription(tx)) {
    await tx.query('alter subscription purser_directory set (slot_name = none)');
    await tx.query('drop subscription purser_directory');
  }
  await createSubscription(tx, databaseUrl, slot);
}
