import { mkdir, readdir, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { EmbeddedPostgresError, unlessMissing } from '#embedded/embedded-postgres-error.ts';
import { randomBase62 } from '#kernel/random.ts';

/** Where everything is. All but `directory` are files beside it, so that the data directory is PostgreSQL's alone. */
export interface Layout {
  /** The data directory itself: absolute, without symbolic links, hence the same text for everyone who means it. */
  readonly directory: string;
  readonly parent: string;
  /** Who owns the directory, as JSON. Exists while a Purser runs on it. */
  readonly owner: string;
  /** Never removed, empty: the kernel's lock on it is what counts where `flock` exists. */
  readonly guard: string;
  /** The superuser's password. Lost, it locks us out; so it is written before the cluster exists. */
  readonly secret: string;
  readonly log: string;
  readonly postmasterPid: string;
}

// Root's parent directory may be passed through by others, because PostgreSQL may have to run as another user to whom
// only the data directory belongs. It cannot be listed, and every file of ours in it is for its owner alone.
const PARENT_MODE_OF_ROOT = 0o711;
const PARENT_MODE = 0o700;

/** Settles where everything is and makes the parent directory when it is missing. Touches nothing else. */
export async function layOut(requested: string): Promise<Layout> {
  // PostgreSQL reads its paths line by line from its own files.
  if (/[\r\n\0]/.test(requested)) throw new EmbeddedPostgresError('The path of the data directory holds a line break.');
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
    postmasterPid: join(directory, 'postmaster.pid'),
  };
}

/** A path beside the data directory that nobody else uses. What a killed start leaves there, the next one removes. */
export function temporaryPath(layout: Layout): string {
  return `${layout.directory}.tmp-${randomBase62(10)}`;
}

/** Removes what killed starts left behind. Only for the owner of the directory. */
export async function removeTemporaries(layout: Layout): Promise<void> {
  const prefix = `${basename(layout.directory)}.tmp-`;
  for (const name of await readdir(layout.parent)) {
    if (name.startsWith(prefix)) await rm(join(layout.parent, name), { recursive: true, force: true, maxRetries: 3 });
  }
}
