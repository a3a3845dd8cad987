import type { DirectoryTable } from '#cells/topology/tables.ts';
import type { Queryable } from '#db/pool/pool.ts';

export async function selectWalLevel(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ level: string }>(`select current_setting('wal_level') as level`);
  return rows[0]?.level ?? '';
}

export async function hasPublication(db: Queryable): Promise<boolean> {
  const { rowCount } = await db.query(`select from pg_publication where pubname = 'purser_directory'`);
  return rowCount === 1;
}

/** The tables of the directory that are not offered to other cells. */
export async function selectUnpublished(db: Queryable, tables: readonly string[]): Promise<readonly string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select name from unnest($1::text[]) name where not exists (
       select from pg_publication_tables p where p.pubname = 'purser_directory' and p.schemaname || '.' || p.tablename = name)`,
    [tables],
  );
  return rows.map(({ name }) => name);
}

/** The names of tables are ours, and not of anybody outside. */
export async function createPublication(tx: Queryable, tables: readonly string[]): Promise<void> {
  await tx.query(`create publication purser_directory for table ${tables.join(', ')}`);
}

export async function setPublication(tx: Queryable, tables: readonly string[]): Promise<void> {
  await tx.query(`alter publication purser_directory set table ${tables.join(', ')}`);
}

export async function countRows(db: Queryable, table: string): Promise<bigint> {
  const { rows } = await db.query<{ count: bigint }>(`select count(*) as count from (select from ${table} limit 1) t`);
  return rows[0]?.count ?? 0n;
}

/** The name of the replication slot that keeps the log of the directory until the cell has it. */
export function slotNameOf(cell: string): string {
  return `purser_${cell.replaceAll('-', '_')}`;
}

/** Whether somebody reads a replication slot now. */
export async function isSlotRead(directory: Queryable, slot: string): Promise<boolean> {
  const { rowCount } = await directory.query('select from pg_replication_slots where slot_name = $1 and active', [
    slot,
  ]);
  return rowCount === 1;
}

/** Drops a replication slot, unless somebody reads it or there is none. */
export async function dropSlot(directory: Queryable, slot: string): Promise<void> {
  await directory.query(
    'select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = $1 and not active',
    [slot],
  );
}

export async function hasSubscription(db: Queryable): Promise<boolean> {
  return (await isCopying(db)) !== undefined;
}

/** Whether the subscription is enabled. Undefined if there is none. */
export async function isCopying(db: Queryable): Promise<boolean | undefined> {
  const { rows } = await db.query<{ enabled: boolean }>(
    `select s.subenabled as enabled from pg_subscription s join pg_database d on d.oid = s.subdbid
     where d.datname = current_database() and s.subname = 'purser_directory'`,
  );
  return rows[0]?.enabled;
}

/** Begins to copy what changes in the directory from the slot on. The statement takes no parameters, so the server's log must not have it. */
export async function createSubscription(tx: Queryable, databaseUrl: string, slot: string): Promise<void> {
  await tx.query(
    `set local log_min_error_statement = 'panic'; set local log_statement = 'none'; set local log_min_duration_statement = -1`,
  );
  const { rows } = await tx.query<{ statement: string }>(
    `select format(
       'create subscription purser_directory connection %L publication purser_directory with (create_slot = false, slot_name = %L, copy_data = false)',
       $1::text, $2::text) as statement`,
    [databaseUrl, slot],
  );
  await tx.query(rows[0]?.statement ?? '');
}

/** Takes in tables that the publication has since then. */
export async function refreshSubscription(db: Queryable): Promise<void> {
  await db.query('alter subscription purser_directory refresh publication');
}

/** The tables that are not wholly copied yet. */
export async function selectUncopied(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select r.srrelid::regclass::text as name
     from pg_subscription_rel r join pg_subscription s on s.oid = r.srsubid
     where s.subname = 'purser_directory' and r.srsubstate <> 'r' order by name`,
  );
  return rows.map(({ name }) => name);
}

/** Refuses writes of a table of the directory, see `guard.sql`. */
export async function guard(tx: Queryable, { name, ownColumns, expiresBy }: DirectoryTable): Promise<void> {
  await tx.query('select cells.guard($1, $2, $3)', [name, ownColumns, expiresBy]);
}

/** Notes the time in the directory, unless that was done within `apartMs`. Nothing happens in a cell that has a copy. */
export async function updateBeat(db: Queryable, apartMs: number): Promise<void> {
  await db.query(
    `update cells.cells set beat_at = clock_timestamp()
     where name = (select cell from cells.own where directory_url is null)
       and coalesce(beat_at < clock_timestamp() - $1 * interval '1 millisecond', true)`,
    [apartMs],
  );
}

/** When a gateway wrote the time into this directory, or into this copy's, in microseconds. Undefined if none did. */
export async function selectNewestBeat(db: Queryable): Promise<bigint | undefined> {
  const { rows } = await db.query<{ beat: bigint | null }>(
    'select (extract(epoch from max(beat_at)) * 1000000)::bigint as beat from cells.cells',
  );
  return rows[0]?.beat ?? undefined;
}

/**
 * How long ago the directory was as this cell has it, in seconds, by the clocks of both databases. At most ten seconds of it pass between two
 * times that are noted. Undefined if the directory is here, or no time has arrived yet.
 */
export async function selectCopyAge(db: Queryable): Promise<number | undefined> {
  const { rows } = await db.query<{ age_seconds: number | null }>(
    `select greatest(0, extract(epoch from clock_timestamp() - (select max(beat_at) from cells.cells)))::float8 as age_seconds
     from cells.own where directory_url is not null and exists (select from cells.cells where beat_at is not null)`,
  );
  return rows[0]?.age_seconds ?? undefined;
}
