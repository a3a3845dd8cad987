import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Config } from '#app/config.ts';
import { makeDataDirectory } from '#app/data-directory.ts';
import { openDatabase } from '#app/database.ts';
import { BackupError } from '#backup/backup-error.ts';
import { createBackup } from '#backup/create.ts';
import { listBackups, listSystems } from '#backup/folder.ts';
import { selectLastReplayed } from '#backup/queries.ts';
import { restoreBackup } from '#backup/restore.ts';
import { UsageError } from '#cli/command-error.ts';
import { printRestoredCheck } from '#cli/restored-check.ts';
import { hasSecretOf } from '#db/kept-keys.ts';
import { migrate } from '#db/migrate.ts';
import { createPool, type Pool } from '#db/pool.ts';
import { acceptRestores, insertRestore } from '#db/restore-queries.ts';
import { unmarkCopy } from '#embedded/archive.ts';
import { startEmbeddedPostgres } from '#embedded/embedded-postgres.ts';
import { findRunningPostgres } from '#embedded/running.ts';
import { epochMsOf, isoOf } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';

interface Of {
  readonly config: Config;
  readonly log: Log;
  readonly say: (text: string) => void;
}

const MIB = 1024 * 1024;
const KEEP_MAX = 10_000;
/** With a zone: nobody should have to guess which one was meant. */
const MOMENT = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:?\d\d)$/i;
const OWN_TOOLS =
  'With DATABASE_URL, back up and restore with the tools of your server, such as pgBackRest, pg_basebackup or the backups of your provider. ' +
  'Afterwards `npm run purser -- backup check` checks the restored database. docs/guides/operator/backup.md has the steps.';

/** `purser backup ...`. Exit status 1 if a restored database is not as it should be. */
export async function runBackup([sub, ...words]: readonly string[], of: Of): Promise<number> {
  if (sub === 'create') return create(words, of);
  if (sub === 'list') return list(words, of);
  if (sub === 'restore') return restore(words, of);
  if (sub === 'check' && words.length === 0) return withDatabase(of, (owner) => printRestoredCheck(owner, of.config));
  if (sub === 'accept' && words.length === 0) return withDatabase(of, (owner) => accept(owner, of));
  throw new UsageError('`backup` takes `create`, `list`, `restore`, `check` or `accept`.');
}

const OPTIONS = {
  at: { type: 'string' },
  database: { type: 'string' },
  keep: { type: 'string' },
  log: { type: 'string' },
} as const;

function read(words: readonly string[], allowed: readonly (keyof typeof OPTIONS)[], { config }: Of) {
  const options = Object.fromEntries(allowed.map((name) => [name, OPTIONS[name]]));
  let parsed: {
    readonly values: Partial<Record<keyof typeof OPTIONS, string>>;
    readonly positionals: readonly string[];
  };
  try {
    parsed = parseArgs({ args: [...words], options, allowPositionals: true });
  } catch {
    throw new UsageError(
      `This command takes a folder and ${allowed.map((name) => `--${name}`).join(', ') || 'no option'}.`,
    );
  }
  if (config.databaseUrl !== undefined) throw new BackupError(OWN_TOOLS);
  const [named, ...others] = parsed.positionals;
  if (others.length > 0) throw new UsageError('Name one folder.');
  const folder = named === undefined ? config.backups : path.resolve(named);
  if (folder === undefined) throw new UsageError('Name the folder of backups, or set PURSER_BACKUP_DIR.');
  return { ...parsed.values, folder };
}

async function create(words: readonly string[], of: Of): Promise<number> {
  const { folder, keep: text } = read(words, ['keep'], of);
  const keep = text === undefined ? undefined : /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (keep !== undefined && (keep < 1 || keep > KEEP_MAX))
    throw new UsageError(`--keep must be a number from 1 to ${KEEP_MAX}.`);
  const { backup, removed, isLogKept } = await withServer(of, (server) =>
    createBackup({ server, dataDirectory: of.config.dataDirectory, backups: folder, keep }),
  );
  const { record } = backup;
  console.log(backup.folder);
  console.log(
    `The database at ${record.endedAt}: ${(record.bytes / MIB).toFixed(0)} MiB, schema ${record.schema}, PostgreSQL ${record.postgres}.`,
  );
  if (removed.length > 0) console.log(`${removed.length} older backups and parts of the log were removed.`);
  if (isLogKept === undefined)
    of.say('Without PURSER_BACKUP_DIR there is no log beside it: a restore goes back to this backup, and no further.');
  if (isLogKept === false)
    of.say('The server cannot keep its log in PURSER_BACKUP_DIR. Run `npm run purser -- doctor`.');
  const secret =
    of.config.environment === 'production'
      ? 'PURSER_SECRET'
      : `PURSER_SECRET, or the file ${path.join(of.config.dataDirectory, 'secret')},`;
  of.say(
    `${secret} is not in the backup, and the backup is worthless without it. Keep it elsewhere. Keep the backup where few can read it: names and balances are not encrypted.`,
  );
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < 2 * record.bytes)
    of.say(`${Math.floor((bavail * bsize) / MIB)} MiB are free on the disk of the backups.`);
  return isLogKept === false ? 1 : 0;
}

async function list(words: readonly string[], of: Of): Promise<number> {
  const { folder } = read(words, [], of);
  for (const systemId of await listSystems(folder)) {
    for (const { name, record } of await listBackups(folder, systemId)) {
      console.log(
        `${systemId} ${name}: ends at ${record.endedAt}, ${(record.bytes / MIB).toFixed(0)} MiB, Purser ${record.purser}, PostgreSQL ${record.postgres}`,
      );
    }
  }
  return 0;
}

async function restore(words: readonly string[], of: Of): Promise<number> {
  const { folder, at, log: alsoLog, database } = read(words, ['at', 'log', 'database'], of);
  if (at !== undefined && !MOMENT.test(at))
    throw new UsageError('--at must be a moment with its zone, such as 2026-11-23T14:00:00Z.');
  const { config, log, say } = of;
  makeDataDirectory(config.dataDirectory);
  let status = 1;
  const { name } = await restoreBackup({
    backups: folder,
    dataDirectory: config.dataDirectory,
    atMs: at === undefined ? undefined : epochMsOf(at.replace(' ', 'T')),
    alsoLog: alsoLog === undefined ? undefined : path.resolve(alsoLog),
    systemId: database,
    hasSecretOf: (fingerprint) => hasSecretOf(fingerprint, config),
    log,
    say,
    inspect: async (url, backup) => {
      const owner = createPool({ url, role: 'owner', connectionsMax: 2, log });
      try {
        const untilAt = await selectLastReplayed(owner);
        await migrate(owner);
        await insertRestore(owner, backup.name, untilAt);
        console.log(
          `The last commit that came back is of ${untilAt === null ? backup.record.endedAt : isoOf(untilAt.getTime())}.`,
        );
        status = await printRestoredCheck(owner, config);
      } finally {
        await owner.end();
      }
    },
  });
  say(
    `The backup ${name} is restored. Make sure that no service runs on the original any more, read "After a restore" in docs/guides/operator/backup.md, ` +
      'and run `npm run purser -- backup accept`. No gateway starts before that.',
  );
  return status;
}

async function accept(owner: Pool, { config, say }: Of): Promise<number> {
  await unmarkCopy(path.join(config.dataDirectory, 'postgres')); // First, so that no service runs that keeps its log to itself.
  const count = await acceptRestores(owner);
  say(
    count === 0 ? 'No restore waits to be accepted.' : 'The restored database is now the only one. Start the service.',
  );
  return 0;
}

/** Works on the embedded server: that of a running service, or one that is started for the time. Its schema stays as it is. */
async function withServer<Result>(
  { config, log, say }: Of,
  work: (server: { readonly url: string; readonly pool: Pool }) => Promise<Result>,
): Promise<Result> {
  const directory = path.join(config.dataDirectory, 'postgres');
  const running = await findRunningPostgres(directory);
  const own =
    running === undefined ? await startEmbeddedPostgres({ directory, log, say, backups: config.backups }) : undefined;
  const url = running ?? own?.url ?? '';
  const pool = createPool({ url, role: 'owner', connectionsMax: 2, log });
  try {
    return await work({ url, pool });
  } finally {
    await pool.end();
    await own?.stop();
  }
}

async function withDatabase({ config, log, say }: Of, work: (owner: Pool) => Promise<number>): Promise<number> {
  const database = await openDatabase({ config, log, say, mayShare: true });
  try {
    return await work(database.owner);
  } finally {
    await database.close();
  }
}
