import type { Queryable } from '#db/pool/pool.ts';

/** Registers this process among those that may own holds and gives its instance id. */
export async function insertInstance(db: Queryable, leaseMs: number): Promise<bigint> {
  const { rows } = await db.query<{ instance_id: bigint }>(
    `insert into db.instances (lease_until)
     values (clock_timestamp() + $1 * interval '1 millisecond')
     returning instance_id`,
    [leaseMs],
  );
  const row = rows[0];
  if (row === undefined) throw new Error('The instance could not be registered.');
  return row.instance_id;
}

/** Renews the lease of a live instance, and says whether it is the oldest live one. Undefined when it has been fenced. */
export async function renewLease(
  db: Queryable,
  instanceId: bigint,
  leaseMs: number,
): Promise<{ readonly is_oldest: boolean } | undefined> {
  const { rows } = await db.query<{ is_oldest: boolean }>(
    `update db.instances i
     set lease_until = clock_timestamp() + $2 * interval '1 millisecond'
     where i.instance_id = $1 and i.state = 'live'
     returning not exists (
       select from db.instances o
       where o.instance_id < i.instance_id and o.state = 'live' and o.lease_until > clock_timestamp()
     ) as is_oldest`,
    [instanceId, leaseMs],
  );
  return rows[0];
}

/** Marks an instance as gone, so that what it still holds is released without waiting for its lease. */
export async function endInstance(db: Queryable, instanceId: bigint): Promise<void> {
  await db.query(`update db.instances set state = 'dead' where instance_id = $1`, [instanceId]);
}

/** Notes which change of keys and apps a process has in memory. */
export async function confirmAccounts(db: Queryable, instanceId: bigint, seen: bigint): Promise<void> {
  await db.query(`update db.instances set accounts_seen = $2 where instance_id = $1`, [instanceId, seen]);
}

/** The live processes that do not have this change of keys and apps in memory, but for this one. */
export async function selectUnconfirmed(db: Queryable, instanceId: bigint, change: bigint): Promise<readonly bigint[]> {
  const { rows } = await db.query<{ instance_id: bigint }>(
    `select instance_id from db.instances
     where state = 'live' and lease_until > clock_timestamp() and instance_id <> $1 and coalesce(accounts_seen, -1) < $2
     order by instance_id`,
    [instanceId, change],
  );
  return rows.map((row) => row.instance_id);
}

/** The name that this database has kept since it was made, also through a dump and a move. */
export async function selectDatabaseId(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ database_id: string }>(`select database_id from db.identity`);
  const row = rows[0];
  if (row === undefined) throw new Error('The database does not say which it is.');
  return row.database_id;
}

export type Topic = 'accounts' | 'catalogue' | 'cells';

/** Counts one more change of a topic and gives its number. Holds the row until the transaction ends, see the table. */
export async function bumpGeneration(tx: Queryable, topic: Topic): Promise<bigint> {
  const { rows } = await tx.query<{ generation: bigint }>(
    `update db.generations set generation = generation + 1 where topic = $1 and ${WAITING} returning generation`,
    [topic],
  );
  const row = rows[0];
  if (row === undefined) throw new Error(`There is no topic ${topic}.`);
  return row.generation;
}

/** Lets every process forget what it keeps in memory, though no counter has grown. */
export async function countCopy(tx: Queryable): Promise<void> {
  await tx.query('update db.identity set copies = copies + 1');
}

/** How often this database has copied the whole directory again. */
export async function selectCopies(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ copies: number }>('select copies from db.identity');
  return rows[0]?.copies ?? 0;
}

/** Lets a transaction wait for locks almost as long as its statements may take: for rare acts that are to be done. */
export async function waitForLocks(tx: Queryable): Promise<void> {
  await tx.query(`set local lock_timeout = '4s'`);
}

/** A condition that is always true, and lets the transaction wait as `waitForLocks` does. One that waits without limit goes on doing so. */
export const WAITING = `case current_setting('lock_timeout')
  when '0' then true else set_config('lock_timeout', '4s', true) is not null end`;

/** What changes with each change of a topic, also when a cell has copied the directory anew and its counters were right before. */
export async function selectGenerations(db: Queryable): Promise<ReadonlyMap<string, bigint>> {
  const { rows } = await db.query<{ topic: string; generation: bigint }>(
    `select topic, generation + ((select copies from db.identity)::bigint << 40) as generation from db.generations`,
  );
  return new Map(rows.map((row) => [row.topic, row.generation]));
}

/** The number of the newest migration applied, 0 where there is none. */
export async function selectSchemaVersion(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ version: number }>(
    `select coalesce(max(version), 0) as version from db.migrations`,
  );
  return rows[0]?.version ?? 0;
}

/** Every migration that was applied, in any order. */
export async function selectMigrations(
  db: Queryable,
): Promise<readonly { readonly version: number; readonly name: string }[]> {
  const { rows } = await db.query<{ version: number; name: string }>('select version, name from db.migrations');
  return rows;
}

/** Whether the database has a schema of ours, and whether its user may make one. */
export async function selectRights(db: Queryable): Promise<{
  readonly has_schema: boolean;
  readonly may_create: boolean;
  readonly may_have_roles: boolean;
}> {
  const { rows } = await db.query<{ has_schema: boolean; may_create: boolean; may_have_roles: boolean }>(
    `select to_regclass('db.migrations') is not null as has_schema,
       has_database_privilege(current_database(), 'create') as may_create,
       (select rolcreaterole or rolsuper from pg_roles where rolname = current_user)
         or (select count(*) = 2 from pg_roles where rolname in ('purser_live', 'purser_sandbox')) as may_have_roles`,
  );
  const row = rows[0];
  if (row === undefined) throw new Error('The database server does not say what its user may do.');
  return row;
}

/** The oldest schema whose builds can run on a schema that is newer than ours. */
export async function selectOldestSchema(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ oldest: number }>(`select oldest_schema as oldest from db.compatibility`);
  const row = rows[0];
  if (row === undefined) throw new Error('The database does not say which builds can run on it.');
  return row.oldest;
}

/** A function as the last build that made it has noted it. */
export interface AppliedFunction {
  /** The name of the function, such as `ledger.reserve`. */
  readonly name: string;
  /** The SHA-256 digest of the file that the function was made from. */
  readonly digest: Buffer;
  /** The version of the build. */
  readonly version: string;
}

/** The functions that this and earlier builds have made. */
export async function selectFunctions(tx: Queryable): Promise<readonly AppliedFunction[]> {
  const { rows } = await tx.query<AppliedFunction>('select name, digest, version from db.functions');
  return rows;
}

export async function upsertFunction(tx: Queryable, { name, digest, version }: AppliedFunction): Promise<void> {
  await tx.query(
    `insert into db.functions (name, digest, version) values ($1, $2, $3)
     on conflict (name) do update set digest = $2, version = $3, applied_at = clock_timestamp()`,
    [name, digest, version],
  );
}

export async function deleteFunction(tx: Queryable, name: string): Promise<void> {
  await tx.query('delete from db.functions where name = $1', [name]);
}

interface FunctionRow {
  /** The signature, as `drop function` takes it. */
  readonly signature: string;
  /** A trigger or a constraint hangs on it. */
  readonly is_attached: boolean;
}

/** The functions that have a name: there is one for each list of parameters. */
export async function selectSignatures(tx: Queryable, name: string): Promise<readonly FunctionRow[]> {
  const { rows } = await tx.query<FunctionRow>(
    `select p.oid::regprocedure::text as signature, exists (
       select from pg_depend d where d.refclassid = 'pg_proc'::regclass and d.refobjid = p.oid and d.deptype = 'n'
     ) as is_attached
     from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where n.nspname || '.' || p.proname = $1`,
    [name],
  );
  return rows;
}

/** Takes the database's clock at its word if no gateway runs, see `trust_clock.sql`. For a gateway that is starting. */
export async function trustClock(db: Queryable): Promise<void> {
  await db.query('select db.trust_clock()');
}

/** Notes what the database's clock says, see `observe_clock.sql`. */
export async function observeClock(db: Queryable): Promise<void> {
  await db.query('select db.observe_clock()');
}

/** Analyzes one small table that has doubled, see `analyze_small_table.sql`. False when there is none. */
export async function analyzeSmallTable(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ analyzed: boolean }>('select db.analyze_small_table() as analyzed');
  return rows[0]?.analyzed ?? false;
}
