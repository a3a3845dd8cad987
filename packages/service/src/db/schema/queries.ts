import type { Queryable } from '#db/pool/pool.ts';

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
