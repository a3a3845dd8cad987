import type { Queryable } from '#db/pool/pool.ts';

interface DatabaseRow {
  readonly version: string;
  readonly size_bytes: bigint;
  readonly schema_version: number;
  readonly connections_max: number;
  /**
   * `connections` counts those of everybody on the server to this database, by the name that a connection gives itself.
   */
  /** The setting `synchronous_standby_names`. */
  readonly standby_names: string;
  /** The synchronous standbys that stream now. Null if the owner of the database may not see it. */
  readonly standbys_streaming: number | null;
  /** Finished parts of the log that wait to be archived, and how long the oldest has. Null if it cannot be seen. */
  readonly archive_parts: number | null;
  readonly archive_seconds: number | null;
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
       current_setting('synchronous_standby_names') as standby_names, db.synchronous_standbys() as standbys_streaming,
       b.parts as archive_parts, b.seconds as archive_seconds,
       (select coalesce(json_agg(json_build_object('name', name, 'count', count) order by name), '[]') from (
         select coalesce(nullif(application_name, ''), 'other') as name, count(*) as count from pg_stat_activity
         where datname = current_database() group by 1) as named) as connections,
       (select json_agg(json_build_object('name', name, 'value', current_setting(name)) order by name)
        from pg_settings where name = any ($1)) as settings
     from db.archive_backlog() b`,
    [TELLING],
  );
  const row = rows[0];
  if (row === undefined) throw new Error('The database says nothing about itself.');
  return row;
}

interface InstanceRow {
  readonly instance_id: bigint;
  readonly started_at: Date;
  /** The seconds that the lease still lasts. They are negative after it has run out. */
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

/** What the server is, and who else has what it commits. */
export interface ServerRow {
  readonly version_number: number;
  readonly encoding: string;
  /** The rules by which text is sorted have changed since the database was made, so indexes of text may be wrong. */
  readonly has_other_collation: boolean;
  /** Whether the server follows another one, or takes no writes for another reason. */
  readonly is_read_only: boolean;
  /** Commits wait for another server. */
  readonly waits_for_standby: boolean;
  /** The setting `synchronous_standby_names`. */
  readonly standby_names: string;
  /** Physical ones, and receivers of the whole log: a subscription to tables is none. */
  readonly standbys: number;
  /** The number of synchronous standbys. It is null if the owner of the database may not see it. */
  readonly synchronous_standbys: number | null;
  readonly archives: boolean;
  /** The seconds since the last part of the log was kept, or since the server has counted, if none was. */
  readonly archived_seconds: number;
  /** The last try to keep a part of the log failed. Some failures are not counted. */
  readonly archive_fails: boolean;
  /** Finished parts of the log that wait to be kept, and how long the oldest has. Null if it cannot be seen. */
  readonly waiting_parts: number | null;
  readonly waiting_seconds: number | null;
}

/** Reads views of the server only. Any role may read them. */
export async function selectServer(db: Queryable): Promise<ServerRow> {
  const { rows } = await db.query<ServerRow>(
    `select current_setting('server_version_num')::int as version_number, pg_encoding_to_char(d.encoding) as encoding,
       d.datcollversion is distinct from pg_database_collation_actual_version(d.oid) as has_other_collation,
       pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as is_read_only,
       current_setting('synchronous_standby_names') <> '' and current_setting('synchronous_commit') not in ('off', 'local')
         as waits_for_standby,
       current_setting('synchronous_standby_names') as standby_names,
       (select count(*)::int from pg_stat_replication r where not exists (
         select from pg_replication_slots p where p.active_pid = r.pid and p.slot_type = 'logical')) as standbys,
       db.synchronous_standbys(),
       current_setting('archive_mode') <> 'off' as archives,
       extract(epoch from clock_timestamp() - coalesce(a.last_archived_time, greatest(a.stats_reset, pg_postmaster_start_time())))::float8
         as archived_seconds,
       a.last_failed_time is not null and a.last_failed_time > coalesce(a.last_archived_time, '-infinity') as archive_fails,
       b.parts as waiting_parts, b.seconds as waiting_seconds
     from pg_database d, pg_stat_archiver a, db.archive_backlog() b where d.datname = current_database()`,
  );
  const row = rows[0];
  if (row === undefined) throw new Error('The database server says nothing about itself.');
  return row;
}

/** What becomes of a commit when a machine is lost. */
interface DurabilityRow {
  readonly fsync: boolean;
  readonly full_page_writes: boolean;
  readonly synchronous_commit: string;
  readonly standby_names: string;
}

/** Reads the settings in force for the connection of this very statement: a role or a database may have its own. */
export async function selectDurability(db: Queryable): Promise<DurabilityRow> {
  const { rows } = await db.query<DurabilityRow>(
    `select current_setting('fsync')::bool as fsync, current_setting('full_page_writes')::bool as full_page_writes,
       current_setting('synchronous_commit') as synchronous_commit,
       trim(current_setting('synchronous_standby_names')) as standby_names`,
  );
  const row = rows[0];
  if (row === undefined) throw new Error('The database server says nothing about itself.');
  return row;
}

/** What a connection may do, and which limits it really has. */
export interface RoleRow {
  readonly role: string;
  readonly is_superuser: boolean;
  readonly statement_timeout: string;
  readonly lock_timeout: string;
  readonly idle_timeout: string;
  readonly enters_ledger: boolean;
  readonly changes_entries: boolean;
}

/** Reads what the connection of this very statement is. A pooler in between may have dropped what we asked for. */
export async function selectRole(db: Queryable): Promise<RoleRow> {
  const { rows } = await db.query<RoleRow>(
    `select current_user::text as role, (select rolsuper from pg_roles where rolname = current_user) as is_superuser,
       current_setting('statement_timeout') as statement_timeout, current_setting('lock_timeout') as lock_timeout,
       current_setting('idle_in_transaction_session_timeout') as idle_timeout,
       has_schema_privilege(n.oid, 'usage') as enters_ledger,
       has_table_privilege(c.oid, 'update, delete, truncate') as changes_entries
     from pg_namespace n join pg_class c on c.relnamespace = n.oid where n.nspname = 'ledger' and c.relname = 'entries'`,
  );
  const row = rows[0];
  if (row === undefined) throw new Error('The database has no ledger.');
  return row;
}

/**
 * Names this database on its server, and this life of it. A copy has another name: a restored server begins another timeline, a dump
 * makes another database, and a server on a snapshot of the disk was started at another time.
 */
export async function selectIncarnation(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ incarnation: string }>(
    `select concat_ws('/', s.system_identifier, c.timeline_id, d.oid, i.database_id,
       extract(epoch from pg_postmaster_start_time())) as incarnation
     from pg_control_system() s, pg_control_checkpoint() c, pg_database d, db.identity i where d.datname = current_database()`,
  );
  return rows[0]?.incarnation ?? '';
}

/**
 * Notes which life of the database this is. True if another one was noted last: it may have been restored since. So may one whose server was
 * just started anew. A dump that was read into the same database has other files.
 */
export async function noteIncarnation(owner: Queryable): Promise<boolean> {
  const { rowCount } = await owner.query(
    `update db.identity set incarnation = n.name
     from (select concat_ws('/', $1::text, pg_relation_filenode('db.identity')) as name) n where incarnation is distinct from n.name`,
    [await selectIncarnation(owner)],
  );
  return rowCount !== 0;
}

/** Analyzes one small table that has doubled, see `analyze_small_table.sql`. False when there is none. */
export async function analyzeSmallTable(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ analyzed: boolean }>('select db.analyze_small_table() as analyzed');
  return rows[0]?.analyzed ?? false;
}
