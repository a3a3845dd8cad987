import { createReadStream } from 'node:fs';
import { cp, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { BackupError, explained } from '#backup/backup-error.ts';
import { type Backup, filesOf, listBackups, listSystems, readManifest } from '#backup/folder.ts';
import { copySettlements, forceToDisk } from '#backup/settlements.ts';
import { unpackTar } from '#backup/tar.ts';
import { onLatestTimeline, readHistories } from '#backup/timelines.ts';
import { logFolder, markCopy } from '#embedded/archive.ts';
import { findBinaries } from '#embedded/files/binaries.ts';
import { startEmbeddedPostgres } from '#embedded/embedded-postgres.ts';
import { EmbeddedPostgresError } from '#embedded/files/embedded-postgres-error.ts';
import { epochMsOf, isoOf } from '#kernel/time/clock.ts';
import type { Log } from '#kernel/log.ts';

interface RestoreOptions {
  readonly backups: string;
  /** The data directory, in which there must be no database. */
  readonly dataDirectory: string;
  /** The moment to go back to. If it is undefined, the restore goes as far as the log. */
  readonly atMs: number | undefined;
  /** Another folder with parts of the log, such as that of the lost server. */
  readonly alsoLog: string | undefined;
  /** Which database, if the folder has backups of several. */
  readonly systemId: string | undefined;
  readonly hasSecretOf: (fingerprint: Buffer) => boolean;
  readonly log: Log;
  readonly say: (text: string) => void;
  /** Works on the restored server before it is put into place. */
  readonly inspect: (url: string, backup: Backup) => Promise<void>;
}

const WORKSHOP = 'postgres-restoring';
const UNREACHED = /recovery ended before configured recovery target was reached/;
const BROKEN = /could not restore file|exit code 200/;

/**
 * Restores the embedded database into an empty data directory: the newest backup before the moment, and the log up to it. The
 * database gets its name only when it is complete, so a restore that is cut off leaves none, and can be begun again.
 */
export async function restoreBackup(options: RestoreOptions): Promise<Backup> {
  const { dataDirectory, say } = options;
  const target = path.join(dataDirectory, 'postgres');
  await refuseDatabase(target);
  const { backup, line } = await chooseBackup(options);
  await refuseOthers(backup, options.hasSecretOf);
  const workshop = path.join(dataDirectory, WORKSHOP);
  try {
    await removeWorkshop(dataDirectory);
    say(`Unpacking the backup ${backup.name}.`);
    await unpack(backup, workshop);
    const files = filesOf(backup.folder);
    await cp(files.password, `${workshop}.secret`);
    await replay(options, { backup, line }, workshop);
    await copySettlements(files.settlements, path.join(dataDirectory, 'settlements'), 'beside');
    await rename(`${workshop}.secret`, `${target}.secret`);
    await rename(workshop, target);
    await forceToDisk(dataDirectory);
    await removeWorkshop(dataDirectory);
    return backup;
  } catch (fault) {
    throw explained(fault, 'The backup was not restored');
  }
}

async function refuseDatabase(target: string): Promise<void> {
  const names = await readdir(target).catch(() => []);
  if (names.length === 0) return;
  throw new BackupError(
    `There is a database in ${target}. Stop the service, and move \`postgres\` and \`postgres.secret\` aside: do not delete them before the restored database has been checked.`,
  );
}

/** A backup, and the line of the log to replay after it. */
interface Chosen {
  readonly backup: Backup;
  readonly line: { readonly folders: readonly string[]; readonly timeline: number };
}

async function chooseBackup({ backups, atMs, alsoLog, systemId: wanted }: RestoreOptions): Promise<Chosen> {
  const systems: string[] = [];
  for (const one of await listSystems(backups)) if ((await listBackups(backups, one)).length > 0) systems.push(one);
  const [systemId, second] = wanted === undefined ? systems : systems.filter((one) => one === wanted);
  if (systemId === undefined) throw new BackupError(`There is no whole backup in ${backups}.`);
  if (second !== undefined) {
    throw new BackupError(
      `${backups} has backups of several databases: ${systems.join(', ')}. Name one with --database.`,
    );
  }
  const folders = [logFolder(backups, systemId), ...(alsoLog === undefined ? [] : [alsoLog])];
  const latest = onLatestTimeline(await listBackups(backups, systemId), await readHistories(folders));
  const [oldest] = latest.backups;
  if (oldest === undefined)
    throw new BackupError(
      `Every backup in ${backups} is from after the moment that the last restore went back to. Bring back the backup with which it began.`,
    );
  const backup = latest.backups.findLast(({ record }) => atMs === undefined || epochMsOf(record.endedAt) <= atMs);
  if (backup !== undefined) return { backup, line: { folders, timeline: latest.timeline } };
  throw new BackupError(`The oldest backup ends at ${oldest.record.endedAt}. Give a later moment.`);
}

async function refuseOthers({ record, name }: Backup, hasSecretOf: RestoreOptions['hasSecretOf']): Promise<void> {
  const { majorVersion } = await findBinaries();
  if (!record.postgres.startsWith(`${majorVersion}.`)) {
    throw new BackupError(
      `The backup ${name} was made by PostgreSQL ${record.postgres}, and this Purser contains version ${majorVersion}. Restore it with Purser ${record.purser}, which made it.`,
    );
  }
  const { secretFingerprint: fingerprint } = record;
  if (fingerprint !== null && !hasSecretOf(Buffer.from(fingerprint, 'hex'))) {
    throw new BackupError(
      `The backup ${name} belongs to another PURSER_SECRET. Set the one that its service used, or set it as PURSER_SECRET_ALSO. A development service has it in the file \`secret\` of its data directory.`,
    );
  }
}

/** Unpacks the base, and compares each file with the server's own list. */
async function unpack(backup: Backup, workshop: string): Promise<void> {
  const manifest = await readManifest(backup);
  await mkdir(workshop, { mode: 0o700 });
  const unpacked = await unpackArchive(filesOf(backup.folder).archive, workshop);
  const wrong = [...manifest].filter(([name, { size, digest }]) => {
    const one = unpacked.get(name);
    return one === undefined || one.size !== size || one.digest !== digest;
  });
  const [first] = wrong;
  if (first !== undefined) {
    throw new BackupError(
      `${wrong.length} files of the backup are not as they were made, such as ${first[0]}: the disk or the copy is damaged. Take another backup, or a copy of this one.`,
    );
  }
  await writeFile(path.join(workshop, 'recovery.signal'), '');
  await markCopy(workshop);
}

async function unpackArchive(archive: string, folder: string) {
  const gunzip = createGunzip();
  try {
    const [unpacked] = await Promise.all([
      unpackTar(gunzip as AsyncIterable<Buffer>, folder),
      pipeline(createReadStream(archive), gunzip),
    ]);
    return unpacked;
  } catch (fault) {
    gunzip.destroy();
    const isCompression = fault instanceof Error && 'code' in fault && String(fault.code).startsWith('Z_');
    if (!isCompression) throw fault;
    throw new BackupError(`${archive} is damaged. Take another backup.`, { cause: fault });
  }
}

async function replay(
  { atMs, log, say, inspect }: RestoreOptions,
  { backup, line }: Chosen,
  workshop: string,
): Promise<void> {
  const until = atMs === undefined ? undefined : isoOf(atMs);
  say(`Replaying the log${until === undefined ? '' : ` up to ${until}`}.`);
  const server = await startEmbeddedPostgres({
    directory: workshop,
    log,
    say: () => undefined,
    recovery: { ...line, until },
  }).catch((fault: unknown) => {
    throw explainReplay(fault, until, line.folders);
  });
  try {
    await inspect(server.url, backup);
  } finally {
    await server.stop();
  }
}

function explainReplay(fault: unknown, until: string | undefined, folders: readonly string[]): unknown {
  if (!(fault instanceof EmbeddedPostgresError)) return fault;
  if (UNREACHED.test(fault.message)) {
    return new BackupError(
      `The log ends before ${until ?? 'that moment'}. Give an earlier moment or none. If the disk of the lost server can still be read, name its \`pg_wal\` with --log: it has the last minute.`,
      { cause: fault },
    );
  }
  if (!BROKEN.test(fault.message)) return fault;
  return new BackupError(
    `A part of the log cannot be read. Look at ${folders.join(' and ')}, or restore to a moment before it: ${fault.message}`,
    {
      cause: fault,
    },
  );
}

async function removeWorkshop(dataDirectory: string): Promise<void> {
  for (const name of await readdir(dataDirectory)) {
    if (name === WORKSHOP || name.startsWith(`${WORKSHOP}.`))
      await rm(path.join(dataDirectory, name), { recursive: true, force: true });
  }
}
