import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { BackupError } from '#backup/backup-error.ts';
import { forceToDisk } from '#backup/settlements.ts';
import { logFolder } from '#embedded/archive.ts';
import { parseJson } from '#kernel/text/json.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';

/** The format of the files of a backup. A build refuses a format that it does not know. */
const FORMAT = 1;
const RECORD = 'backup.json';
const PARTIAL = '.partial-';
/** This is longer than any copy takes. A younger unfinished backup may still be growing. */
const PARTIAL_AGE_MS = 86_400_000;

const recordSchema = z.object({
  format: z.literal(FORMAT),
  purser: z.string(),
  postgres: z.string(),
  schema: z.int(),
  systemId: z.string().regex(/^\d{1,20}$/),
  databaseId: z.uuid(),
  /** Tells whether a PURSER_SECRET is the one that opens this database. It does not reveal the secret. Null if none has opened it yet. */
  secretFingerprint: z.string().nullable(),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  timeline: z.int(),
  startLsn: z.string().regex(/^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/),
  endLsn: z.string(),
  bytes: z.number(),
  manifestDigest: z.string(),
});

/** What a backup says of itself. It is written last, so a backup that has it is whole. */
type BackupRecord = z.output<typeof recordSchema>;

export interface Backup {
  readonly name: string;
  readonly folder: string;
  readonly record: BackupRecord;
}

/** The files of a backup. */
export function filesOf(folder: string) {
  return {
    archive: path.join(folder, 'base.tar.gz'),
    manifest: path.join(folder, 'backup_manifest'),
    password: path.join(folder, 'postgres.secret'),
    settlements: path.join(folder, 'settlements'),
  };
}

function basesOf(backups: string, systemId: string): string {
  return path.join(backups, systemId, 'base');
}

/** The databases that have backups below a folder, by the number of their server. */
export async function listSystems(backups: string): Promise<readonly string[]> {
  const names = await readdir(backups).catch(() => {
    throw new BackupError(`The folder of backups ${backups} cannot be read.`);
  });
  return names.filter((name) => /^\d{1,20}$/.test(name));
}

/** All whole backups of one database, the oldest first. */
export async function listBackups(backups: string, systemId: string): Promise<readonly Backup[]> {
  const folder = basesOf(backups, systemId);
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(
    names.filter((name) => !name.startsWith('.')).map(async (name) => readBackup(path.join(folder, name), name)),
  );
  return found.filter((one) => one !== undefined).toSorted((a, b) => (a.record.endedAt < b.record.endedAt ? -1 : 1));
}

async function readBackup(folder: string, name: string): Promise<Backup | undefined> {
  const text = await readFile(path.join(folder, RECORD), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined; // Never finished.
  const parsed = recordSchema.safeParse(parseJson(text));
  if (!parsed.success)
    throw new BackupError(`${path.join(folder, RECORD)} cannot be read. A newer version may have made this backup.`);
  return { name, folder, record: parsed.data };
}

/** A backup that is being made. It has another name until it is whole. */
interface Draft {
  readonly folder: string;
  /** Makes it a backup: writes its record and gives it its name, all forced to the disk. */
  readonly finish: (record: Omit<BackupRecord, 'format'>) => Promise<Backup>;
  /** Removes what is there. */
  readonly discard: () => Promise<void>;
}

/** Begins a backup, and removes what is left of older ones that were never finished. */
export async function beginBackup(backups: string, systemId: string, nowMs: number): Promise<Draft> {
  const parent = basesOf(backups, systemId);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  await removeOldDrafts(parent, nowMs);
  const folder = path.join(parent, `${PARTIAL}${randomBase62(10)}`);
  await mkdir(folder, { mode: 0o700 });
  return {
    folder,
    finish: async (rest) => {
      const record = { format: FORMAT, ...rest } as const;
      const file = await open(path.join(folder, RECORD), 'wx', 0o600);
      try {
        await file.writeFile(`${JSON.stringify(record, undefined, 2)}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      await forceToDisk(folder);
      const name = record.endedAt.replaceAll(/[-:]|\.\d+/g, '');
      const whole = path.join(parent, name);
      await rename(folder, whole);
      await forceToDisk(parent);
      return { name, folder: whole, record };
    },
    discard: () => rm(folder, { recursive: true, force: true }),
  };
}

async function removeOldDrafts(parent: string, nowMs: number): Promise<void> {
  for (const name of await readdir(parent)) {
    const draft = path.join(parent, name);
    if (name.startsWith(PARTIAL) && (await stat(draft)).mtimeMs < nowMs - PARTIAL_AGE_MS) {
      await rm(draft, { recursive: true, force: true });
    }
  }
}

const LOG_PART = /^([0-9A-F]{24})(\.[0-9A-F]{8}\.backup|\.partial)?(\.gz)?$/;

/** Removes all but the newest backups, and the log from before all that stay. Returns the names of what was removed. */
export async function pruneBackups(backups: string, systemId: string, keep: number): Promise<readonly string[]> {
  const all = await listBackups(backups, systemId);
  const [going, staying] = [all.slice(0, -keep), all.slice(-keep)];
  // Timelines may differ, and a later backup may begin earlier in the log: a restore went back in between.
  const [first] = staying.map(({ record }) => logPartOf(record).slice(8)).toSorted();
  if (first === undefined || going.length === 0) return [];
  for (const { folder } of going) {
    await rm(path.join(folder, RECORD)); // First, so that a removal that is cut off leaves nothing that looks whole.
    await rm(folder, { recursive: true, force: true });
  }
  const folder = logFolder(backups, systemId);
  const parts = (await readdir(folder).catch(() => [])).filter((name) => {
    const [, part] = LOG_PART.exec(name) ?? [];
    return part !== undefined && part.slice(8) < first;
  });
  for (const part of parts) await rm(path.join(folder, part), { force: true });
  return [...going.map(({ name }) => name), ...parts];
}

const PART_BYTES = 0x100_0000; // 16 MiB: what `initdb` takes unless it is told otherwise.

function hex(value: number): string {
  return value.toString(16).toUpperCase().padStart(8, '0');
}

/** The name of the part of the log in which a backup begins. */
export function logPartOf({ timeline, startLsn }: Pick<BackupRecord, 'timeline' | 'startLsn'>): string {
  const [high = '0', low = '0'] = startLsn.split('/');
  return hex(timeline) + hex(Number.parseInt(high, 16)) + hex(Math.floor(Number.parseInt(low, 16) / PART_BYTES));
}

const manifestSchema = z.object({
  Files: z.array(
    z.object({
      Path: z.string().optional(),
      Size: z.int(),
      Checksum: z.string(),
      'Checksum-Algorithm': z.literal('SHA256'),
    }),
  ),
});

/** The server's own list of files, with their size and SHA-256. Throws if the list is not the one that the backup was made with. */
export async function readManifest({
  folder,
  record,
}: Backup): Promise<ReadonlyMap<string, { readonly size: number; readonly digest: string }>> {
  const bytes = await readFile(filesOf(folder).manifest);
  if (createHash('sha256').update(bytes).digest('hex') !== record.manifestDigest) {
    throw new BackupError(`${filesOf(folder).manifest} was changed since the backup.`);
  }
  const parsed = manifestSchema.safeParse(parseJson(bytes.toString('utf8')));
  if (!parsed.success) throw new BackupError(`${filesOf(folder).manifest} cannot be read.`);
  return new Map(
    parsed.data.Files.flatMap(({ Path: name, Size: size, Checksum: digest }) =>
      name === undefined ? [] : [[name, { size, digest }] as const],
    ),
  );
}
