import { mkdir, readdir, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { EmbeddedPostgresError, unlessMissing } from '#embedded/files/embedded-postgres-error.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';

/** The paths of everything. All but `directory` lie beside it, so that the data directory is PostgreSQL's alone. */
export interface Layout {
  /** The data directory, absolute and without symbolic links, so that every process spells the same directory alike. */
  readonly directory: string;
  readonly parent: string;
  /** Names the process that owns the directory, as JSON. Exists while a Purser runs on it. */
  readonly owner: string;
  /** An empty file that is never removed. Its only use is the kernel's lock on it, on machines that have `flock`. */
  readonly guard: string;
  /** The superuser's password. It is written before the cluster exists, because a cluster without it is locked for good. */
  readonly secret: string;
  readonly log: string;
  /** A folder of links to the server's libraries, if the installation lacks them and belongs to another user. */
  readonly libraries: string;
  readonly postmasterPid: string;
}

// Under root, PostgreSQL may have to run as another user who owns only the data directory. So others may pass through the
// parent directory. They cannot list it, and our files in it are readable by their owner only.
const PARENT_MODE_OF_ROOT = 0o711;
const PARENT_MODE = 0o700;

/** Determines all paths and creates the parent directory if it is missing. Touches nothing else. */
export async function layOut(requested: string): Promise<Layout> {
  // PostgreSQL writes the path as a line of `postmaster.pid` and reads it back.
  if (/[\r\n\0]/.test(requested)) {
    throw new EmbeddedPostgresError('The path of the data directory must not contain a line break.');
  }
  const wanted = resolve(requested);
  const mode = process.getuid?.() === 0 ? PARENT_MODE_OF_ROOT : PARENT_MODE;
  await mkdir(dirname(wanted), { recursive: true, mode });
  const directory = (await unlessMissing(realpath(wanted))) ?? join(await realpath(dirname(wanted)), basename(wanted));
  return {
    directory,
    parent: dirname(directory),
    owner: `${directory}.owner`,
    guard: `${directory}.guard`,
    secret: `${directory}.secret`,
    log: `${directory}.log`,
    libraries: `${directory}.lib`,
    postmasterPid: join(directory, 'postmaster.pid'),
  };
}

/** A path beside the data directory that nobody else uses. If a start is killed, the next one removes what is left there. */
export function temporaryPath(layout: Layout): string {
  return `${layout.directory}.tmp-${randomBase62(10)}`;
}

/** Removes what killed starts left behind. Only the owner of the directory may call it. */
export async function removeTemporaries(layout: Layout): Promise<void> {
  const prefix = `${basename(layout.directory)}.tmp-`;
  for (const name of await readdir(layout.parent)) {
    if (name.startsWith(prefix)) await rm(join(layout.parent, name), { recursive: true, force: true, maxRetries: 3 });
  }
}
