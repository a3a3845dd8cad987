import { chown, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Binaries } from '#embedded/files/binaries.ts';
import { runCommand } from '#embedded/processes/command.ts';
import { EmbeddedPostgresError, USE_DATABASE_URL, unlessMissing } from '#embedded/files/embedded-postgres-error.ts';
import { type Layout, temporaryPath } from '#embedded/files/layout.ts';
import { adoptDirectory, type Privileges } from '#embedded/processes/privileges.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';

export const SUPERUSER = 'postgres';

const PASSWORD_LENGTH = 32; // 190 bits.
const PASSWORD = /^[0-9A-Za-z]{32}$/;
const INITDB_TIMEOUT_MS = 120_000; // It takes half a second on a fast disk, and far longer on slow network disks.

interface ClusterOptions {
  readonly binaries: Binaries;
  readonly privileges: Privileges;
  readonly layout: Layout;
  readonly say: (text: string) => void;
}

/**
 * Makes sure that the directory holds a database cluster, and returns its superuser's password. Throws EmbeddedPostgresError
 * and touches nothing when the directory holds something else, a cluster of another version, or one whose password is lost.
 * Call it as the owner of the directory while no server runs on it.
 */
export async function ensureCluster(options: ClusterOptions): Promise<string> {
  const { binaries, layout } = options;
  if (await holdsCluster(layout, binaries)) {
    const password = await readPassword(layout);
    if (password === undefined) throw lostPassword(layout);
    await adoptDirectory(layout.directory, options.privileges);
    return password;
  }
  const password = (await readPassword(layout)) ?? (await writePassword(layout));
  options.say(`Creating the database in ${layout.directory} (first start only).`);
  await createCluster(options, password);
  return password;
}

/** Returns true for a cluster of our version, and false for an empty or missing directory. Throws for anything else. */
async function holdsCluster({ directory }: Layout, { majorVersion }: Binaries): Promise<boolean> {
  const names = await unlessMissing(readdir(directory));
  if (names === undefined || names.length === 0) return false;
  if (!names.includes('PG_VERSION')) {
    throw new EmbeddedPostgresError(
      `${directory} contains files but no database. Empty it, or set PURSER_DATA_DIR to another directory.`,
    );
  }
  const version = (await readFile(join(directory, 'PG_VERSION'), 'utf8')).trim();
  if (version === majorVersion) return true;
  throw new EmbeddedPostgresError(
    `The database in ${directory} was created by PostgreSQL ${version}, but this Purser contains version ${majorVersion}. Start the Purser that created it, or move the data to a PostgreSQL server of your own and ${USE_DATABASE_URL}.`,
  );
}

// Created in a directory beside and moved into place when complete, so that a start that is killed halfway leaves no half
// cluster. By then `initdb` has forced its files to disk.
async function createCluster({ binaries, privileges, layout }: ClusterOptions, password: string): Promise<void> {
  const workshop = temporaryPath(layout);
  const passwordFile = join(workshop, 'password'); // A copy, because the server's user may not read our own file.
  const data = join(workshop, 'data');
  await mkdir(workshop, { mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (process.getuid?.() === 0) {
    for (const path of [passwordFile, workshop]) await chown(path, privileges.diskOwner, privileges.diskOwner);
  }
  const where = ['-D', data, '--username', SUPERUSER, '--pwfile', passwordFile, '--auth', 'scram-sha-256'];
  const what = ['--encoding', 'UTF8', '--locale', 'C', '--data-checksums', '--no-instructions'];
  const { code, output } = await runCommand([...privileges.prefix, binaries.initdb, ...where, ...what], {
    identity: privileges.identity,
    timeoutMs: INITDB_TIMEOUT_MS,
  });
  if (code !== 0) {
    await rm(workshop, { recursive: true, force: true });
    throw new EmbeddedPostgresError(
      `The database in ${layout.directory} could not be created: ${output}. Fix that, or ${USE_DATABASE_URL}.`,
    );
  }
  await rename(data, layout.directory);
  await syncDirectory(layout.parent);
  await rm(workshop, { recursive: true, force: true });
}

/**
 * Returns undefined when no password was written yet. A file that was altered counts as lost, because the server would
 * refuse its text.
 */
async function readPassword(layout: Layout): Promise<string | undefined> {
  const text = await unlessMissing(readFile(layout.secret, 'utf8'));
  if (text === undefined) return undefined;
  if (!PASSWORD.test(text)) throw lostPassword(layout);
  return text;
}

/** Writes the file aside, forces it to disk and renames it, so that it is either complete or absent. */
async function writePassword(layout: Layout): Promise<string> {
  const password = randomBase62(PASSWORD_LENGTH);
  const draft = temporaryPath(layout);
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(password);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, layout.secret);
  await syncDirectory(layout.parent); // The password must be on disk before there is a cluster that needs it.
  return password;
}

function lostPassword({ directory, secret }: Layout): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `The password of the database in ${directory} is missing from ${secret}, where Purser wrote it. Restore that file from a backup.`,
  );
}

/** A rename survives a power cut only once its directory is on disk. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
