import type { Queryable } from '#db/pool/pool.ts';

/** A restore that nobody has accepted yet. */
interface OpenRestore {
  readonly restored_at: Date;
  /** The last commit that came back. Null if the log did not say. */
  readonly until_at: Date | null;
  readonly backup: string;
}

/** Notes that this database came out of a backup. No gateway starts on it until `acceptRestores`. */
export async function insertRestore(db: Queryable, backup: string, untilAt: Date | null): Promise<void> {
  await db.query('insert into db.restores (backup, until_at) values ($1, $2)', [backup, untilAt]);
}

/** The last restore, if nobody has accepted it yet. */
export async function selectOpenRestore(db: Queryable): Promise<OpenRestore | undefined> {
  const { rows } = await db.query<OpenRestore>(
    'select restored_at, until_at, backup from db.restores where accepted_at is null order by restore_no desc limit 1',
  );
  return rows[0];
}

/** Notes that the originals of all restores are gone. Returns how many restores that concerns. */
export async function acceptRestores(db: Queryable): Promise<number> {
  const { rowCount } = await db.query(
    'update db.restores set accepted_at = clock_timestamp() where accepted_at is null',
  );
  return rowCount ?? 0;
}

/** What a backup says of the database in it. */
interface SourceRow {
  readonly system_id: string;
  readonly server_version: string;
  readonly schema: number;
  readonly database_id: string;
  readonly secret_fingerprint: Buffer | null;
  readonly now: Date;
}

export async function selectSource(db: Queryable): Promise<SourceRow> {
  const { rows } = await db.query<SourceRow>(
    `select s.system_identifier::text as system_id, current_setting('server_version') as server_version,
       (select coalesce(max(version), 0) from db.migrations) as schema, i.database_id, i.secret_fingerprint, clock_timestamp() as now
     from pg_control_system() s, db.identity i`,
  );
  const row = rows[0];
  if (row === undefined) throw new Error('The database does not say which it is.');
  return row;
}
