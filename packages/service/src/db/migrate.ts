import { readdirSync, readFileSync } from 'node:fs';
import { type Pool, type Queryable, sqlStateOf } from '#db/pool.ts';
import { selectSchemaVersion } from '#db/queries.ts';

const MIGRATIONS = new URL('../../migrations/', import.meta.url);
const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;

// Any number will do, as long as every Purser takes the same.
const MIGRATION_LOCK = 7_283_940_155;
const SERVER_VERSION_MIN = 150_000;
const INSUFFICIENT_PRIVILEGE = '42501';

/** A database that cannot be used as it is: the message says why and what to do. */
export class MigrationError extends Error {}

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

function readMigrations(): readonly Migration[] {
  return readdirSync(MIGRATIONS)
    .filter((name) => FILE_NAME.test(name))
    .toSorted()
    .map((name) => ({ version: Number(name.slice(0, 4)), name, sql: readFileSync(new URL(name, MIGRATIONS), 'utf8') }));
}

/**
 * Brings the database to this build's schema, forward only, each file in a transaction of its own. Safe when several
 * processes start at once: the others wait, then find nothing to do. Gives the names of the files applied. Refuses a
 * server older than PostgreSQL 15 and a schema newer than this build.
 */
export async function migrate(owner: Pool): Promise<readonly string[]> {
  const client = await owner.connect();
  try {
    await checkServer(client);
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    try {
      return await applyMissing(client);
    } finally {
      await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    }
  } finally {
    client.release(true);
  }
}

/** The schema that this build needs. */
export const SCHEMA_VERSION = newestVersion(readMigrations());

async function checkServer(client: Queryable): Promise<void> {
  const { rows } = await client.query<{ server_version_num: string }>('show server_version_num');
  const version = Number(rows[0]?.server_version_num);
  if (version >= SERVER_VERSION_MIN) return;
  throw new MigrationError(`The database server is too old (${version}). Purser needs PostgreSQL 15 or newer.`);
}

async function applyMissing(client: Queryable): Promise<readonly string[]> {
  await client.query('create schema if not exists db');
  await client.query(`create table if not exists db.migrations (
    version int primary key, name text not null, applied_at timestamptz not null default clock_timestamp())`);
  const current = await selectSchemaVersion(client);
  if (current > SCHEMA_VERSION) {
    throw new MigrationError(
      `The database has schema ${current} and this build knows ${SCHEMA_VERSION}. Start a build that is at least as new.`,
    );
  }
  const missing = readMigrations().filter(({ version }) => version > current);
  for (const migration of missing) await apply(client, migration);
  return missing.map(({ name }) => name);
}

async function apply(client: Queryable, migration: Migration): Promise<void> {
  await client.query('begin');
  try {
    await client.query(migration.sql);
    await client.query('insert into db.migrations (version, name) values ($1, $2)', [
      migration.version,
      migration.name,
    ]);
    await client.query('commit');
  } catch (fault) {
    await client.query('rollback');
    if (sqlStateOf(fault) !== INSUFFICIENT_PRIVILEGE)
      throw new Error(`Migration ${migration.name} failed.`, { cause: fault });
    throw new MigrationError(
      'The database user may not do what the schema needs. It must own the database and may create roles (CREATEROLE).',
      { cause: fault },
    );
  }
}

function newestVersion(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}
