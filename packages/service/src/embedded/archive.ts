import { access, chown, mkdir, open, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runCommand } from '#embedded/processes/command.ts';
import { unlessMissing } from '#embedded/files/embedded-postgres-error.ts';
import type { Layout } from '#embedded/files/layout.ts';
import type { Privileges } from '#embedded/processes/privileges.ts';

/** A part of the log is kept at the latest after this time, full or not: what a lost disk costs at most. */
const PART_SECONDS_MAX = 60;
const TRIAL_TIMEOUT_MS = 10_000;
const TRIAL = 'cd -- "$1" && : > .trial && rm .trial && command -v gzip cmp sync';
/** An exit status above 125 ends a recovery. A lower one means that there is no such part. */
const BROKEN_PART = 200;

/** Settings of the server, by name. */
type Settings = Readonly<Record<string, string>>;

/** Where the parts of the log of one database are kept, below the folder of all backups. */
export function logFolder(backups: string, systemId: string): string {
  return path.join(backups, systemId, 'wal');
}

/**
 * Settings with which the server keeps each finished part of its log below `backups`, compressed, forced to the disk and in one
 * piece. If that fails, the server keeps the part itself and tries again. A part that is there already must be the same: two servers
 * never overwrite each other's log.
 */
export function keepingSettings(backups: string, systemId: string): Settings {
  const [root, folder] = [quoted(backups), quoted(logFolder(backups, systemId))];
  const keep = 'gzip -1c "%p" > "$t" && sync "$t" && mv "$t" "$f" && sync "$w"';
  return {
    archive_mode: 'on',
    archive_timeout: `${PART_SECONDS_MAX}s`,
    archive_command:
      `[ -d ${root} ] || exit 1; w=${folder}; mkdir -p "$w" || exit 1; f="$w/%f.gz"; t="$w/.%f.$$"; ` +
      `if [ -e "$f" ]; then gzip -dc "$f" | cmp -s - "%p"; else ${keep} || { rm -f "$t"; exit 1; }; fi`,
  };
}

/**
 * This file is in the data directory of a restored copy until somebody says that its original is gone. Until then the
 * copy keeps its log to itself, because the archive belongs to the original.
 */
const COPY_MARK = 'purser.copy';

/** Settings with which a server collects its log, and hands on nothing: not even that a restore has begun another timeline. */
export const HOLDING_SETTINGS: Settings = { archive_mode: 'on', archive_command: '' };

export async function markCopy(directory: string): Promise<void> {
  await writeFile(path.join(directory, COPY_MARK), '', { mode: 0o600 });
}

/**
 * Removes the mark of a copy. From its next start on, the server then keeps its log in the archive. This is harmless if
 * it is no copy.
 */
export async function unmarkCopy(directory: string): Promise<void> {
  await rm(path.join(directory, COPY_MARK), { force: true });
}

export async function isCopy(directory: string): Promise<boolean> {
  return (await unlessMissing(access(path.join(directory, COPY_MARK)).then(() => true))) ?? false;
}

/** What to replay after the start of a server from a base backup. */
export interface Recovery {
  /** Folders with parts of the log: compressed (`.gz`), or as a server has them. */
  readonly folders: readonly string[];
  /** The line of the log to follow, also where it parts from that of the backup. */
  readonly timeline: number;
  /** The moment up to which the log is applied, in ISO 8601 and UTC. Undefined means as far as the log goes. */
  readonly until: string | undefined;
}

/** Settings with which a server that has a `recovery.signal` replays the log, and then takes writes on a new timeline. */
export function recoverySettings({ folders, timeline, until }: Recovery): Settings {
  const steps = folders.map((folder) => {
    const part = `${quoted(folder)}/"%f"`;
    return `if [ -e ${part}.gz ]; then gzip -dc ${part}.gz > "%p" || exit ${BROKEN_PART}; exit 0; fi; if [ -e ${part} ]; then cp ${part} "%p" || exit ${BROKEN_PART}; exit 0; fi`;
  });
  return {
    ...HOLDING_SETTINGS,
    recovery_target_timeline: String(timeline),
    restore_command: [...steps, 'exit 1'].join('; '),
    recovery_target_action: 'promote',
    hot_standby: 'off', // The server answers when it takes writes, and not before.
    ...(until === undefined ? {} : { recovery_target_time: until.replace('Z', '+00') }),
  };
}

/**
 * Makes the folder for the log, owned by whom the server runs as, and tries it as the server. Returns why the server cannot keep its
 * log there; undefined if it can.
 */
export async function prepareLogFolder(
  folder: string,
  { prefix, identity, diskOwner }: Privileges,
): Promise<string | undefined> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (process.getuid?.() === 0) await chown(folder, diskOwner, diskOwner);
  } catch (fault) {
    return fault instanceof Error ? fault.message : String(fault);
  }
  const trial = await runCommand([...prefix, 'sh', '-c', TRIAL, 'sh', folder], {
    identity,
    timeoutMs: TRIAL_TIMEOUT_MS,
  });
  return trial.code === 0
    ? undefined
    : `the server cannot write to ${folder}, or has no gzip, cmp or sync. ${trial.output}`;
}

/** The number by which PostgreSQL tells one database cluster from every other: the first eight bytes of its control file. */
export async function readSystemId({ directory }: Pick<Layout, 'directory'>): Promise<string> {
  const file = await open(path.join(directory, 'global', 'pg_control'), 'r');
  try {
    const { buffer } = await file.read({ buffer: Buffer.alloc(8), position: 0 });
    return String(buffer.readBigUInt64LE(0));
  } finally {
    await file.close();
  }
}

/** Quotes a text for a shell, inside a setting in which the server replaces what follows a percent sign. */
function quoted(text: string): string {
  return `'${text.replaceAll('%', '%%').replaceAll("'", String.raw`'\''`)}'`;
}
