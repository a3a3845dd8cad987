import { readdirSync, readFileSync } from 'node:fs';
import { isNewerVersion, missingFunctions, replaceFunctions } from '#db/schema/functions.ts';
import { type Pool, type Queryable, sqlStateOf } from '#db/pool/pool.ts';
import { selectFunctions, selectMigrations, selectOldestSchema, selectRights } from '#db/schema/queries.ts';

const MIGRATIONS = new URL('../../../migrations/', import.meta.url);
const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;

// Any number will do, as long as every Purser takes the same.
const MIGRATION_LOCK = 7_283_940_155;
const SERVER_VERSION_MIN = 150_000;
const INSUFFICIENT_PRIVILEGE = '42501';
const LACKING_RIGHTS =
  'The database user may not do what the schema needs. It must own the database and may create roles (CREATEROLE).';

/** What is wrong with a database of builds that had other migrations. Each place that says it adds what to do. */
export const FROM_BEFORE_RELEASE =
  'The database was made by a build from before version 0.1.0 was released and cannot be upgraded';

/** A database that cannot be used as it is: the message says why and what to do. */
export class MigrationError extends Error {}

/** What a start changed in the schema: the names of the migrations, and of the functions that were made or dropped. */
interface Migrated {
  readonly migrations: readonly string[];
  readonly functions: readonly string[];
  /** A newer build has upgraded the database, so nothing was changed: this build runs on it as it is. */
  readonly isNewer: boolean;
}

/** The files of this build, in the order in which they are applied. */
const NAMES = readdirSync(MIGRATIONS)
  .filter((name) => FILE_NAME.test(name))
  .toSorted();
/** The schema that this build needs. */
export const SCHEMA_VERSION = Math.max(0, ...NAMES.map(versionOf));

/**
 * Brings the database to this build's schema, forward only and in one transaction: first the tables, then the functions
 * whose text has changed. Safe when several processes start at once: the others wait, then find nothing to do. A newer schema
 * that this build can run on is left alone, with its functions: newer gateways may run beside. Refuses a server older than
 * PostgreSQL 15, a newer schema that it cannot run on, and one from before version 0.1.0 was released.
 */
export async function migrate(owner: Pool): Promise<Migrated> {
  const client = await owner.connect();
  try {
    await checkServer(client);
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    try {
      return await bringUpToDate(client);
    } finally {
      await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    }
  } finally {
    client.release(true);
  }
}

/**
 * Throws `MigrationError` for what `migrate` would refuse, and changes nothing. Says whether the database has a schema of ours
 * already.
 */
export async function judgeMigration(owner: Pool): Promise<{ readonly hasSchema: boolean }> {
  await checkServer(owner); // A user who may not even connect fails here, and is told so.
  try {
    return await judgeSchema(owner);
  } catch (fault) {
    if (sqlStateOf(fault) !== INSUFFICIENT_PRIVILEGE) throw fault;
    throw new MigrationError(LACKING_RIGHTS, { cause: fault });
  }
}

async function judgeSchema(owner: Pool): Promise<{ readonly hasSchema: boolean }> {
  const { has_schema: hasSchema, may_create: mayCreate, may_have_roles: mayHaveRoles } = await selectRights(owner);
  const schema = hasSchema ? await readSchema(owner) : { version: 0, isFromBeforeRelease: false };
  refuseFromBeforeRelease(schema);
  if (schema.version > SCHEMA_VERSION) await leaveNewer(owner, schema.version);
  if (!hasSchema && !(mayCreate && mayHaveRoles)) throw new MigrationError(LACKING_RIGHTS);
  return { hasSchema };
}

async function checkServer(client: Queryable): Promise<void> {
  const { rows } = await client.query<{ server_version_num: string }>('show server_version_num');
  const version = Number(rows[0]?.server_version_num);
  if (version >= SERVER_VERSION_MIN) return;
  throw new MigrationError(`The database server is too old (${version}). Purser needs PostgreSQL 15 or newer.`);
}

async function bringUpToDate(client: Queryable): Promise<Migrated> {
  await client.query('begin');
  try {
    const migrated = await applyMissing(client);
    await client.query('commit');
    return migrated;
  } catch (fault) {
    await client.query('rollback');
    if (sqlStateOf(causeOf(fault)) !== INSUFFICIENT_PRIVILEGE) throw fault;
    throw new MigrationError(LACKING_RIGHTS, { cause: fault });
  }
}

async function applyMissing(client: Queryable): Promise<Migrated> {
  await client.query('create schema if not exists db');
  await client.query(`create table if not exists db.migrations (
    version int primary key, name text not null, applied_at timestamptz not null default clock_timestamp())`);
  const schema = await readSchema(client);
  refuseFromBeforeRelease(schema);
  const { version: current } = schema;
  if (current > SCHEMA_VERSION) return leaveNewer(client, current);
  const missing = missingMigrations(current);
  for (const one of missing) await apply(client, one);
  const present = await selectFunctions(client);
  if (present.some(({ version }) => isNewerVersion(version))) return leaveNewer(client, SCHEMA_VERSION);
  const functions = missingFunctions(present);
  await replaceFunctions(client, functions);
  const names = [...functions.changed, ...functions.gone].map(({ name }) => name);
  return { migrations: missing.map(({ name }) => name), functions: names, isNewer: false };
}

function refuseFromBeforeRelease({ isFromBeforeRelease }: AppliedSchema): void {
  if (!isFromBeforeRelease) return;
  throw new MigrationError(
    `${FROM_BEFORE_RELEASE}: keep that build for it, or name an empty database in DATABASE_URL or, where Purser starts ` +
      'its own, another directory in PURSER_DATA_DIR.',
  );
}

/** Refuses a newer schema that takes something away from this build (decision 80). */
async function leaveNewer(client: Queryable, current: number): Promise<Migrated> {
  const oldest = await selectOldestSchema(client);
  if (isUsable(oldest)) return { migrations: [], functions: [], isNewer: true };
  throw new MigrationError(
    `The database has schema ${current}, which builds from schema ${oldest} on can use. This build knows ${SCHEMA_VERSION}. ` +
      'Start a build that is at least as new, or restore the backup from before the upgrade.',
  );
}

/** Whether this build can run on a newer schema that names this one as the oldest. */
export function isUsable(oldestSchema: number): boolean {
  return SCHEMA_VERSION >= oldestSchema;
}

/** What a database says of its schema. */
interface AppliedSchema {
  /** The number of the newest migration that was applied, 0 where there is none. */
  readonly version: number;
  /** Whether the database has another migration under a number of ours, as those of before the first release have. Its version then says nothing. */
  readonly isFromBeforeRelease: boolean;
}

/** Reads which schema a database has. It must have the table of migrations. */
export async function readSchema(db: Queryable): Promise<AppliedSchema> {
  const applied = new Map((await selectMigrations(db)).map(({ version, name }) => [version, name]));
  return {
    version: Math.max(0, ...applied.keys()),
    isFromBeforeRelease: NAMES.some((name) => (applied.get(versionOf(name)) ?? name) !== name),
  };
}

/** Returns the migrations of this build that a database of this schema lacks, in their order. */
export function missingMigrations(current: number): readonly { readonly name: string; readonly sql: string }[] {
  const names = NAMES.filter((name) => versionOf(name) > current);
  return names.map((name) => ({ name, sql: readFileSync(new URL(name, MIGRATIONS), 'utf8') }));
}

async function apply(client: Queryable, { name, sql }: { readonly name: string; readonly sql: string }): Promise<void> {
  try {
    await client.query(sql);
  } catch (fault) {
    throw new Error(`Migration ${name} failed.`, { cause: fault });
  }
  await client.query('insert into db.migrations (version, name) values ($1, $2)', [versionOf(name), name]);
}

function versionOf(name: string): number {
  return Number(name.slice(0, 4));
}

function causeOf(fault: unknown): unknown {
  return fault instanceof Error && fault.cause !== undefined ? fault.cause : fault;
}
