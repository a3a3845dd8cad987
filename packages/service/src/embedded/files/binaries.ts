import { constants } from 'node:fs';
import { access, lstat, mkdir, readFile, readlink, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { checkDigests } from '#embedded/files/digests.ts';
import {
  EmbeddedPostgresError,
  isErrno,
  USE_DATABASE_URL,
  unlessMissing,
} from '#embedded/files/embedded-postgres-error.ts';

export interface Binaries {
  /** Words to put before each command of the server, so that it finds its libraries. */
  readonly prefix: readonly string[];
  readonly initdb: string;
  readonly postgres: string;
  /** The major version, such as `18`. A data directory works only with the major version that made it. */
  readonly majorVersion: string;
}

interface Finding {
  /** A folder of ours for library links, if the package itself cannot be written to. */
  readonly links?: string;
  /** Whether each file has to be the one that was released. */
  readonly isChecked?: boolean;
}

/**
 * Finds the PostgreSQL server that npm installed for this machine, compares it with the digests of its release, and completes
 * its library links. Throws EmbeddedPostgresError when there is none, when a file is another one, or when links are missing
 * and cannot be created.
 */
export async function findBinaries({ links, isChecked = false }: Finding = {}): Promise<Binaries> {
  const platform = `${process.platform}-${process.arch}`;
  const root = findPackage(`@embedded-postgres/${platform}`);
  if (isChecked) await checkDigests(root, platform);
  const prefix = await completeLinks(root, links);
  const bin = join(root, 'native', 'bin');
  const binaries = { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
  await Promise.all(Object.values(binaries).map((file) => access(file, constants.X_OK)));
  const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  return { ...binaries, prefix, majorVersion: majorVersionOf(manifest) };
}

/** The directory of an installed package. Throws EmbeddedPostgresError, with advice, when it is not installed. */
export function findPackage(name: string): string {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (fault) {
    const machine = `${process.platform}-${process.arch}`;
    throw new EmbeddedPostgresError(
      `PostgreSQL for ${machine} (npm package ${name}) is not installed. If npm has this package, install Purser again without \`--omit=optional\`. Otherwise ${USE_DATABASE_URL}.`,
      { cause: fault },
    );
  }
}

/** The package's version begins with PostgreSQL's major version. */
function majorVersionOf(manifest: unknown): string {
  const version = typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : '';
  const major = typeof version === 'string' ? /^\d+/.exec(version)?.[0] : undefined;
  if (major === undefined)
    throw new EmbeddedPostgresError('The installed PostgreSQL package does not state its version.');
  return major;
}

/**
 * An installation often belongs to root, and the service to a user who may not write to it. Then the links are made in `links`,
 * and the words that make the server look there are returned. Linux only: macOS ignores such a path for its own commands.
 */
export async function completeLinks(root: string, links: string | undefined): Promise<readonly string[]> {
  try {
    await restoreLinks(root);
    return [];
  } catch (fault) {
    if (links === undefined || process.platform !== 'linux' || !(fault instanceof EmbeddedPostgresError)) throw fault;
    await mkdir(links, { recursive: true, mode: 0o755 }); // The server may run as another user than we do.
    for (const { source, target } of await readLinks(root)) {
      await replaceLink(join(root, source), join(links, basename(target)));
    }
    // A library that is found by a link looks for others beside the link, so the real folder is named too.
    return ['env', `LD_LIBRARY_PATH=${links}:${join(root, 'native', 'lib')}`];
  }
}

/** The installation may have moved since the link was made. */
async function replaceLink(source: string, link: string): Promise<void> {
  if ((await unlessMissing(readlink(link))) === source) return;
  await rm(link, { force: true });
  await makeLink(source, link);
}

interface LibraryLink {
  readonly source: string;
  readonly target: string;
}

async function readLinks(root: string): Promise<readonly LibraryLink[]> {
  const listed: unknown = JSON.parse(await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8'));
  return Array.isArray(listed) ? (listed as readonly LibraryLink[]) : [];
}

/**
 * Creates the missing links between library files, as listed in the package below `root`. An npm package cannot contain
 * links, so its install script makes them. npm 12 and `--ignore-scripts` skip that script, and then the server does not find
 * its own libraries. Several starts may do this at once.
 */
export async function restoreLinks(root: string): Promise<void> {
  for (const { source, target } of await readLinks(root)) {
    const link = join(root, target);
    if ((await unlessMissing(lstat(link))) === undefined) await makeLink(relative(dirname(target), source), link);
  }
}

async function makeLink(source: string, link: string): Promise<void> {
  try {
    await symlink(source, link);
  } catch (fault) {
    if (isErrno(fault) && fault.code === 'EEXIST') return; // Another start has just created the same link.
    throw new EmbeddedPostgresError(
      `PostgreSQL's library link ${link} is missing and cannot be created. Run Purser once as the user who installed it (npm skipped the package's install script), or ${USE_DATABASE_URL}.`,
      { cause: fault },
    );
  }
}
