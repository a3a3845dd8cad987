import type { Queryable } from '#db/pool.ts';

interface DatabaseRow {
  readonly version: string;
  readonly size_bytes: bigint;
  readonly schema_version: number;
  readonly connections_max: number;
  /** Of everybody on the server, by the name that a connection gives itself. Only those to this database. */
  readonly connections: readonly { readonly name: string; readonly count: number }[];
  readonly settings: readonly { readonly name: string; readonly value: string }[];
}

/** Settings of the server that make it slow, or that lose what was committed. */
const TELLING = [
  'autovacuum',
  'fsync',
  'full_page_writes',
  'max_wal_size',
  'random_page_cost',
  'shared_buffers',
  'synchronous_commit',
  'work_mem',
];

/** What the database server is and has, in one statement. Reads no table that calls use. */
export async function selectDatabaseHealth(db: Queryable): Promise<DatabaseRow> {
  const { rows } = await db.query<DatabaseRow>(
    `select current_setting('server_version') as version, pg_database_size(current_database()) as size_bytes,
       (select coalesce(max(version), 0) from db.migrations) as schema_version,
       current_setting('max_connections')::int as connections_max,
       (select coalesce(json_agg(json_build_object('name', name, 'count', count) order by name), '[]') from (
         select coalesce(nullif(application_name, ''), 'other') as name, count(*) as count from pg_stat_activity
         where datname = current_database() group by 1) as named) as connections,
       (select json_agg(json_build_object('name', name, 'value', current_setting(name)) order by name)
        from pg_settings where name = any ($1)) as settings`,
    [TELLING],
  );
  const row = rows[0];
  if (row === undefined) throw new Error('The database says nothing about itself.');
  return row;
}

interface InstanceRow {
  readonly instance_id: bigint;
  readonly started_at: Date;
  /** Negative after the lease has run out. */
  readonly lease_seconds: number;
}

/** The gateway processes that have a lease, or had one that nobody has ended yet, the oldest first. */
export async function selectInstances(db: Queryable, most: number): Promise<readonly InstanceRow[]> {
  const { rows } = await db.query<InstanceRow>(
    `select instance_id, started_at, extract(epoch from lease_until - clock_timestamp())::float8 as lease_seconds
     from db.instances where state = 'live' order by instance_id limit $1`,
    [most],
  );
  return rows;
}

/** The clock of the database, and the fingerprint of the secret that it belongs to. */
export async function selectOwnState(
  db: Queryable,
): Promise<{ readonly now_ms: number; readonly secret_fingerprint: Buffer | null }> {
  const { rows } = await db.query<{ now_ms: number; secret_fingerprint: Buffer | null }>(
    `select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms, secret_fingerprint from db.identity`,
  );
  const row = rows[0];
  if (row === undefined) throw new Error('The database does not say which it is.');
  return row;
}
