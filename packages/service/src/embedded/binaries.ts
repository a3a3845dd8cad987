import { constants } from 'node:fs';
import { access, lstat, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { EmbeddedPostgresError, isErrno, USE_DATABASE_URL, unlessMissing } from '#embedded/embedded-postgres-error.ts';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Such as `18`. A data directory works only with the major version that made it. */
  readonly majorVersion: string;
}

/**
 * Finds the PostgreSQL server that npm installed for this machine and restores its library links.
 * Throws EmbeddedPostgresError when there is none, or when links are missing and cannot be created.
 */
export async function findBinaries(): Promise<Binaries> {
  const root = findPackage(`@embedded-postgres/${process.platform}-${process.arch}`);
  await restoreLinks(root);
  const bin = join(root, 'native', 'bin');
  const binaries = { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
  await Promise.all(Object.values(binaries).map((file) => access(file, constants.X_OK)));
  const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  return { ...binaries, majorVersion: majorVersionOf(manifest) };
}

/** The directory of an installed package. Throws EmbeddedPostgresError, with advice, when it is not installed. */
export function findPackage(name: string): string {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (fault) {
    const machine = `${process.platform}-${process.arch}`;
    throw new EmbeddedPostgresError(
      `PostgreSQL for ${machine} (npm package ${name}) is not installed. Run \`npm ci\` again if npm has this package, otherwise ${USE_DATABASE_URL}.`,
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
 * Creates the missing links between library files, as listed in the package below `root`. An npm package cannot contain
 * links, so its install script makes them. npm 12 and `--ignore-scripts` skip that script, and then the server does not find
 * its own libraries. Several starts may do this at once.
 */
export async function restoreLinks(root: string): Promise<void> {
  const listed: unknown = JSON.parse(await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8'));
  if (!Array.isArray(listed)) return;
  for (const { source, target } of listed as readonly { readonly source: string; readonly target: string }[]) {
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
