import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { makeDataDirectory } from '#app/environment/data-directory.ts';
import { BackupError } from '#backup/backup-error.ts';
import { createBackup } from '#backup/create.ts';
import { listBackups, listSystems } from '#backup/folder.ts';
import { selectLastReplayed } from '#backup/queries.ts';
import { restoreBackup } from '#backup/restore.ts';
import { UsageError } from '#cli/terminal/command-error.ts';
import type { DatabaseCommand, Settings } from '#cli/ground/ground.ts';
import { printRestoredCheck } from '#cli/machine/restored-check.ts';
import { say } from '#cli/terminal/say.ts';
import { hasSecretOf } from '#db/identity/kept-keys.ts';
import { migrate } from '#db/schema/migrate.ts';
import { createPool, type Pool } from '#db/pool/pool.ts';
import { acceptRestores, insertRestore } from '#db/identity/restore-queries.ts';
import { unmarkCopy } from '#embedded/archive.ts';
import { startEmbeddedPostgres } from '#embedded/embedded-postgres.ts';
import { findRunningPostgres } from '#embedded/running.ts';
import { epochMsOf, isoOf } from '#kernel/time/clock.ts';

const MIB = 1024 * 1024;
const KEEP_MAX = 10_000;
/** A moment must have a zone, so that nobody has to guess which one was meant. */
const MOMENT = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:?\d\d)$/i;
const OWN_TOOLS =
  'With DATABASE_URL, back up and restore with the tools of your server, such as pgBackRest, pg_basebackup or the backups of your provider. ' +
  'Afterwards `npm run purser -- backup check` checks the restored database. docs/guides/operator/backup.md has the steps.';

/**
 * Returns the folder of backups: the one that is named, or that of the settings. Throws for a database that we do not
 * run, and if no folder is known.
 */
function folderOf(named: string | undefined, { config }: Settings): string {
  if (config.databaseUrl !== undefined) throw new BackupError(OWN_TOOLS);
  const folder = named === undefined ? config.backups : path.resolve(named);
  if (folder === undefined) throw new UsageError('Name the folder of backups, or set PURSER_BACKUP_DIR.');
  return folder;
}

/** Backs up the embedded database. The exit status is 1 if its log cannot be kept beside it. */
export async function createIn(
  named: string | undefined,
  { keep: text }: { readonly keep?: string | undefined },
  of: Settings,
): Promise<number> {
  const keep = text === undefined ? undefined : /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (keep !== undefined && (keep < 1 || keep > KEEP_MAX))
    throw new UsageError(`--keep must be a number from 1 to ${KEEP_MAX}.`);
  const folder = folderOf(named, of);
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
    say('Without PURSER_BACKUP_DIR there is no log beside it: a restore goes back to this backup, and no further.');
  if (isLogKept === false) say('The server cannot keep its log in PURSER_BACKUP_DIR. Run `npm run purser -- doctor`.');
  const secret =
    of.config.environment === 'production'
      ? 'PURSER_SECRET'
      : `PURSER_SECRET, or the file ${path.join(of.config.dataDirectory, 'secret')},`;
  say(
    `${secret} is not in the backup, and the backup is worthless without it. Keep it elsewhere. Keep the backup where few can read it: names and balances are not encrypted.`,
  );
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < 2 * record.bytes)
    say(`${Math.floor((bavail * bsize) / MIB)} MiB are free on the disk of the backups.`);
  return isLogKept === false ? 1 : 0;
}

/** Lists the whole backups. */
export async function listIn(named: string | undefined, of: Settings): Promise<void> {
  const folder = folderOf(named, of);
  for (const systemId of await listSystems(folder)) {
    for (const { name, record } of await listBackups(folder, systemId)) {
      console.log(
        `${systemId} ${name}: ends at ${record.endedAt}, ${(record.bytes / MIB).toFixed(0)} MiB, Purser ${record.purser}, PostgreSQL ${record.postgres}`,
      );
    }
  }
}

/** These are the options of `backup restore` as they are written. */
interface RestoreWords {
  readonly at?: string | undefined;
  readonly log?: string | undefined;
  readonly database?: string | undefined;
}

/** Restores into an empty data directory, and checks the result. The exit status is 1 if it is not as it should be. */
export async function restoreFrom(
  named: string | undefined,
  { at, log: alsoLog, database }: RestoreWords,
  of: Settings,
): Promise<number> {
  if (at !== undefined && !MOMENT.test(at))
    throw new UsageError('--at must be a moment with its zone, such as 2026-11-23T14:00:00Z.');
  const folder = folderOf(named, of);
  const { config, log } = of;
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

/** Says that the original is gone, so that gateways start on the restored database. */
export const acceptRestored: DatabaseCommand = async (owner, { config }) => {
  await unmarkCopy(path.join(config.dataDirectory, 'postgres')); // First, so that no service runs that keeps its log to itself.
  const count = await acceptRestores(owner);
  say(
    count === 0 ? 'No restore waits to be accepted.' : 'The restored database is now the only one. Start the service.',
  );
};

/** Works on the embedded server: that of a running service, or one that is started for the time. Its schema stays as it is. */
async function withServer<Result>(
  { config, log }: Settings,
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
